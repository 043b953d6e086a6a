"""Training: the folder it leaves, repeatability, what recipes say."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch_geometric.nn import GraphConv

from mpnp.errors import UserError
from mpnp.graphs import plain_edges
from mpnp.models import configs, from_pretrained
from mpnp.models.ampnp import AmpnpConfig
from mpnp.models.base import ModelConfig, Network, Reading
from mpnp.tasks.base import Task
from mpnp.tasks.own import OwnTask
from mpnp.training import recipes
from mpnp.training.fit import Fitted, fit
from mpnp.training.learner import Learner
from mpnp.training.recipe import Recipe

from .learning import FILES, Given, Scaled, files, graph, log, stops, train, validated_as, weights


def test_no_more_epochs_than_make_the_most_steps(automata: Task, tmp_path: Path) -> None:
    """28 training graphs, 8 a step: an epoch is gone through until it has 5 steps, that is in two rounds of 4."""
    options = {"width": 8, "batch_graphs": 8, "epoch_steps": 5, "epochs": 9}
    for most, expected in ((17, 2), (3, 1)):
        fitted = fit(automata, out=tmp_path / str(most), progress=False, options=options | {"most_steps": most})
        assert (fitted.metrics["epochs"], fitted.metrics["recipe"]["epochs"]) == (expected, expected)
    # What is asked for by name is done.
    fitted = fit(automata, out=tmp_path / "all", epochs=3, progress=False, options=options | {"most_steps": 17})
    assert fitted.metrics["epochs"] == 3


def test_fit_leaves_a_whole_model_folder(whole: Fitted) -> None:
    assert files(whole.folder) == FILES
    metrics = json.loads((whole.folder / "metrics.json").read_text())
    assert metrics == json.loads(json.dumps(whole.metrics))
    assert (metrics["finished"], metrics["epochs"], metrics["task"]) == (True, 4, "ca/small-world")
    assert metrics["val_nll"] == pytest.approx(min(log(whole.folder, "val_nll")))
    assert len(log(whole.folder, "loss")) == 4
    assert torch.equal(weights(from_pretrained(whole.folder)), weights(whole.model))


def test_the_model_kept_is_the_best_not_the_last(
    automata: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Learner, "on_validation_epoch_end", validated_as(0, 1, 2))
    one, three = (train(automata, tmp_path / str(n), epochs=n, schedule="constant") for n in (1, 3))
    assert torch.equal(weights(one.model), weights(three.model))
    assert three.metrics["val_nll"] == 0


def test_the_last_may_be_kept_instead(automata: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Learner, "on_validation_epoch_end", validated_as(0, 1, 2))
    last: list[Tensor] = []
    monkeypatch.setattr(Learner, "on_train_batch_end", lambda self, *_: last.append(weights(self.model).clone()))
    fitted = train(automata, tmp_path, epochs=3, keep="last")
    assert torch.equal(weights(fitted.model), last[-1])


@pytest.mark.parametrize("standardise", [None, True, False])
def test_features_are_standardised_where_the_task_or_the_recipe_says_so(
    automata: Task, tmp_path: Path, standardise: bool | None
) -> None:
    fitted = train(automata, tmp_path, epochs=1, standardise=standardise)
    assert bool((fitted.model.x_mean != 0).any()) is bool(standardise)


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


@pytest.mark.parametrize("model", ["ampnp", "mpnp"])
def test_the_loss_goes_down(tmp_path: Path, model: str) -> None:
    task = Given([graph(20, 40) for _ in range(16)])
    fitted = train(task, tmp_path / "m", model, epochs=12, learning_rate="1e-2", batch_graphs=4)
    loss, accuracy = log(fitted.folder, "loss"), log(fitted.folder, "val_accuracy")
    assert loss[-1] < 0.5 * loss[0]
    assert accuracy[-1] > 0.85


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
    with pytest.raises(UserError, match="has 3 classes, but 'mpnp-c' is made for 2"):
        train(task, tmp_path / "refused", "mpnp-c", **elsewhere)
    for other in others:
        other.x = other.x[:, :1]
    torch.save(others, tmp_path / "others.pt")
    with pytest.raises(UserError, match="has 1 features per node, but the model is made for 2"):
        train(task, tmp_path / "refused", **elsewhere)
    assert not (tmp_path / "refused").exists()


@pytest.mark.parametrize(
    ("line", "model", "rate"), [("automata", "mpnp", 1e-4), ("enzymes", "np", 4e-5), ("interfaces", "np", 6e-5)]
)
def test_the_papers_recipe_is_adam_at_the_tables_rate(line: str, model: str, rate: float) -> None:
    given = Given([graph(10, 20)])
    given.appendix = line
    configuration = configs.config(model, given, "paper")
    plan, network = recipes.recipe("paper", configuration, given), configs.build(configuration)
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


class Own(Network):
    """As a user of PyG would write it; it reads the labels shown."""

    sees_own_label = True

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.conv = GraphConv(config.num_features + config.num_classes, config.num_classes)

    def logits(self, reading: Reading, query: Tensor) -> Tensor:
        episode = reading.episode
        seen = torch.cat([reading.x, episode.shown()], 1)
        return self.conv(seen, plain_edges(episode.graph.edge_index))[query]


def test_a_model_of_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = Scaled([graph(20, 40) for _ in range(8)])
    own = Own(ModelConfig(2, 2, name="own"))
    fitted = fit(task, own, Recipe(epochs=6, learning_rate=0.03, batch_graphs=4), out=tmp_path, progress=False)
    assert fitted.model is own and fitted.metrics["val_nll"] < 0.6
    assert (own.config.task, own.config.class_names) == ("given", ["0", "1"])
    torch.testing.assert_close(own.x_mean, task.graphs("train").x.mean(0))
    assert torch.equal(weights(Own.from_pretrained(tmp_path)), weights(own))
    assert Own.from_pretrained(tmp_path).config == own.config
    with pytest.raises(UserError, match="a class of your own"):
        from_pretrained(tmp_path)
    monkeypatch.setattr(Learner, "training_step", lambda *_: pytest.fail("trained again"))
    plan = Recipe(epochs=6, learning_rate=0.03, batch_graphs=4)
    again = fit(task, Own(ModelConfig(2, 2, name="own")), plan, out=tmp_path, resume=True, progress=False)
    assert torch.equal(weights(again.model), weights(own))


def test_an_own_model_is_tried_before_anything_is_written_and_its_error_is_its_own(tmp_path: Path) -> None:
    class Broken(Own):
        def logits(self, reading: Reading, query: Tensor) -> Tensor:
            raise ZeroDivisionError("mine")

    task = Given([graph(20, 40)])
    with pytest.raises(ZeroDivisionError, match="mine"):
        fit(task, Broken(ModelConfig(2, 2)), out=tmp_path / "out", progress=False)
    with pytest.raises(UserError, match="has 2 features per node, but the model is made for 3"):
        fit(task, Own(ModelConfig(3, 2)), out=tmp_path / "out", progress=False)
    with pytest.raises(UserError, match="given whole"):
        fit(task, configs.build(AmpnpConfig(2, 2)), out=tmp_path / "out", options={"width": 8}, progress=False)
    assert not (tmp_path / "out").exists()


def test_an_error_of_ours_is_not_told_as_the_users(
    automata: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(*_: object) -> Tensor:
        raise IndexError("a bug")

    monkeypatch.setattr("mpnp.models.ampnp.AttentiveMPNP.decode", wrong)
    with pytest.raises(IndexError, match="a bug"):
        train(automata, tmp_path / "out", width=8)


def test_names_configurations_and_recipes_are_one_door(automata: Task, whole: Fitted, tmp_path: Path) -> None:
    configuration = replace(configs.config("ampnp", automata), width=16)  # type: ignore[call-arg]
    plan = replace(recipes.recipe("default", configuration, automata), epochs=4, batch_graphs=8)
    same = fit(automata, configuration, plan, out=tmp_path / "same", progress=False)
    assert torch.equal(weights(same.model), weights(whole.model))
    assert (same.folder / "run.json").read_text() == (whole.folder / "run.json").read_text()


def test_what_comes_with_the_package_learns_on(tmp_path: Path) -> None:
    """With the experts it was made for, which may be fewer than there are now."""
    task, shipped = OwnTask([graph(30, 60) for _ in range(6)]), from_pretrained("universal")
    options = {"most_steps": 1, "epoch_steps": 1}
    fitted = fit(task, "universal", out=tmp_path / "run", epochs=1, progress=False, options=options)
    assert fitted.model.config.experts == shipped.config.experts  # type: ignore[attr-defined]
    assert fitted.metrics["model"]["experts"] == shipped.config.experts  # type: ignore[attr-defined]
    assert not torch.equal(weights(fitted.model), weights(shipped))
    torch.testing.assert_close(weights(fitted.model), weights(shipped), atol=0.1, rtol=0)
    with pytest.raises(UserError, match="whose sizes most_steps, width would change"):
        fit(task, "universal", out=tmp_path / "other", progress=False, options={"most_steps": 1, "width": 8})
