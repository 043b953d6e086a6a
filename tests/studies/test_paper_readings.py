"""Models trained side by side learn what each would learn alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from studies.paper_readings import __main__ as readings
from studies.paper_readings import page
from studies.paper_readings.together import Lessons, Reading, Together

from mpnp.episode import Sampling, sample_episode
from mpnp.reproduce import plan
from mpnp.tasks.cellular_automata import CellularAutomaton
from mpnp.training.objectives import elbo

READINGS = (
    Reading(),
    Reading(keep_share=False, seed=1),
    Reading(by_class=False, standardise=True),
    Reading(spread="variance", messages="mean", graphs=2),
)
VERSIONS = ((False, False), (True, False), (False, True))


@pytest.fixture(scope="module")
def task() -> CellularAutomaton:
    return CellularAutomaton("small-world", graphs_total=10)


@pytest.mark.parametrize("member", range(len(READINGS)))
def test_loss_and_gradient_are_those_of_the_library(task: CellularAutomaton, member: int) -> None:
    sampling = Sampling(task.context, task.extra)
    lessons = Lessons(task, VERSIONS, sampling)
    models = [reading.model(task) for reading in READINGS]
    together = Together(READINGS, models, VERSIONS)
    generator = torch.Generator().manual_seed(3)
    episode = sample_episode(lessons.graph, 2, sampling, generator)
    noise = torch.randn(len(READINGS), 1, 128, generator=generator)
    lesson = next(lessons.of(episode, [4]))
    loss = together.loss(lesson, noise)
    loss.sum().backward()

    alone = episode.only(4)
    torch.manual_seed(0)
    drawn = torch.randn(1, 1, 128)
    # The library draws its noise itself: the same number twice is enough to tell whether it is used alike.
    with torch.no_grad():
        torch.manual_seed(0)
        again = together.loss(lesson, drawn.expand(len(READINGS), 1, 128))
    torch.manual_seed(0)
    expected = elbo(models[member], alone)
    scored = int(alone.target.sum())
    assert again[member].item() == pytest.approx(expected.loss.item() * scored, rel=1e-4)

    together.gradient.zero_()
    together.loss(lesson, drawn.expand(len(READINGS), 1, 128)).sum().backward()
    expected.loss.backward()
    for name, parameter in models[member].named_parameters():
        found = together.weights[name].grad[member][tuple(slice(size) for size in parameter.shape)] / scored
        wanted = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        assert torch.allclose(found, wanted, atol=1e-5, rtol=1e-3), name


def test_training_goes_on_where_it_was_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = CellularAutomaton("small-world", graphs_total=20)
    monkeypatch.setattr(readings, "get_task", lambda name: small)
    monkeypatch.setattr(readings, "VALIDATION", 2)
    monkeypatch.setattr(readings, "EVERY", 1)
    both = ["class-wise-2", "mean-8"]
    readings.train(both, tmp_path / "whole" / "page", epochs=3)
    for epochs in (1, 3):
        readings.train(both, tmp_path / "parts" / "page", epochs=epochs)
    for name in both:
        whole, parts = (
            json.loads((tmp_path / at / "page" / "small-world" / f"{name}.json").read_text())
            for at in ("whole", "parts")
        )
        assert whole["validation"] == parts["validation"] and len(whole["validation"]) == 3
    assert whole["steps"] == 3 * 2  # 14 training graphs, eight a step
    told = page.text([whole | {"family": "small-world"}])
    assert "| mean-8 | 8 | 3 of 200 | 6 |" in told and "not at its end" in told and "88.1 / 95.1 / 97.3" in told


def test_a_seed_of_another_family_has_a_row_and_a_place_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = CellularAutomaton("voronoi", graphs_total=20)
    monkeypatch.setattr(readings, "get_task", lambda name: {"ca/voronoi": small}[name])
    monkeypatch.setattr(readings, "VALIDATION", 2)
    monkeypatch.setattr(readings, "EVERY", 1)
    monkeypatch.setattr(page, "HERE", tmp_path / "page")
    for seed in (0, 1):
        readings.train(["class-wise-2"], page.HERE, epochs=1, family="voronoi", seed=seed)
    files = [page.HERE / "voronoi" / "class-wise-2.json", page.HERE / "voronoi" / "seed1" / "class-wise-2.json"]
    runs = [page._run(file) for file in files]
    assert runs[0]["validation"] != runs[1]["validation"]
    assert "| voronoi | class-wise-2 | 1 | 1 of 200 |" in page.text([{**runs[0], "family": "small-world"}, *runs])


def test_the_named_reading_is_the_run_of_the_tables_that_says_so() -> None:
    """Its options are those of the recipe 'paper' and of the row's model, and its figures a result that is taken for it."""
    task = CellularAutomaton("small-world", graphs_total=20)
    reading = readings.READINGS[page.NAMED]
    rate = dict.fromkeys(("accuracy", "nll", "brier", "ece", "accuracy_paper"), 0.9)
    test = {
        "task": task.name,
        "data": "generated",
        "model": "mpnp",
        "split": "test",
        "draws": 3,
        "seed": 0,
        "rates": {"0.1": rate},
    }
    run = {"family": "small-world", "reading": page.NAMED, "options": vars(reading) | {"seed": 1}, "epochs": 200, "cpu_seconds": 60,
           "test": test, "made": {"threads": 1}}  # fmt: skip
    job, table = page.result(run)
    recipe, configuration = job.settings()
    assert (recipe.batch_graphs, recipe.learning_rate, recipe.epochs, recipe.keep) == (1, 1e-4, readings.EPOCHS, "last")
    assert configuration == reading.configuration(task)
    assert job.seed == 1 and table.at(0.1).accuracy == 0.9
    assert job == next(one for one in plan.jobs(["cellular-automata"], rows=["mpnp-paper"], seeds=2) if one.seed == 1)
