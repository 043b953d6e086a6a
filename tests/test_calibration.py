"""Calibration: reliability, the temperature, conformal sets, and what is kept of them in a model's folder."""

from __future__ import annotations

import itertools
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

from mpnp.calibration import (
    FILE,
    Answers,
    Calibration,
    Conformal,
    answers_by_rate,
    compare,
    credible_sets,
    fit_temperature,
    reliability,
    share_shown,
)
from mpnp.episode import Episode
from mpnp.errors import UserError
from mpnp.graphs import GraphSet
from mpnp.models import from_pretrained, presets
from mpnp.models.base import LatentModel
from mpnp.models.mode import Mode
from mpnp.models.pretrained import save
from mpnp.plots import honesty_figure, reliability_figure
from mpnp.prediction import Prediction, tempered
from mpnp.scores import Score
from mpnp.tasks.base import Split, Task

CLASSES = 4


def honest(nodes: int, seed: int = 0, sharpness: float = 1.5, shown: float = 0.1) -> Answers:
    """Labels drawn from the very probabilities given, ten nodes to a graph."""
    generator = torch.Generator().manual_seed(seed)
    p = (sharpness * torch.randn(nodes, CLASSES, generator=generator)).softmax(-1)
    y = p.multinomial(1, generator=generator).squeeze(1)
    return Answers(p, y, torch.arange(nodes) // 10, torch.full((nodes,), shown))


def by_hand(probabilities: list[list[float]], y: list[int], graph: list[int] | None = None) -> Answers:
    p = torch.tensor(probabilities)
    return Answers(p, torch.tensor(y), torch.tensor(graph or [0] * len(y)), torch.full((len(y),), 0.5))


def nll(answers: Answers) -> float:
    return -float(answers.true.log().mean())


def covered(sets: Tensor, y: Tensor) -> float:
    return float(sets.gather(1, y.unsqueeze(1)).double().mean())


class Rings(Task):
    """Rings whose nodes of either class differ in their one feature; ``val`` and ``test`` may be empty."""

    name, num_features, num_classes = "rings", 1, 2
    context, extra, rates = (0.1, 0.5), (0.1, 0.5), (0.2, 0.5, 1.0)

    def __init__(self, val: int = 6, test: int = 6, labelled: int = 20) -> None:
        self.sizes: dict[Split, int] = {"train": 2, "val": val, "test": test}
        self.labelled = labelled

    def load(self) -> dict[Split, GraphSet]:
        generator = torch.Generator().manual_seed(0)

        def ring() -> Data:
            around, y = torch.arange(20), torch.randint(2, (20,), generator=generator)
            x = y.unsqueeze(1) + torch.randn(20, 1, generator=generator)
            return Data(
                x=x, edge_index=torch.stack([around, around.roll(1)]), y=torch.where(around < self.labelled, y, -1)
            )

        return {s: GraphSet.from_data_list([ring() for _ in range(n)]) for s, n in self.sizes.items() if n}


@pytest.fixture
def model() -> LatentModel:
    torch.manual_seed(0)
    return presets.build(presets.config("ampnp", Rings()))


@pytest.fixture
def folder(model: LatentModel, tmp_path: Path) -> Path:
    """A model folder as it was before there was calibration."""
    save(model, tmp_path, {"finished": True})
    return tmp_path


CALIBRATION = Calibration(1.7, Conformal(0.8, (0.1, 0.5), (0.2, 0.4)), "rings")


# --- The temperature -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("temperature", [0.4, 1.0, 2.5])
def test_the_temperature_undoes_a_known_one(temperature: float) -> None:
    spoiled = [honest(20_000, seed).at(1 / temperature) for seed in (0, 1)]
    assert fit_temperature(spoiled) == pytest.approx(temperature, rel=0.03)
    mended = spoiled[0].at(fit_temperature(spoiled))
    torch.testing.assert_close(mended.probabilities, honest(20_000).probabilities, rtol=0, atol=0.02)


@pytest.mark.parametrize("seed", range(5))
def test_the_likelihood_never_gets_worse_and_no_label_changes(seed: int) -> None:
    given = honest(30, seed)
    mended = given.at(fit_temperature([given]))
    assert nll(mended) <= nll(given)
    assert torch.equal(mended.prediction.label, given.prediction.label)


def test_rates_weigh_alike() -> None:
    """Many nodes that need T = 2 count no more than few that need T = 1 / 2."""
    many, few = honest(40_000).at(0.5), honest(2_000, 1).at(2.0)
    both = fit_temperature([many, few])
    assert both == pytest.approx(fit_temperature([few, many]), rel=1e-3)
    assert both < 0.9 * fit_temperature(
        [Answers(*(torch.cat([getattr(a, n) for a in (many, few)]) for n in vars(many)))]
    )


def test_a_handful_of_right_answers_does_not_make_cocksure() -> None:
    assert 0.4 < fit_temperature([by_hand([[0.9, 0.1]] * 10, [0] * 10)]) < 1


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_total_stays_aleatoric_plus_epistemic(temperature: float) -> None:
    samples = (3 * torch.randn(16, 200, 5, generator=torch.Generator().manual_seed(0))).double().softmax(-1)
    before, after = Prediction.from_samples(samples), Prediction.from_samples(samples, temperature=temperature)
    torch.testing.assert_close(after.probabilities, tempered(samples.mean(0), temperature))
    assert torch.equal(after.label, before.label)
    # Not by clamping: the mutual information itself is never negative.
    assert (after.total - after.aleatoric >= -1e-9).all() and (after.aleatoric >= 0).all()
    assert ((after.total > before.total).all(), (after.aleatoric.mean() > before.aleatoric.mean()).item()) == (
        (temperature > 1,) * 2
    )


def test_samples_that_agree_stay_without_epistemic_doubt() -> None:
    same = torch.tensor([[0.7, 0.2, 0.1]]).expand(8, 1, 3)
    prediction = Prediction.from_samples(same, temperature=2.0)
    torch.testing.assert_close(prediction.aleatoric, prediction.total)
    torch.testing.assert_close(prediction.deviation, torch.zeros(1), rtol=0, atol=1e-6)


def test_tempered_samples_by_hand() -> None:
    """Samples (1, 0) and (0.5, 0.5): the mean (3/4, 1/4) at T = 1/2 is (9/10, 1/10), so classes weigh 6/5 and 2/5; the
    samples weigh 6/5 and 4/5, and the second says (3/4, 1/4)."""
    samples = torch.tensor([[[1.0, 0.0]], [[0.5, 0.5]]])
    prediction = Prediction.from_samples(samples, temperature=0.5)
    torch.testing.assert_close(prediction.probabilities, torch.tensor([[0.9, 0.1]]))
    quarter = torch.tensor([0.75, 0.25])
    torch.testing.assert_close(prediction.aleatoric, -(quarter * quarter.log()).sum().reshape(1) * 0.4)
    variance = 0.6 * 0.1**2 + 0.4 * 0.15**2
    torch.testing.assert_close(prediction.deviation, torch.tensor([variance**0.5]))


# --- Sets ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("coverage", [0.5, 0.9, 0.98])
@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_coverage_holds_whatever_the_predictor(coverage: float, temperature: float) -> None:
    val, test = (honest(5_000, seed).at(temperature) for seed in (0, 1))
    sets = Conformal.of([val], coverage).sets(test.prediction, 0.1)
    assert covered(sets, test.y) == pytest.approx(coverage, abs=0.015)
    assert float(sets.sum(1).double().mean()) < CLASSES


def test_more_coverage_only_adds_labels() -> None:
    val, test = honest(500), honest(500, 1)
    sets = [Conformal.of([val], coverage).sets(test.prediction, 0.1) for coverage in (0.6, 0.8, 0.9, 0.99)]
    for small, large in itertools.pairwise(sets):
        assert (large | ~small).all()
        assert int(large.sum()) > int(small.sum())


def test_thresholds_by_hand() -> None:
    """Of nine true labels' probabilities the lowest lies below a new one's nine times out of ten; of eight, only 0 does."""
    nine = [[p, 1 - p] for p in (0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)]
    assert Conformal.of([by_hand(nine, [0] * 9)], 0.9).thresholds == pytest.approx((0.3,))
    assert Conformal.of([by_hand(nine, [0] * 9)], 0.8).thresholds == pytest.approx((0.35,))
    few = Conformal.of([by_hand(nine[:8], [0] * 8)], 0.9)
    assert few.sets(Prediction.certain(torch.tensor([[1.0, 0.0]])), 0.5).all()


def test_sets_are_a_function_of_the_share_shown() -> None:
    conformal = Conformal(0.9, (0.01, 0.1), (0.2, 0.4))
    prediction = Prediction.certain(torch.tensor([[0.25, 0.35, 0.4]]).expand(5, 3))
    rates = torch.tensor([0.0, 0.01, 0.1**1.5, 0.1, 1.0])  # the middle one halfway, at 0.3
    assert conformal.sets(prediction, rates).tolist() == [
        [True, True, True],
        [True, True, True],
        [False, True, True],
        [False, False, True],
        [False, False, True],
    ]
    assert torch.equal(conformal.sets(prediction, 0.1), conformal.sets(prediction, rates)[3:4].expand(5, 3))
    # Three of 34 nodes are 10 %, as near as it gets; two rates of one share, in tiny graphs, are no trouble.
    assert torch.equal(conformal.sets(prediction, 3 / 34), conformal.sets(prediction, 0.1))
    assert not Conformal(0.9, (0.1, 0.1), (0.3, 0.3)).sets(prediction, 0.1)[:, 0].any()


def test_every_rate_has_its_threshold_in_rising_order() -> None:
    dense, sparse = honest(2_000, 0, 4.0, shown=0.5), honest(2_000, 1, 1.0, shown=0.1)
    conformal = Conformal.of([dense, sparse], 0.9)
    assert conformal.shown == pytest.approx((0.1, 0.5))
    assert conformal.thresholds[0] == Conformal.of([sparse], 0.9).thresholds[0] != conformal.thresholds[1]


@pytest.mark.parametrize("coverage", [0.0, 1.0, -0.5, 1.5, float("nan")])
def test_coverages_that_cannot_be(coverage: float) -> None:
    with pytest.raises(UserError, match="between 0 and 1"):
        Conformal.of([honest(10)], coverage)


def test_credible_sets_by_hand() -> None:
    p = torch.tensor([[0.1, 0.6, 0.3], [0.95, 0.05, 0.0]])
    assert credible_sets(p, 0.9).tolist() == [[False, True, True], [True, False, False]]
    assert credible_sets(p, 0.5).tolist() == [[False, True, False], [True, False, False]]


# --- Reliability -----------------------------------------------------------------------------------------------------


def test_reliability_by_hand() -> None:
    """Two nodes of confidence 0.9, one right; one of 0.6, right. Sets hold the true label twice, of four labels in all."""
    answers = by_hand([[0.9, 0.1], [0.1, 0.9], [0.6, 0.4]], [0, 0, 0], graph=[0, 1, 1])
    row = reliability(answers, torch.tensor([[True, True], [False, True], [True, False]]))
    assert row["bins"] == [
        {"confidence": pytest.approx(0.6), "accuracy": 1.0, "count": 1},
        {"confidence": pytest.approx(0.9), "accuracy": 0.5, "count": 2},
    ]
    assert (row["coverage"], row["set_size"]) == (pytest.approx(2 / 3), pytest.approx(4 / 3))
    # Hits miss their mean by 1/3 in the first graph and -2/3 + 1/3 in the second.
    assert row["coverage_error"] == pytest.approx((2 / 9 * 2) ** 0.5 / 3)
    score = Score(2)
    score.add(answers.prediction, answers.y)
    assert {key: row[key] for key in ("accuracy", "nll", "brier", "ece")} == score.compute()


def test_bins_give_the_calibration_error() -> None:
    row = reliability(honest(3_000).at(0.5), torch.ones(3_000, CLASSES, dtype=torch.bool))
    gap = sum(b["count"] * abs(b["confidence"] - b["accuracy"]) for b in row["bins"]) / 3_000
    assert gap == pytest.approx(row["ece"], abs=1e-5) and row["ece"] > 0.05


def test_calibration_mends_what_was_spoiled() -> None:
    val, test = (honest(5_000, seed).at(0.4) for seed in (0, 1))
    row = compare(Calibration.of([val], 0.9), test)
    for key in ("nll", "brier", "ece"):
        assert row["after"][key] < row["before"][key]
    assert row["before"]["coverage"] < 0.87 and row["after"]["coverage"] == pytest.approx(0.9, abs=0.015)


def test_pictures() -> None:
    row = compare(Calibration.of([honest(500)], 0.9), honest(500, 1))
    figure = reliability_figure({"0.1": row, "1.0": row}, "title")
    assert [axis.get_title() for axis in figure.axes[:2]] == ["10 % labelled", "100 % labelled"]
    drawn = {line.get_label().split(":")[0]: line for line in figure.axes[0].get_lines()}
    assert drawn["after"].get_xdata()[-1] == pytest.approx(row["after"]["bins"][-1]["confidence"])
    assert drawn["after"].get_ydata()[-1] == pytest.approx(row["after"]["bins"][-1]["accuracy"])
    figure = honesty_figure({"np": {"0.1": row["before"], "0.05": row["after"]}, "mode": {"0.1": row["after"]}})
    left = figure.axes[0]
    assert [text.get_text() for text in left.get_xticklabels()] == ["5 %", "10 %"]
    assert [len(line[0].get_xdata()) for line in left.containers] == [2, 1]
    assert left.containers[0][0].get_ydata().tolist() == [row["after"]["ece"], row["before"]["ece"]]


# --- Answers ---------------------------------------------------------------------------------------------------------


def test_answers_are_for_the_unlabelled_nodes_of_all_graphs() -> None:
    found = dict(answers_by_rate(Mode(), Rings(), "val", draws=2))
    assert list(found) == [0.2, 0.5, 1.0]
    assert [answers.y.numel() for answers in found.values()] == [2 * 6 * 16, 2 * 6 * 10, 2 * 6 * 20]
    for rate, answers in found.items():
        assert torch.bincount(answers.graph).tolist() == [answers.y.numel() // 6] * 6
        assert answers.shown.tolist() == pytest.approx([rate] * answers.y.numel())


def test_the_share_shown_counts_all_nodes_of_a_graph() -> None:
    edges = torch.zeros(2, 0, dtype=torch.long)
    graphs = [Data(x=torch.ones(len(y), 1), edge_index=edges, y=torch.tensor(y)) for y in ([0, 1, -1, -1], [-1, -1])]
    assert share_shown(Episode.from_graphs(graphs)).tolist() == [0.5, 0]


def test_splits_without_graphs_or_labels() -> None:
    with pytest.raises(UserError, match="rings has no val graphs"):
        Calibration.fit(Mode(), Rings(val=0))
    with pytest.raises(UserError, match="no test graphs"):
        list(answers_by_rate(Mode(), Rings(test=0), "test"))
    one = Rings(labelled=1)
    one.rates = (0.2,)
    with pytest.raises(UserError, match="no label left to predict"):
        Conformal.fit(Mode(), one)


def test_a_model_of_other_features(model: LatentModel) -> None:
    other = Rings()
    for graphs in other.splits.values():
        graphs.x = torch.ones(graphs.num_nodes, 3)
    with pytest.raises(UserError, match="has 3 features per node, but the model was trained on 1"):
        Calibration.fit(model, other)


def test_calibrating_again_starts_afresh(model: LatentModel) -> None:
    first = Calibration.fit(model, Rings(), draws=1, samples=2)
    model.calibration = CALIBRATION
    assert Calibration.fit(model, Rings(), draws=1, samples=2) == first
    assert model.calibration is CALIBRATION


# --- The folder ------------------------------------------------------------------------------------------------------


def predict(model: LatentModel) -> Prediction:
    (graph,) = (Rings().graphs("val").select(torch.tensor([0])),)
    return model.predict(Episode.from_graphs([Data(x=graph.x, edge_index=graph.edge_index.as_tensor(), y=graph.y)]))


def test_what_is_written_is_read_and_applied(folder: Path) -> None:
    plain = from_pretrained(folder)
    assert plain.calibration is None  # a folder from before there was calibration
    CALIBRATION.write(folder)
    loaded = from_pretrained(folder)
    assert loaded.calibration == CALIBRATION
    torch.testing.assert_close(predict(loaded).probabilities, tempered(predict(plain).probabilities, 1.7))
    assert not torch.equal(predict(loaded).probabilities, predict(plain).probabilities)
    assert [path.name for path in folder.iterdir() if "tmp" in path.name] == []


def test_neither_configuration_nor_weights_know_of_it(model: LatentModel) -> None:
    """So runs go on and results stay valid: both are compared field by field."""
    fields, names = asdict(model.config), list(model.state_dict())
    model.calibration = CALIBRATION
    assert (asdict(model.config), list(model.state_dict())) == (fields, names)
    assert not {"calibration", "temperature"} & set(fields)


def test_what_goes_to_the_hub_is_calibrated(model: LatentModel, tmp_path: Path, monkeypatch: Any) -> None:
    model.calibration = CALIBRATION
    model.save_pretrained(tmp_path)
    assert Calibration.read(tmp_path / FILE) == CALIBRATION

    def download(name: str, file: str, **_: Any) -> str:
        return str(tmp_path / file)

    monkeypatch.setattr("huggingface_hub.get_hf_file_metadata", lambda *_, **__: None)
    monkeypatch.setattr("huggingface_hub.hf_hub_download", download)
    monkeypatch.setattr(
        "huggingface_hub.hub_mixin.hf_hub_download", lambda repo_id, filename, **_: download("", filename)
    )
    assert from_pretrained("someone/model").calibration == CALIBRATION


def test_other_weights_end_a_calibration(model: LatentModel, folder: Path) -> None:
    CALIBRATION.write(folder)
    save(model, folder, {})
    assert not (folder / FILE).exists()
    model.calibration = CALIBRATION
    save(model, folder, {})
    assert Calibration.read(folder / FILE) == CALIBRATION


GOOD = {"task": "rings", "temperature": 1.5, "coverage": 0.9, "shown": [0.1, 0.5], "thresholds": [0.2, 0.4]}


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        '{"temperature": 1.5',
        "\x80\x04K\x01.",  # a pickle is not run but refused
        {**GOOD, "temperature": 0},
        {**GOOD, "temperature": "__import__('os').abort()"},
        {**GOOD, "temperature": float("nan")},
        {**GOOD, "coverage": 1.5},
        {**GOOD, "shown": [0.1]},
        {**GOOD, "shown": [0.5, 0.1]},
        {**GOOD, "thresholds": [0.2, 2.0]},
        {**GOOD, "thresholds": None},
        {"task": "rings", "coverage": 0.9},
    ],
)
def test_damaged_files(folder: Path, content: str | dict[str, Any]) -> None:
    (folder / FILE).write_text(json.dumps(GOOD))
    assert from_pretrained(folder).calibration is not None
    (folder / FILE).write_text(content if isinstance(content, str) else json.dumps(content), encoding="latin-1")
    with pytest.raises(UserError, match=r"calibration.json is damaged .*'mpnp calibrate'"):
        from_pretrained(folder)
