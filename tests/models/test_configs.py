"""Models by name have the sizes the paper gives, and count as many parameters as its formulas."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mpnp.errors import UserError
from mpnp.models.configs import PAPER_FAMILY, PRESETS, build, config, flagship_fields
from mpnp.models.neural_process import NeuralProcess, NeuralProcessConfig
from mpnp.nn.backbones import Dense, Maxout, MessagePassing, Relational, Stack
from mpnp.tasks import Task, get_task
from mpnp.tasks.properties import Properties

from .sizes import SizesOnly


def count(model: str, task: Task, recipe: str) -> int:
    return sum(p.numel() for p in build(config(model, task, recipe)).parameters())


def linear(width_in: int, width_out: int) -> int:
    return width_in * width_out + width_out


def passing(width_in: int, width_out: int) -> int:
    """W_skip and W_MP, one bias."""
    return 2 * width_in * width_out + width_out


def test_number_of_parameters_of_mpnp_on_automata() -> None:
    features, classes, h, r, z = 2, 2, 64, 64, 128
    maxout = 2 * linear(h, h)
    encoder = passing(features + classes, h) + 3 * linear(h, h) + maxout + linear(h, r)
    latent = linear(r, r) + 2 * linear(r, z)
    decoder = passing(features, h) + 3 * linear(h, h) + maxout + linear(h + z, h) + 2 * linear(h, h)
    stand_in = r
    shared = encoder + stand_in + latent + decoder
    paper = shared + linear(h, 2 * classes)  # a mean and a scale per class
    norms = 12 * 2 * h  # after every layer with a ReLU: 5 in the encoder, 7 in the decoder
    default = shared + linear(h, classes) + norms
    assert (paper, default) == (88_452, 89_858)
    by_class = (classes - 1) * r + (classes - 1) * r * r  # a stand-in and rows of the latent head for each class more
    assert count("mpnp", get_task("ca/small-world"), "default") == default
    assert count("mpnp-c", get_task("ca/small-world"), "default") == default + by_class
    for model in ("mpnp", "mpnp-c"):  # under the paper's recipe automata are read by class, whatever the name
        assert count(model, get_task("ca/small-world"), "paper") == paper + by_class


def test_number_of_parameters_of_np_on_automata() -> None:
    features, classes, h, r, z = 2, 2, 64, 64, 128
    observe = linear(2 * h, h) + 2 * linear(h, h) + 2 * linear(h, h)  # three linear layers, maxout
    encoder = linear(features + classes, 2 * h) + observe + linear(h, r)
    latent = linear(r, r) + 2 * linear(r, z)
    decoder = linear(features, 2 * h) + observe + linear(h + z, h) + 2 * linear(h, h)
    by_class = (classes - 1) * r + (classes - 1) * r * r
    paper = encoder + r + latent + decoder + linear(h, 2 * classes) + by_class
    assert paper == 96_772 + by_class
    assert count("np", get_task("ca/small-world"), "paper") == paper


@pytest.mark.parametrize("task", ["shapenet/table", "tud/dhfr", "ppisp"])
def test_elsewhere_the_papers_recipe_has_one_mean_as_the_name_says(task: str) -> None:
    for recipe in ("default", "paper"):
        plain, by_class = (config(name, get_task(task), recipe) for name in ("mpnp", "mpnp-c"))
        assert isinstance(plain, NeuralProcessConfig) and isinstance(by_class, NeuralProcessConfig)
        assert by_class.by_class and not plain.by_class and not plain.keep_share


def test_number_of_parameters_of_mpnp_on_molecules() -> None:
    features, classes, h, r, z = 18, 3, 64, 128, 256
    encoder = linear(features + classes, h) + 2 * passing(h, h) + linear(h, r)
    latent = linear(r, r) + 2 * linear(r, z)
    decoder = linear(features + z, h) + 2 * passing(h, h) + linear(h, h)
    paper = encoder + r + latent + decoder + linear(h, 2 * classes)
    assert paper == 147_590
    task = SizesOnly("any", features, classes, appendix="enzymes")
    assert count("mpnp", task, "paper") == paper
    relations = 3
    more = 4 * (relations - 1) * h * h  # two relational layers in encoder and decoder
    assert count("r-mpnp", SizesOnly("any", features, classes, relations, "enzymes"), "paper") == paper + more


# The appendix: (h, r, z, message passing layers) of np, np-c, mpnp, mpnp-c.
APPENDIX: dict[str, list[tuple[int, int, int, int]]] = {
    "enzymes": [(64, 128, 512, 0), (64, 128, 512, 0), (64, 128, 256, 2), (64, 96, 288, 2)],
    "proteins": [(64, 64, 512, 0), (64, 96, 288, 0), (64, 128, 256, 2), (64, 96, 288, 2)],
    "molecules": [(64, 64, 512, 0), (64, 64, 512, 0), (64, 128, 256, 1), (64, 128, 256, 1)],
    "mixed shapes": [(64, 64, 512, 0), (64, 64, 512, 0), (64, 128, 256, 2), (64, 128, 256, 2)],
    "shapes": [(64, 64, 512, 0), (64, 64, 512, 0), (64, 128, 256, 2), (64, 128, 256, 2)],
    "transductive citations": [(64, 64, 64 * 3, 0), (64, 64, 64 * 3, 0), (64, 64, 64 * 3, 2), (64, 64, 64 * 3, 2)],
    "few-shot citations": [(64, 64, 64 * 3, 0), (64, 64, 64 * 3, 0), (64, 64, 64 * 3, 2), (64, 64, 64 * 3, 2)],
    "interfaces": [(64, 64, 256, 0), (64, 64, 256, 0), (64, 64, 256, 2), (64, 64, 256, 2)],
    "automata": [(64, 64, 128, 0), (64, 64, 128, 0), (64, 64, 128, 1), (64, 64, 128, 1)],
}


def widths(stack: Stack) -> list[int]:
    out = []
    for layer in stack.layers:
        if isinstance(layer, Maxout):
            out.append(layer.pieces.out_features // 2)
        elif isinstance(layer, MessagePassing | Relational):
            out.append(layer.skip.out_features)
        else:
            assert isinstance(layer, Dense)
            out.append(layer.out_features)
    return out


class Automaton(SizesOnly):
    by_rule = True


@pytest.mark.parametrize("recipe", ["default", "paper"])
@pytest.mark.parametrize("name", PAPER_FAMILY)
@pytest.mark.parametrize("line", APPENDIX)
def test_widths_are_those_of_the_papers_table(line: str, name: str, recipe: str) -> None:
    h, r, z, layers = APPENDIX[line][("np", "np-c", "mpnp", "mpnp-c").index(name.removeprefix("r-"))]
    classes = 3
    automaton = line == "automata"
    task = (Automaton if automaton else SizesOnly)("any", 4, classes, relations=2, appendix=line)
    model = build(config(name, task, recipe))
    assert isinstance(model, NeuralProcess)
    first = h if layers or not automaton else 2 * h
    inner = [h] * 4 if automaton else [h] * (layers or 1)
    last = [r] if automaton else []  # elsewhere the last linear map stands behind the mean
    assert widths(model.encoder) == [first, *inner, *last]
    assert (model.aggregator.project is None) == automaton
    assert automaton or model.aggregator.project.out_features == r
    assert widths(model.decoder) == [first, *inner, *([h] * 3 if automaton else [h])]
    kind = Relational if name == "r-mpnp" else MessagePassing
    for stack in (model.encoder, model.decoder):
        assert sum(isinstance(layer, kind) for layer in stack.layers) == layers
        assert sum(isinstance(layer, MessagePassing | Relational) for layer in stack.layers) == layers
    by_class = name.endswith("-c") or (automaton and recipe == "paper")
    assert model.aggregator.out_width == (classes * r if by_class else r)
    assert (model.latent_head.hidden.out_features, model.latent_head.mean.out_features) == (r, z)
    assert model.head.out_features == (2 * classes if recipe == "paper" else classes)


def test_unknown_models_are_refused() -> None:
    with pytest.raises(UserError, match="did you mean 'ampnp'"):
        config("ampn", SizesOnly("tud/enzymes", 5, 3))


PLAIN = Properties(graphs=100, nodes=50, features=4, classes=3)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, {"class_embedding": True}),
        ({"labels": "arbitrary"}, {"class_embedding": False, "regression": True}),
        ({"labels": "arbitrary", "transductive": True}, {"class_embedding": False}),
        ({"labels": "by rule"}, {"local": False, "refine": 0}),
        ({"places": True}, {"class_embedding": True, "nearby": True, "whole": True}),
        ({"places": True, "graphs": 501}, {"class_embedding": True, "nearby": True, "whole": True, "octaves": 4}),
        ({"places": True, "graphs": 501, "labels": "arbitrary"}, {"class_embedding": False}),
        ({"amounts": True}, {"class_embedding": True, "logs": True}),
        ({"classes": 9}, {"class_embedding": True, "depth": 3}),
        ({"features": 16}, {"class_embedding": True, "dropout": 0.2}),
        ({"features": 16, "transductive": True}, {"class_embedding": True}),
        ({"features": 32}, {"class_embedding": True, "dropout": 0.3}),
        ({"features": 64}, {"class_embedding": True, "dropout": 0.3, "reaches": (2, 8, 40)}),
    ],
    ids=str,
)
def test_the_flagship_follows_from_what_a_task_is(changes: dict[str, object], expected: dict[str, object]) -> None:
    assert flagship_fields(replace(PLAIN, **changes)) == expected  # type: ignore[arg-type]


def test_a_preset_does_not_look_at_the_name_of_a_task() -> None:
    for model in PRESETS:
        one, other = (config(model, SizesOnly(name, 5, 3)) for name in ("ca/small-world", "shapenet/lamp"))
        assert replace(one, task="") == replace(other, task="")
