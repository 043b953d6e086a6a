"""Every fast path gives what the plain way of writing it gives, forward and gradient."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from benchmarks.plain import PlainAmpnp, PlainMPNP, pieces, whole
from torch import Tensor

from mpnp.episode import Episode, Sampling, sample_episode
from mpnp.graphs import GraphSet
from mpnp.models.ampnp import AmpnpConfig, AttentiveMPNP
from mpnp.models.base import LatentModel, in_parts
from mpnp.models.neural_process import NeuralProcess, NeuralProcessConfig
from mpnp.training import objectives

FEATURES = 3


def episode(classes: int) -> Episode:
    """Five undirected random graphs of unlike sizes, one of them without an edge."""
    generator = torch.Generator().manual_seed(classes)
    sizes = torch.tensor([12, 1, 30, 7, 19])
    ptr = torch.cat([torch.zeros(1, dtype=torch.long), sizes.cumsum(0)])
    edges = []
    for start, size in zip(ptr.tolist(), sizes.tolist(), strict=False):
        once = torch.triu(torch.rand(size, size, generator=generator) < 0.25, 1).nonzero().T + start
        edges += [once, once.flip(0)]
    count = int(ptr[-1])
    store = GraphSet(
        x=torch.randn(count, FEATURES, generator=generator),
        y=torch.randint(classes, (count,), generator=generator),
        edge_index=torch.cat(edges, 1),
        ptr=ptr,
    )
    return sample_episode(store.select(torch.arange(5)), classes, Sampling((0.3, 0.5), (0.2, 0.4)), generator)


def check(model: LatentModel, fast: Callable[[], Tensor], slow: dict[str, Callable[[], Tensor]]) -> None:
    parameters = dict(model.named_parameters())
    value = fast()
    gradient = torch.autograd.grad(value, list(parameters.values()), allow_unused=True)
    assert sum(g is not None and bool(g.abs().sum() > 0) for g in gradient) > len(gradient) // 2
    for name, way in slow.items():
        plain = way()
        torch.testing.assert_close(plain, value, rtol=1e-5, atol=1e-6)
        expected = torch.autograd.grad(plain, list(parameters.values()), allow_unused=True)
        for (key, parameter), got, want in zip(parameters.items(), gradient, expected, strict=True):
            got, want = (torch.zeros_like(parameter) if g is None else g for g in (got, want))
            scale = float(want.abs().max()) + 1e-3
            difference = float((got - want).abs().max()) / scale
            assert difference < 2e-5, f"gradient of {key}, {name}"


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("likelihood", ["categorical", "gaussian"])
def test_mpnp(classes: int, likelihood: str, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = episode(classes)
    torch.manual_seed(0)
    model = NeuralProcess(NeuralProcessConfig(FEATURES, classes, likelihood=likelihood))  # type: ignore[arg-type]
    plain, noise, scored = PlainMPNP(model), torch.randn(5, 1, 256), drawn.target
    monkeypatch.setattr(objectives, "_draw", lambda q, samples, place: q.loc + q.scale * noise)
    check(
        model,
        lambda: objectives.elbo(model, drawn).loss,
        {
            "batch": lambda: plain.loss(whole(drawn, scored), noise[:, 0]) / scored.sum(),
            "one graph at a time": lambda: (
                torch.stack([plain.loss(piece, noise[i]) for i, piece in enumerate(pieces(drawn, scored))]).sum()
                / scored.sum()
            ),
        },
    )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"class_embedding": True},
        {"latent": False},
        {"z_width": 0},
        {"attention": False},
        {"local": False, "refine": 0},
        {"octaves": 2},
        {"logs": True},
        {"whole": True},
        {"nearby": True},
        {"regression": True},
        {"regression": True, "smoothing": 0},
    ],
    ids=lambda options: " ".join(f"{k}={v}" for k, v in options.items()) or "all roads",
)
@pytest.mark.parametrize("classes", [2, 6])
def test_ampnp(classes: int, options: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Six classes are read out by attention in two passes, two classes in one."""
    drawn = episode(classes)
    torch.manual_seed(0)
    model = AttentiveMPNP(AmpnpConfig(FEATURES, classes, **options))  # type: ignore[arg-type]
    with torch.no_grad():
        model.attend.empty.normal_() if model.config.attention else None
    plain, scored = PlainAmpnp(model), drawn.unlabelled_targets
    noise = torch.randn(5, 3, classes, model.config.z_width if model.config.latent else 0)
    monkeypatch.setattr(objectives, "_draw", lambda q, samples, place: q.loc + q.scale * noise)
    check(
        model,
        lambda: objectives.objective("multi-sample", model, drawn, 3).loss,
        {
            "batch": lambda: plain.loss(whole(drawn, scored), noise) / scored.sum(),
            "one graph at a time": lambda: (
                torch.stack(
                    [plain.loss(piece, noise[i : i + 1]) for i, piece in enumerate(pieces(drawn, scored))]
                ).sum()
                / scored.sum()
            ),
        },
    )


@pytest.mark.parametrize("name", ["mpnp", "ampnp"])
def test_a_prediction_in_bounded_memory_is_the_prediction(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = episode(3)
    torch.manual_seed(0)
    model: LatentModel = (
        NeuralProcess(NeuralProcessConfig(FEATURES, 3)) if name == "mpnp" else AttentiveMPNP(AmpnpConfig(FEATURES, 3))
    )
    expected = model.predict(drawn, samples=5)
    monkeypatch.setattr("mpnp.models.base.PART", 5_000)
    cut_up = model.predict(drawn, samples=5)
    torch.testing.assert_close(cut_up.probabilities, expected.probabilities)
    torch.testing.assert_close(cut_up.epistemic, expected.epistemic, rtol=1e-4, atol=1e-6)


def test_work_in_parts_is_cut_up_only_where_no_gradient_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mpnp.models.base.PART", 10)
    values, sizes = torch.arange(14.0).view(7, 2), []

    def work(part: slice) -> Tensor:
        sizes.append(len(values[part]))
        return values[part] * 2

    assert torch.equal(in_parts(7, 4, work), values * 2)
    assert sizes == [7]
    with torch.no_grad():
        assert torch.equal(in_parts(7, 4, work), values * 2)
        assert torch.equal(in_parts(2, 100, lambda part: values[:, part], dim=1), values)
    assert sizes[1:] == [2, 2, 2, 1]
