"""Which runs belong to which table, and what a run's identity holds."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import pytest

from mpnp.errors import UserError
from mpnp.models import MODELS, PREDICTORS
from mpnp.models.configs import config
from mpnp.reproduce import plan, records
from mpnp.tasks import TASKS, get_task
from mpnp.training import recipes


def test_every_job_names_a_task_and_a_model_that_exist() -> None:
    for job in plan.jobs(seeds=2):
        assert job.task in TASKS
        assert job.model in MODELS or job.model in PREDICTORS


def test_a_job_is_planned_once_even_when_two_tables_want_it() -> None:
    every = plan.jobs()
    assert len({job.name for job in every}) == len(every)
    assert sum(job.task == "tud/enzymes" and job.row == "ampnp" for job in every) == 1


def test_seeds_repeat_what_is_trained_and_nothing_else() -> None:
    found = plan.jobs(["tud"], tasks=["tud/dhfr"], rows=["ampnp", "mode"], seeds=3)
    assert [(job.row, job.seed) for job in found] == [("mode", 0), ("ampnp", 0), ("ampnp", 1), ("ampnp", 2)]


def test_budgets() -> None:
    quick = plan.jobs(["shapenet"], budget="quick")
    assert all(job.changes["most_steps"] == 100 and job.draws == 1 and job.graphs for job in quick)
    assert not {job.task for job in quick} & set(plan.LARGE)
    at_length = {job.row: job for job in plan.jobs(["tud"], tasks=["tud/dhfr"], budget="paper")}
    assert at_length["mpnp-c"].identity()["recipe"]["epochs"] == 400
    assert at_length["gnn"].identity()["recipe"]["epochs"] == 500
    assert at_length["ampnp"].recipe == at_length["unimp"].recipe == "default"


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        ({"tables": ["tudd"]}, "There is no table named 'tudd': did you mean 'tud'?"),
        ({"tables": ["tud"], "rows": ["mpnpc"]}, "There is no model in the tables given named 'mpnpc': did you mean"),
        ({"tables": ["tud"], "tasks": ["ppisp"]}, "There is no task in the tables given named 'ppisp'"),
        ({"tasks": ["tud/dhfr"], "rows": ["r-mpnp"]}, "have no run in common"),
    ],
)
def test_unknown_names(wanted: dict[str, list[str]], sentence: str) -> None:
    with pytest.raises(UserError, match=r"There is no|have no run") as told:
        plan.jobs(**wanted)  # type: ignore[arg-type]
    assert sentence in str(told.value)


def test_a_model_may_learn_from_another_task_than_it_is_scored_on() -> None:
    identity = plan.Job("cora/few-shot-11", "ampnp").identity()
    assert (identity["recipe"]["learn_from"], identity["data"]["task"]) == ("cora/few-shot-5", "cora/few-shot-11")
    assert (identity["model"]["task"], identity["model"]["num_classes"]) == ("cora/few-shot-11", 11)
    assert plan.Job("cora/few-shot-11", "mpnp-c").identity()["recipe"]["learn_from"] is None


def test_identity_holds_all_a_result_depends_on() -> None:
    job = plan.Job("ca/small-world", "ampnp")
    others = [
        replace(job, seed=1),
        replace(job, task="ca/voronoi"),
        replace(job, row="ampnp-no-latent"),
        replace(job, changes={"width": 32}),
        replace(job, changes={"epochs": 3}),
        replace(job, draws=1),
        replace(job, graphs=5),
    ]
    identities = [str(other.identity()) for other in [job, *others]]
    assert len(set(identities)) == len(identities)
    assert "recipe" not in plan.Job("ca/small-world", "mode").identity()


def test_another_version_of_code_or_data_is_another_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    job = plan.Job("ca/small-world", "mode")
    before = job.identity()
    monkeypatch.setattr("mpnp.tasks.cellular_automata.CellularAutomaton.version", 99)
    assert job.identity() != before
    monkeypatch.undo()
    monkeypatch.setattr("mpnp.reproduce.plan.FIGURES", "0.0.1")
    assert job.identity() != before


RESULTS = Path(__file__).parents[2] / "results"


def test_every_stored_result_is_still_taken_for_its_run() -> None:
    """A recipe derived otherwise, or a line lost from recipes.yaml, would make another run of it."""
    if missing := get_task("cora/few-shot-2").missing():
        pytest.skip(f"what Cora is made of is part of a run: {missing}")
    stored = {str(path.relative_to(RESULTS)) for path in RESULTS.glob("*/**/*-seed*.json")}
    stored |= {str(path.relative_to(RESULTS)) for path in RESULTS.glob("*/*-seed*.json")}
    taken = {str(records.path_of(RESULTS, job).relative_to(RESULTS)) for job in plan.jobs(seeds=3)
             if records.is_done(RESULTS, job)}  # fmt: skip
    assert len(stored) >= 350
    assert {path for path in stored if not path.startswith(("runs/", "recipes/"))} == taken


def test_a_figure_may_need_more_than_the_derived_default() -> None:
    """Which only 'mpnp reproduce' knows of, only by its default recipe, and on which options given come."""
    task = get_task("cora/few-shot-2")
    job = plan.Job(task.name, "ampnp")
    (recipe, model), derived = job.settings(), recipes.recipe("default", config("ampnp", task), task)
    assert recipe.learn_from == "cora/few-shot-3"
    assert replace(recipe, learn_from=derived.learn_from) == derived
    assert plan.Job(task.name, "mpnp-c").settings()[0] == recipes.recipe("default", config("mpnp-c", task), task)
    assert replace(job, recipe="paper").settings()[0].learn_from is None
    assert replace(job, changes={"most_steps": 7}).settings()[0] == replace(recipe, most_steps=7)
    assert asdict(model) == asdict(config("ampnp", task))


def test_what_a_figure_needs_beyond_the_default_is_told_with_its_reason() -> None:
    (sentence,) = plan.beyond(["cora/few-shot-2", "cora/few-shot-3"])
    assert sentence == (
        "ampnp on cora/few-shot-2: learn_from = cora/few-shot-3, not the default. "
        "Tasks of three classes teach more than tasks of two."
    )
    assert plan.beyond(["ca/small-world"]) == []


def test_every_entry_of_the_file_is_of_a_run_and_says_why() -> None:
    runs = {(job.task, job.model) for job in plan.jobs()}
    for entry in plan._published():
        assert set(entry) <= {"tasks", "models", "set", "why"} and entry["set"] and entry["why"]
        for task in entry["tasks"]:
            assert {(task, model) for model in entry.get("models", ["ampnp"])} <= runs
            configuration = config("ampnp", get_task(task))
            derived = {**asdict(recipes.recipe("default", configuration, get_task(task))), **asdict(configuration)}
            assert all(derived[name] != value for name, value in entry["set"].items()), f"{task} needs no entry"


def test_the_shipped_model_is_measured_as_it_is_and_again_when_its_weights_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (job,) = plan.jobs(["tud"], tasks=["tud/bzr"], rows=["universal"], seeds=3)
    assert not job.trains and job.draws == 1 and job.graphs == plan.ZERO_SHOT_GRAPHS
    before = job.identity()
    assert "recipe" not in before and before["weights"]
    monkeypatch.setattr(plan, "fingerprint", lambda _: "others")
    assert job.identity() != before


def test_the_shipped_model_may_learn_on_which_is_a_run_of_its_own() -> None:
    (job,) = plan.jobs(["cora-few-shot"], tasks=["cora/few-shot-3"], rows=["universal-tuned"])
    (as_it_is,) = plan.jobs(["cora-few-shot"], tasks=["cora/few-shot-3"], rows=["universal"])
    assert job.trains and job.model == "universal" and job.graphs is None
    assert job.identity()["weights"] == as_it_is.identity()["weights"]  # where it starts from
    assert job.identity()["recipe"]["learning_rate"] == 2e-4
