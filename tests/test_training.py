"""Training: the folder it leaves, repeatability, interruption and resumption, and everything it refuses."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

from mpnp.errors import UserError
from mpnp.graphs import GraphSet
from mpnp.models import from_pretrained, presets
from mpnp.objectives import OBJECTIVES
from mpnp.parallel import share
from mpnp.tasks.base import SPLITS, Split, Task
from mpnp.tasks.cellular_automata import CellularAutomaton
from mpnp.tasks.own import OwnTask
from mpnp.training import EpisodeStream, Fitted, Learner, fit, validation_episodes

FILES = {
    "README.md",
    "checkpoints/best.ckpt",
    "checkpoints/last.ckpt",
    "config.json",
    "log/metrics.csv",
    "metrics.json",
    "model.safetensors",
    "run.json",
}


class Given(Task):
    """The same graphs in every split, unless told otherwise."""

    context = (0.3, 0.5)
    extra = (0.3, 0.5)
    rates = (0.1, 0.5)
    num_features = 2
    num_classes = 2

    def __init__(self, graphs: list[Data], val: list[Data] | None = None, name: str = "given") -> None:
        self.name = name
        self.parts = {"train": graphs, "val": val or graphs, "test": graphs}

    def load(self) -> dict[Split, GraphSet]:
        return {split: GraphSet.from_data_list(self.parts[split]) for split in SPLITS}


class Scaled(Given):
    standardise = True


def graph(nodes: int, edges: int = 0, shift: float = 0.0, unlabelled: float = 0.0) -> Data:
    """The label is the sign of the first feature."""
    x = torch.randn(nodes, 2)
    y = torch.where(torch.rand(nodes) < unlabelled, -1, (x[:, 0] > 0).long())
    return Data(x=x + shift, y=y, edge_index=torch.randint(nodes, (2, edges)))


@pytest.fixture(autouse=True)
def fixed_seed() -> None:
    torch.manual_seed(0)


@pytest.fixture(scope="module")
def automata() -> Task:
    return CellularAutomaton("small-world", graphs_total=40)


def train(task: Task, out: Path, model: str = "ampnp", epochs: int = 4, **options: Any) -> Fitted:
    settings = {key: options.pop(key) for key in ("seed", "recipe", "resume", "devices") if key in options}
    small = {"width": 16, "batch_graphs": 8} if model == "ampnp" else {}
    return fit(task, model, out, epochs=epochs, progress=False, options={**small, **options}, **settings)


@pytest.fixture(scope="module")
def whole(automata: Task, tmp_path_factory: pytest.TempPathFactory) -> Fitted:
    """Four epochs without interruption."""
    return train(automata, tmp_path_factory.mktemp("runs") / "whole")


def test_no_more_epochs_than_make_the_most_steps(automata: Task, tmp_path: Path) -> None:
    """28 training graphs, 8 a step: an epoch is gone through until it has 5 steps, that is in two rounds of 4."""
    options = {"width": 8, "batch_graphs": 8, "epoch_steps": 5, "epochs": 9}
    for most, expected in ((17, 2), (3, 1)):
        fitted = fit(automata, out=tmp_path / str(most), progress=False, options=options | {"most_steps": most})
        assert (fitted.metrics["epochs"], fitted.metrics["recipe"]["epochs"]) == (expected, expected)
    # What is asked for by name is done.
    fitted = fit(automata, out=tmp_path / "all", epochs=3, progress=False, options=options | {"most_steps": 17})
    assert fitted.metrics["epochs"] == 3


def weights(model: torch.nn.Module) -> Tensor:
    return torch.cat([value.flatten() for value in model.state_dict().values()])


def log(folder: Path, column: str) -> list[float]:
    with (folder / "log" / "metrics.csv").open() as file:
        return [float(row[column]) for row in csv.DictReader(file) if row[column]]


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


def stops(epoch: int, error: type[BaseException]) -> Callable[[Learner, Any, int], Tensor]:
    step = Learner.training_step

    def stopping(self: Learner, episode: Any, number: int) -> Tensor:
        if self.current_epoch == epoch and number == 1:
            raise error
        return step(self, episode, number)

    return stopping


# --- The folder ------------------------------------------------------------------------------------------------------


def test_fit_leaves_a_whole_model_folder(whole: Fitted) -> None:
    assert files(whole.folder) == FILES
    metrics = json.loads((whole.folder / "metrics.json").read_text())
    assert metrics == json.loads(json.dumps(whole.metrics))
    assert (metrics["finished"], metrics["epochs"], metrics["task"]) == (True, 4, "ca/small-world")
    assert metrics["val_nll"] == pytest.approx(min(log(whole.folder, "val_nll")))
    assert len(log(whole.folder, "loss")) == 4
    assert torch.equal(weights(from_pretrained(whole.folder)), weights(whole.model))


def validated_as(*scores: float) -> Callable[[Learner], None]:
    """In place of validation: the score of every epoch as given."""
    return lambda self: self.log("val_nll", scores[self.current_epoch])


def test_the_model_kept_is_the_best_not_the_last(
    automata: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Learner, "on_validation_epoch_end", validated_as(0, 1, 2))
    one, three = (train(automata, tmp_path / str(n), epochs=n, schedule="constant") for n in (1, 3))
    assert torch.equal(weights(one.model), weights(three.model))
    assert three.metrics["val_nll"] == 0


def test_the_same_seed_gives_the_same_model(automata: Task, whole: Fitted, tmp_path: Path) -> None:
    again, other = train(automata, tmp_path / "again"), train(automata, tmp_path / "other", seed=1)
    assert torch.equal(weights(again.model), weights(whole.model))
    assert again.metrics | {"minutes": 0} == whole.metrics | {"minutes": 0}
    assert log(again.folder, "loss") == log(whole.folder, "loss")
    assert not torch.equal(weights(other.model), weights(whole.model))


def test_the_running_mean_of_the_weights_is_kept(
    automata: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    after: list[Tensor] = []
    monkeypatch.setattr(Learner, "on_train_batch_end", lambda self, *_: after.append(weights(self.model).clone()))
    kept = weights(train(automata, tmp_path, epochs=1, average=0.8).model)
    mean = after[0]
    for one in after[1:]:
        mean = 0.8 * mean + 0.2 * one
    torch.testing.assert_close(kept, mean)
    assert len(after) >= 4 and not torch.allclose(kept, after[-1])


def test_an_interrupted_run_goes_on_with_its_running_mean(
    automata: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = train(automata, tmp_path / "whole", average=0.9)
    with monkeypatch.context() as patch:
        patch.setattr(Learner, "training_step", stops(2, KeyboardInterrupt))
        train(automata, tmp_path / "part", average=0.9)
    resumed = train(automata, tmp_path / "part", average=0.9, resume=True)
    assert torch.equal(weights(resumed.model), weights(whole.model))
    assert log(resumed.folder, "val_nll") == log(whole.folder, "val_nll")


@pytest.mark.parametrize("model", ["ampnp", "mpnp"])
def test_the_loss_goes_down(tmp_path: Path, model: str) -> None:
    task = Given([graph(20, 40) for _ in range(16)])
    fitted = train(task, tmp_path / "m", model, epochs=12, learning_rate="1e-2", batch_graphs=4)
    loss, accuracy = log(fitted.folder, "loss"), log(fitted.folder, "val_accuracy")
    assert loss[-1] < 0.5 * loss[0]
    assert accuracy[-1] > 0.85


# --- Interruption ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_interrupted_run_ends_as_if_it_had_not_been(
    automata: Task, whole: Fitted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    monkeypatch.setattr(Learner, "training_step", stops(2, error))
    if error is KeyboardInterrupt:
        part = train(automata, tmp_path)
        assert (part.metrics["finished"], part.metrics["epochs"]) == (False, 2)
        assert files(tmp_path) == FILES
        assert len(log(tmp_path, "epoch")) < len(log(whole.folder, "epoch"))
    else:  # as when the process is killed: only the checkpoints are there
        with pytest.raises(error):
            train(automata, tmp_path)
        assert not (tmp_path / "metrics.json").exists()
    monkeypatch.undo()
    resumed = train(automata, tmp_path, resume=True)
    assert torch.equal(weights(resumed.model), weights(whole.model))
    assert resumed.metrics | {"minutes": 0} == whole.metrics | {"minutes": 0}
    assert files(tmp_path) == FILES
    for column in ("epoch", "loss", "val_nll"):
        assert log(tmp_path, column) == log(whole.folder, column)


def test_an_interruption_before_the_first_epoch_ends_leaves_nothing_but_can_be_resumed(
    automata: Task, whole: Fitted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Learner, "training_step", stops(0, KeyboardInterrupt))
    with pytest.raises(UserError, match="nothing was learned"):
        train(automata, tmp_path)
    monkeypatch.undo()
    assert torch.equal(weights(train(automata, tmp_path, resume=True).model), weights(whole.model))


def test_a_run_goes_on_from_its_last_epoch_not_from_its_best(
    automata: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second epoch is the best, the fourth better than the first: a stale memory of the best would show."""
    monkeypatch.setattr(Learner, "on_validation_epoch_end", validated_as(3, 1, 4, 2))
    with monkeypatch.context() as patch:
        patch.setattr(Learner, "training_step", stops(2, KeyboardInterrupt))
        best = train(automata, tmp_path)
    seen, step = [], Learner.training_step

    def noting(self: Learner, episode: Any, number: int) -> Tensor:
        seen.append(self.current_epoch)
        return step(self, episode, number)

    monkeypatch.setattr(Learner, "training_step", noting)
    resumed = train(automata, tmp_path, resume=True)
    assert sorted(set(seen)) == [2, 3]
    assert sorted(set(log(tmp_path, "epoch"))) == [0, 1, 2, 3] and len(log(tmp_path, "val_nll")) == 4
    assert torch.equal(weights(resumed.model), weights(best.model)) and resumed.metrics["val_nll"] == 1


