"""What several commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from jsonargparse import ArgumentParser, Namespace

from ..defaults import DRAWS, READY, SAMPLES
from ..errors import UserError
from .names import check_graph, check_model, check_task

if TYPE_CHECKING:
    import torch

    from ..prediction import Predictor
    from ..tasks import OwnGraphs, Task


# More than this no one means, and it would take for ever, or all memory.
MOST = {"samples": 10_000, "threads": 1024, "draws": 100_000, "jobs": 1024, "seeds": 10_000, "epochs": 10_000_000}


def add_computing(
    parser: ArgumentParser, *, samples: bool = False, seed: bool = True, json: bool = True, device: bool = True
) -> None:
    """The options of every command that computes: on what, with which chance, and how it tells."""
    group = parser.add_argument_group("how it is computed and told")
    if samples:
        group.add_argument("--samples", type=int, default=SAMPLES, metavar="N", help="latent samples")
    if seed:
        group.add_argument("--seed", type=int, default=0, metavar="N", help="same seed, same result")
    group.add_argument("--threads", type=int, default=None, metavar="N", help="processor threads (default: all)")
    if device:
        group.add_argument(
            "--device",
            type=Literal["auto", "cpu", "cuda", "mps"],
            default="cpu",
            metavar="NAME",
            help="auto, cpu, cuda or mps; auto: an Nvidia GPU if there is one",
        )
    if json:
        group.add_argument("--json", action="store_true", help="one JSON object on standard output")


def add_scoring(parser: ArgumentParser) -> None:
    """The options of every command that scores a predictor on test graphs and prints a table."""
    parser.add_argument("--draws", type=int, default=DRAWS, metavar="N", help="context draws per rate")
    add_computing(parser, samples=True)


def add_model_and_graph(parser: ArgumentParser) -> None:
    """What to ask, if not the model that comes with the package, and about what."""
    parser.add_argument(
        "given",
        type=str,
        nargs="+",
        metavar="[MODEL] GRAPH",
        help="a model folder or one of {predictors} (default: " + READY + "), and your graphs: {files}",
    )


def add_reading(parser: ArgumentParser) -> None:
    """How a user's graphs are read, where they do not say it themselves."""
    parser.add_argument(
        "--label-column",
        type=str,
        default=None,
        metavar="NAME",
        help="the column of labels (default: label, class, target)",
    )
    parser.add_argument("--directed", action="store_true", help="edges of tables go one way, from source to target")
    parser.add_argument("--ignore", type=str, nargs="+", default=[], metavar="NAME", help="columns to leave out")


def reading(options: Namespace) -> dict[str, Any]:
    """What was said of it, in the words of ``as_graphs``."""
    said = {"label_column": options.label_column, "directed": options.directed or None, "ignore": options.ignore}
    return {name: value for name, value in said.items() if value}


def read_for(graph: str, options: Namespace, *predictors: Predictor) -> OwnGraphs:
    """The graphs at a path, read as was said and as the models know them."""
    from ..evaluation.given import reading_of
    from ..tasks.own import load_graphs

    return load_graphs(graph, **reading_of(*predictors), **reading(options))


def notes_on(own: OwnGraphs, *predictors: Predictor) -> list[str]:
    """What was inferred, imputed and ignored, and what of the edges a model makes no use of."""
    from ..own.advice import unused

    return [*own.notes, *(sentence for one in predictors for sentence in unused(one, own))]


def model_and_graph(options: Namespace) -> tuple[str, str]:
    """The name of the model and the path of the graphs, both of which are there."""
    if len(options.given) not in (1, 2):
        raise UserError(f"{len(options.given)} arguments were given, [MODEL] GRAPH is expected; see 'mpnp --help'.")
    model, graph = (READY, options.given[0]) if len(options.given) == 1 else options.given
    check_model(model)
    check_graph(graph)
    return model, graph


def at_least(options: Namespace, **lowest: int) -> None:
    for name, low in lowest.items():
        value = options[name]
        if value is not None and value < low:
            raise UserError(f"--{name.replace('_', '-')} {value} was given, at least {low} is expected.")
        if name == "seed" and value >= 2**32:
            raise UserError(f"--seed {value} was given, less than 2^32 is expected.")
        if value is not None and value > MOST.get(name, value):
            raise UserError(f"--{name.replace('_', '-')} {value} was given, at most {MOST[name]} is expected.")


def set_up(options: Namespace) -> torch.device:
    """Take as many threads as asked for; the device to compute on."""
    import torch

    from ..nn.devices import find_device

    if options.threads:
        torch.set_num_threads(options.threads)
    return find_device(options.get("device", "cpu"))


def predictor_on(device: torch.device, name: str) -> tuple[Predictor, str | None]:
    """The predictor ``name`` on a device, and the task it was trained on."""
    import torch

    from ..models import find_predictor

    predictor, trained_on = find_predictor(name)
    if isinstance(predictor, torch.nn.Module):
        predictor.to(device)
    return predictor, trained_on


def predictor_and_task(device: torch.device, name: str, task: str | None, **reading: Any) -> tuple[Predictor, Task]:
    """The predictor ``name`` on a device, and ``task``, by default the one it was trained on; own graphs are read as a model
    knows them."""
    from ..evaluation.given import as_task
    from ..tasks import get_task

    predictor, trained_on = predictor_on(device, name)
    wanted = task or trained_on
    if wanted is None:
        raise UserError(f"'{name}' is not bound to a task; say which with --task, as --task ca/small-world.")
    return predictor, as_task(get_task(wanted, **reading), predictor)


def check_names(model: str, task: str | None = None) -> None:
    """Refuse a model or a task that is not there, before torch is imported."""
    check_model(model)
    if task is not None:
        check_task(task)
