"""Looking one answer ahead, through the stand-in and by asking the model itself."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch_geometric.data import Data

from mpnp.active import Expected, ask
from mpnp.active import expected as module
from mpnp.active.expected import risk_of, screened
from mpnp.episode import Episode
from mpnp.errors import UserError
from mpnp.models.label_propagation import LabelPropagation


def stars(*sizes: int) -> Episode:
    """Stars of so many leaves, none labelled; hubs come first."""
    edges, hub = [], 0
    for size in sizes:
        edges += [(hub, hub + 1 + leaf) for leaf in range(size)]
        hub += size + 1
    index = torch.tensor(edges).t()
    x = torch.zeros(hub, 1)
    return Episode.from_graphs(
        [Data(x=x, edge_index=torch.cat([index, index.flip(0)], 1), y=torch.zeros(hub, dtype=torch.long))],
        torch.zeros(hub, dtype=torch.bool),
        2,
    )


def test_risks_by_hand() -> None:
    p = torch.tensor([[0.7, 0.3], [0.5, 0.5]])
    torch.testing.assert_close(risk_of("error")(p), torch.tensor([0.3, 0.5]))
    torch.testing.assert_close(risk_of("brier")(p), torch.tensor([0.42, 0.5]))
    costs = torch.tensor([[0.0, 1.0], [5.0, 0.0]])  # to miss the second class is five times as bad
    torch.testing.assert_close(risk_of(costs)(p), torch.tensor([0.7, 0.5]))
    torch.testing.assert_close(risk_of(1 - torch.eye(2))(p), risk_of("error")(p))
    with pytest.raises(UserError, match="did you mean 'error'"):
        risk_of("eror")
    with pytest.raises(UserError, match="a table"):
        risk_of(torch.ones(3))


def test_the_larger_star_first() -> None:
    episode = stars(8, 3, 0)
    predictor = LabelPropagation()
    prediction = predictor.predict(episode)
    # With no label anywhere a leaf tells of its star as its hub does; not so the node that is alone.
    assert ask("expected", episode, prediction).nodes.tolist()[0] < 13
    first, second = ask("expected", episode, prediction, count=2, predictor=predictor).nodes.tolist()
    assert first < 9 <= second < 13


def test_asking_the_model_is_what_asking_it_by_hand_is() -> None:
    episode = stars(4, 2)
    episode = episode.with_context(torch.arange(8) == 1)
    predictor = LabelPropagation()
    prediction = predictor.predict(episode)
    nodes, scores = ask("expected", episode, prediction, count=1, predictor=predictor)
    p = prediction.probabilities
    hidden = ~episode.context
    gains = {}
    for node in hidden.nonzero().flatten().tolist():
        after = 0.0
        for label in (0, 1):
            y, context = episode.y.clone(), episode.context.clone()
            y[node], context[node] = label, True
            then = predictor.predict(replace(episode, y=y, context=context)).probabilities
            after += float(p[node, label]) * float((1 - then[hidden].amax(1)).sum())
        gains[node] = float((1 - p[hidden].amax(1)).sum()) - after
    assert gains[int(nodes)] == pytest.approx(max(gains.values()), abs=1e-5)
    assert float(scores) == pytest.approx(max(gains.values()), abs=1e-4)


def test_a_model_too_slow_to_ask_again_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    episode = stars(4, 2)
    prediction = LabelPropagation().predict(episode)

    class Refuses(LabelPropagation):
        def predict(self, *given: object, **options: object) -> object:  # type: ignore[override]
            raise AssertionError("asked again")

    monkeypatch.setattr(module, "AFFORDABLE", 10)
    assert ask("expected", episode, prediction, predictor=Refuses()).nodes.numel() == 1


def test_costs_decide_whom_to_ask() -> None:
    """Two stars in equal doubt are not worth the same where a mistake in one direction costs nothing."""
    episode = stars(5)
    prediction = LabelPropagation().predict(episode)
    nothing = ask(Expected(loss=torch.zeros(2, 2)), episode, prediction, count=2)
    assert nothing.scores.abs().max() < 1e-6
    assert ask(Expected(loss=torch.tensor([[0.0, 1.0], [1.0, 0.0]])), episode, prediction).scores > 0
    with pytest.raises(UserError, match="3 classes was given, but there are 2"):
        ask(Expected(loss=torch.zeros(3, 3)), episode, prediction)


def test_candidates_are_half_by_doubt() -> None:
    said = torch.full((100, 2), 0.5)
    said[10:] = torch.tensor([0.9, 0.1])
    noise = torch.rand(100, generator=torch.Generator().manual_seed(0), dtype=torch.double)
    found = screened(said, torch.ones(100, dtype=torch.bool), 20, noise)
    assert found.unique().numel() == 20 and set(range(10)) <= set(found.tolist())
    pool = torch.arange(100) < 3
    assert screened(said, pool, 20, noise).tolist() == [0, 1, 2]