def test_resuming_a_finished_run_returns_it_without_training(
    automata: Task, whole: Fitted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Learner, "training_step", lambda *_: pytest.fail("trained again"))
    again = train(automata, whole.folder, resume=True)
    assert torch.equal(weights(again.model), weights(whole.model))
    assert again.metrics == json.loads(json.dumps(whole.metrics))


def test_a_run_is_not_overwritten(automata: Task, whole: Fitted) -> None:
    with pytest.raises(UserError, match="already holds a training run"):
        train(automata, whole.folder)


@pytest.mark.parametrize(
    ("changed", "named"), [({"epochs": 5}, "recipe"), ({"seed": 1}, "seed"), ({"depth": 1}, "model")]
)
def test_a_run_is_not_resumed_with_other_options(
    automata: Task, whole: Fitted, changed: dict[str, Any], named: str
) -> None:
    with pytest.raises(UserError, match=f"another {named};"):
        train(automata, whole.folder, resume=True, **changed)


# --- Several processes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("model", ["ampnp", "mpnp-c"])
@pytest.mark.parametrize("world", [2, 6])
def test_the_shares_of_a_batch_add_up_to_its_loss_and_gradient(model: str, objective: str, world: int) -> None:
    """Four graphs of very different sizes, one of them without any label: some of six processes have none."""
    task = Given([graph(30, 60), graph(3), graph(8, 20, unlabelled=1.0), graph(12, 30)])
    network = presets.build(presets.config(model, task))
    (episode,) = EpisodeStream(task, replace(presets.recipe("default", model, task.name), epoch_steps=1), 0, 0)

    def loss_and_gradient(rank: int, world: int) -> Tensor:
        torch.manual_seed(1)
        part, weight = share(network, episode, rank, world)
        loss = weight * OBJECTIVES[objective](network, part, 3).loss
        gradient = torch.autograd.grad(loss, list(network.parameters()), materialize_grads=True)
        return torch.cat([loss.detach().view(1), *(each.flatten() for each in gradient)])

    shares = torch.stack([loss_and_gradient(rank, world) for rank in range(world)])
    torch.testing.assert_close(shares.mean(0), loss_and_gradient(0, 1), rtol=1e-4, atol=1e-5)


