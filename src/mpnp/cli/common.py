"""What several commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonargparse import ArgumentParser, Namespace

from ..defaults import DRAWS, READY, SAMPLES
from ..errors import UserError

if TYPE_CHECKING:
    from ..prediction import Predictor
    from ..tasks import Task


def add_scoring(parser: ArgumentParser) -> None:
    """The options of every command that scores a predictor on test graphs and prints a table."""
    parser.add_argument("--draws", type=int, default=DRAWS, help="context draws per rate")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="latent samples")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def add_model_and_graph(parser: ArgumentParser) -> None:
    """What to ask, if not the model that comes with the package, and about what."""
    parser.add_argument(
        "given",
        type=str,
        nargs="+",
        metavar="[MODEL] GRAPH",
        help="a model folder or one of {predictors} (default: " + READY + "), and your graphs: {files}",
    )


def model_and_graph(options: Namespace) -> tuple[str, str]:
    """The name of the model and the path of the graphs."""
    if len(options.given) > 2:
        raise UserError(f"{len(options.given)} arguments were given, [MODEL] GRAPH is expected; see 'mpnp --help'.")
    return (READY, options.given[0]) if len(options.given) == 1 else (options.given[0], options.given[1])


def at_least(options: Namespace, **lowest: int) -> None:
    for name, low in lowest.items():
        value = options[name]
        if value is not None and value < low:
            raise UserError(f"--{name.replace('_', '-')} {value} was given, at least {low} is expected.")
        if name == "seed" and value >= 2**32:
            raise UserError(f"--seed {value} was given, less than 2^32 is expected.")


def set_threads(options: Namespace) -> None:
    import torch

    if options.threads:
        torch.set_num_threads(options.threads)


def predictor_and_task(name: str, task: str | None) -> tuple[Predictor, Task]:
    """The predictor ``name``, and ``task``, by default the one it was trained on."""
    from ..models import find_predictor
    from ..tasks import get_task

    predictor, trained_on = find_predictor(name)
    wanted = task or trained_on
    if wanted is None:
        raise UserError(f"'{name}' is not bound to a task; say which with --task, as --task ca/small-world.")
    return predictor, get_task(wanted)
