"""Graphs in place of a task."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch_geometric.data import Data

import mpnp
from mpnp.errors import UserError
from mpnp.evaluation.calibrate import calibrate
from mpnp.evaluation.evaluate import evaluate
from mpnp.evaluation.given import as_task, known_classes
from mpnp.models import configs
from mpnp.models.mode import Mode

from ..rings import Rings


def ring(classes: int = 2) -> Data:
    around = torch.arange(20)
    return Data(x=torch.rand(20, 1), edge_index=torch.stack([around, around.roll(1)]), y=around % classes)


def test_a_task_stays_what_it_is() -> None:
    task = Rings()
    assert as_task(task, Mode()) is task


def test_one_graph_or_several_are_a_task_that_holds_nothing_out() -> None:
    one, several = as_task(ring()), as_task([ring(), ring(3)], Mode())
    assert [len(one.graphs(split)) for split in ("train", "val", "test")] == [1, 1, 1]
    assert (len(several.graphs("test")), several.num_classes, several.num_features) == (2, 3, 1)


def test_classes_of_a_model_stay_possible() -> None:
    torch.manual_seed(0)
    model = configs.build(configs.config("ampnp", Rings()))
    assert (known_classes(model), known_classes(Mode())) == (2, None)
    only = ring()
    only.y = torch.zeros(20, dtype=torch.long)
    assert as_task(only, model).num_classes == 2 and as_task(only, Mode()).num_classes == 1
    assert as_task(ring(5), model).num_classes == 5


def test_predictors_are_scored_and_calibrated_on_graphs() -> None:
    table = evaluate(Mode(), ring(), [0.5], draws=1)
    assert (table.task, table.data) == ("graphs", "given") and 0 <= table.at(0.5).accuracy <= 1
    assert calibrate(Mode(), [ring(), ring()], draws=1).task == "graphs"


@pytest.mark.parametrize("given", ["ca/small-world", Path("graphs.pt"), [1, 2], None, {"x": 1}])
def test_anything_else_is_refused(given: Any) -> None:
    with pytest.raises(UserError, match="a PyG Data, a list of them or a task is expected"):
        evaluate(Mode(), given)


@pytest.mark.parametrize("given", ["mode", Path("runs/mine"), None, torch.nn.Linear(1, 1)])
def test_a_predictor_is_an_object_too(given: Any) -> None:
    for act in (mpnp.evaluate, mpnp.calibrate, mpnp.suggest, mpnp.plot):
        with pytest.raises(UserError, match=r"a predictor is expected; mpnp\.from_pretrained"):
            act(given, ring())
    with pytest.raises(UserError, match="a predictor is expected"):
        mpnp.replay(given, ring(), [], 1)