def test_two_processes_learn_what_one_does(automata: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """28 graphs, 9 a step: the last step has a single graph for both. What two began, one may end."""
    # At a high rate Adam makes much of the last digit of a gradient near 0.
    options = {"batch_graphs": 9, "epoch_steps": 1, "learning_rate": 1e-4}
    one = train(automata, tmp_path / "one", "mpnp-c", epochs=3, **options)
    monkeypatch.setattr(Learner, "training_step", stops(2, KeyboardInterrupt))
    two = train(automata, tmp_path / "two", "mpnp-c", epochs=3, devices=2, **options)
    assert (two.metrics["finished"], two.metrics["epochs"], two.metrics["devices"]) == (False, 2, 2)
    assert log(two.folder, "loss") == pytest.approx(log(one.folder, "loss")[:2], rel=1e-5)
    monkeypatch.undo()
    ended = train(automata, tmp_path / "two", "mpnp-c", epochs=3, resume=True, **options)
    assert files(ended.folder) == FILES
    assert (ended.folder / "run.json").read_text() == (one.folder / "run.json").read_text()
    for column in ("epoch", "loss", "val_nll", "kl"):
        assert log(ended.folder, column) == pytest.approx(log(one.folder, column), rel=1e-4)
    torch.testing.assert_close(weights(ended.model), weights(one.model), rtol=0, atol=1e-5)


# --- What is refused -------------------------------------------------------------------------------------------------


def test_places_that_cannot_take_a_model(automata: Task, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for place, words in (("file", "is a file"), ("file/below", "Cannot write"), (".", "not empty")):
        with pytest.raises(UserError, match=words):
            train(automata, tmp_path / place)
    assert files(tmp_path) == {"file"} and (tmp_path / "file").read_text() == "mine"


BAD = [
    ({"model": "apnp"}, "did you mean 'ampnp'"),
    ({"recipe": "papr"}, "did you mean 'paper'"),
    ({"options": {"widht": 8}}, "did you mean 'width'"),
    ({"options": {"num_features": 3}}, "no option named 'num_features'"),
    ({"options": {"__class__": 3}}, "no option named '__class__'"),
    ({"options": {"width": "abc"}}, "width = abc"),
    ({"options": {"width": 8.5}}, "width = 8.5"),
    ({"options": {"width": None}}, "width = None"),
    ({"options": {"width": 0}}, "at least 1"),
    ({"options": {"latent": "perhaps"}}, "latent = perhaps"),
    ({"options": {"latent": 1}}, "latent = 1"),
    ({"options": {"objective": "mse"}}, "one of elbo"),
    ({"options": {"learning_rate": -1}}, "at least 0"),
    ({"options": {"learning_rate": "nan"}}, "learning_rate = nan"),
    ({"options": {"clip": "x"}}, "float | None"),
    ({"options": {"average": 1}}, "average = 1"),
    ({"options": {"context": [0.1]}}, "context = "),
    ({"options": {"context": [0.9, 0.1]}}, "low ≤ high"),
    ({"options": {"dropout": 7}}, "dropout"),
    ({"options": {"reaches": [], "local": True}}, "No 'ampnp' works"),
    ({"model": "mpnp", "options": {"encoder": ["linear:8"]}}, "No 'mpnp' works"),
    ({"options": {"learn_from": "ca/smal-world"}}, "did you mean 'ca/small-world'"),
    ({"options": {"learn_from": "ppisp"}}, "learn_from = ppisp has 38 features per node, 2 are expected"),
    ({"epochs": 0}, "at least 1"),
    ({"epochs": -3}, "at least 1"),
    ({"devices": 0}, "devices = 0"),
    ({"nodes": 0}, "nodes = 0"),
    ({"devices": 9999}, "9999 devices"),
    ({"nodes": 2}, "MASTER_ADDR"),
]


@pytest.mark.parametrize(("arguments", "words"), BAD, ids=lambda value: str(value)[:40])
def test_bad_options_are_refused_before_anything_is_written(
    automata: Task, tmp_path: Path, arguments: dict[str, Any], words: str
) -> None:
    with pytest.raises(UserError) as error:
        fit(automata, out=tmp_path / "out", progress=False, **arguments)
    assert words in str(error.value)
    assert not (tmp_path / "out").exists()


def test_own_graphs_with_too_few_labels_leave_no_folder_behind(tmp_path: Path) -> None:
    torch.save(graph(6, 12), tmp_path / "few.pt")
    with pytest.raises(UserError, match="label at least 15 nodes"):
        train(OwnTask(tmp_path / "few.pt"), tmp_path / "out")
    assert not (tmp_path / "out").exists()


# --- Data and recipes ------------------------------------------------------------------------------------------------


def test_a_model_carries_the_training_statistics(tmp_path: Path) -> None:
    task = Scaled([graph(30, 60, shift=50.0) for _ in range(3)], val=[graph(30, 60, shift=-50.0)])
    out = tmp_path / "scaled"
    train(task, out, epochs=1)
    model, x = from_pretrained(out), task.graphs("train").x
    torch.testing.assert_close(model.x_mean, x.mean(0))
    torch.testing.assert_close(model.x_scale, x.std(0, unbiased=False))
    plain = train(Given(task.parts["train"]), tmp_path / "plain", epochs=1).model
    assert plain.x_mean.tolist() == [0, 0] and plain.x_scale.tolist() == [1, 1]


def test_learning_from_the_graphs_of_another_task(tmp_path: Path) -> None:
    """Of three classes and other features; validation stays with the task's own."""
    others = [graph(60, 120, shift=9.0) for _ in range(3)]
    for other in others:
        other.y = torch.arange(60) % 3
    torch.save(others, tmp_path / "others.pt")
    task, elsewhere = Scaled([graph(30, 60) for _ in range(3)]), {"learn_from": str(tmp_path / "others.pt")}
    model = train(task, tmp_path / "out", epochs=2, **elsewhere).model
    torch.testing.assert_close(model.x_mean, OwnTask(tmp_path / "others.pt").graphs("train").x.mean(0))
    assert (model.config.num_classes, model.config.task) == (2, "given")
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert run["recipe"]["learn_from"] == elsewhere["learn_from"]
    with pytest.raises(UserError, match=r"others\.pt has 3 classes, 'mpnp-c' can only learn from 2"):
        train(task, tmp_path / "fixed", "mpnp-c", **elsewhere)
    assert not (tmp_path / "fixed").exists()


@pytest.mark.parametrize(
    ("task", "model", "rate"), [("ca/voronoi", "mpnp", 1e-4), ("tud/enzymes", "np", 4e-5), ("ppisp", "np", 6e-5)]
)
def test_the_papers_recipe_is_adam_at_the_tables_rate(task: str, model: str, rate: float) -> None:
    given = Given([graph(10, 20)], name=task)
    plan, network = presets.recipe("paper", model, task), presets.build(presets.config(model, given, "paper"))
    optimiser = Learner(network, given, plan, seed=0).configure_optimizers()
    assert type(optimiser) is torch.optim.Adam  # AdamW is a kind of Adam
    (group,) = optimiser.param_groups
    assert (group["lr"], group["weight_decay"]) == (rate, 0)
    assert len(group["params"]) == len(list(network.parameters()))


def test_training_stops_early_when_patience_ends(
    automata: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    still = {"learning_rate": 0.0, "schedule": "constant"}  # validation never gets better than after the first epoch
    fitted = train(automata, tmp_path / "patient", epochs=9, patience=2, **still)
    assert (fitted.metrics["finished"], fitted.metrics["epochs"]) == (True, 3)
    assert train(automata, tmp_path / "stubborn", epochs=4, **still).metrics["epochs"] == 4
    with monkeypatch.context() as patch:  # patience outlives an interruption
        patch.setattr(Learner, "training_step", stops(2, KeyboardInterrupt))
        train(automata, tmp_path / "again", epochs=9, patience=2, **still)
    assert train(automata, tmp_path / "again", epochs=9, patience=2, resume=True, **still).metrics["epochs"] == 3


@pytest.mark.parametrize("model", ["ampnp", "anp", "mpnp-c", "r-mpnp"])
@pytest.mark.parametrize("recipe", ["default", "paper"])
def test_single_nodes_and_graphs_without_edges_train(tmp_path: Path, model: str, recipe: str) -> None:
    task = Given([graph(1), graph(6), graph(1), graph(8, 20)])
    fitted = train(task, tmp_path / "m", model, epochs=1, recipe=recipe)
    assert weights(fitted.model).isfinite().all()
    assert 0 < fitted.metrics["val_nll"] < 5


@pytest.mark.parametrize("recipe", ["default", "paper"])
def test_nodes_without_a_label_are_never_context_or_target(recipe: str) -> None:
    task = Given([graph(30, 60, unlabelled=0.6) for _ in range(6)])
    plan = presets.recipe(recipe, "ampnp", task.name)
    targets = 0
    for episode in [*EpisodeStream(task, plan, seed=0, epoch=0), *validation_episodes(task, seed=0)]:
        assert not (episode.target & (episode.y < 0)).any()
        assert not (episode.context & ~episode.target).any()
        targets += int(episode.unlabelled_targets.sum())
    assert targets > 0


def test_every_epoch_shows_every_graph_once_with_another_context(automata: Task) -> None:
    plan = replace(presets.recipe("default", "ampnp", automata.name), epoch_steps=1)
    first, again, second = (list(EpisodeStream(automata, plan, seed=0, epoch=epoch)) for epoch in (0, 0, 1))
    sizes = automata.graphs("train").sizes.sort().values
    for epoch in (first, second):
        assert torch.equal(torch.cat([episode.graph.ptr.diff() for episode in epoch]).sort().values, sizes)
    assert all(torch.equal(a.context, b.context) for a, b in zip(first, again, strict=True))
    assert not torch.equal(first[0].graph.ptr, second[0].graph.ptr)


def test_few_graphs_are_gone_through_until_an_epoch_has_its_steps(automata: Task) -> None:
    plan = replace(presets.recipe("default", "ampnp", automata.name), epoch_steps=7, batch_graphs=10)
    stream = EpisodeStream(automata, plan, seed=0, epoch=0)
    episodes = list(stream)
    graphs = len(automata.graphs("train"))  # 28: three steps
    assert len(stream) == len(episodes) == 9
    assert sum(episode.num_graphs for episode in episodes) == 3 * graphs
    assert not torch.equal(episodes[0].context, episodes[3].context)
