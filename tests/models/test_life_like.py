"""The paper's constructive proof: one set of weights that knows every Life-like rule."""

from __future__ import annotations

import pytest
import torch

from mpnp.episode import Episode, Sampling, sample_episode
from mpnp.errors import UserError
from mpnp.models.configs import config
from mpnp.models.life_like import life_like_solution
from mpnp.models.mode import RuleTable
from mpnp.models.neural_process import NeuralProcess, NeuralProcessConfig
from mpnp.tasks.cellular_automata import CellularAutomaton

TASK = CellularAutomaton("life-like", graphs_total=80)


def configuration(model: str = "mpnp-c") -> NeuralProcessConfig:
    found = config(model, TASK, "paper")
    assert isinstance(found, NeuralProcessConfig)
    return found


@pytest.fixture(scope="module")
def solution() -> NeuralProcess:
    return life_like_solution(configuration())


def boards(rate: float) -> Episode:
    graphs = TASK.graphs("train")
    everything = graphs.select(torch.arange(len(graphs)))
    return sample_episode(everything, 2, Sampling.fixed(rate), torch.Generator().manual_seed(0))


def test_every_cell_of_every_rule(solution: NeuralProcess) -> None:
    """Boards hold every situation, so that a whole one tells the whole rule."""
    episode = boards(1.0)
    assert episode.num_graphs > 40
    prediction = solution.predict(episode)
    assert bool((prediction.label == episode.y).all())
    assert bool((prediction.probabilities.max(-1).values > 0.99).all())


def test_where_a_situation_was_not_seen_it_says_so(solution: NeuralProcess) -> None:
    """With one cell in twenty shown it knows what the table of shown situations knows, and is undecided elsewhere."""
    episode = boards(0.05)
    found, table = solution.predict(episode), RuleTable().predict(episode)
    hidden = ~episode.context
    decided = hidden & ((found.probabilities[:, 0] - 0.5).abs() > 0.4)
    assert 0.5 < decided.float().mean() / hidden.float().mean() < 0.999
    assert bool((found.label == episode.y)[decided].all())
    assert bool((table.label == episode.y)[decided].all())
    undecided = hidden & ~decided
    assert bool(((found.probabilities[undecided, 0] - 0.5).abs() < 0.01).all())


def test_it_is_a_model_of_the_papers_class(solution: NeuralProcess) -> None:
    fresh = NeuralProcess(configuration())
    assert {n: p.shape for n, p in solution.named_parameters()} == {n: p.shape for n, p in fresh.named_parameters()}
    assert solution.config.reduction == "max"


def test_other_layers_are_refused() -> None:
    with pytest.raises(UserError, match="by the paper's recipe"):
        life_like_solution(configuration("np"))
