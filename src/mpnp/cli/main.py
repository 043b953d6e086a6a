"""Entry point: finds the command and tells errors in one sentence."""

from __future__ import annotations

import os
import sys
import warnings
from argparse import HelpFormatter
from collections.abc import Sequence
from types import ModuleType
from typing import NoReturn

from jsonargparse import ArgumentParser

from ..errors import UserError
from . import active, calibrate, check, data, demo, evaluate, plot, predict, reproduce, suggest, tasks, train
from .names import filled_in

# What ``mpnp --help`` lists, in this order: each module has HELP, ``arguments`` and ``run``.
COMMANDS: dict[str, ModuleType] = {
    "demo": demo,
    "check": check,
    "tasks": tasks,
    "data": data,
    "train": train,
    "evaluate": evaluate,
    "calibrate": calibrate,
    "predict": predict,
    "plot": plot,
    "suggest": suggest,
    "active": active,
    "reproduce": reproduce,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the ``mpnp`` console script; exits with status 2 on a user's error."""
    try:
        options = _parser().parse_args(_config_first(sys.argv[1:] if arguments is None else arguments))
        with warnings.catch_warnings():
            # What torch, PyG and Lightning say of their own insides helps no one at a prompt.
            warnings.filterwarnings("ignore", module="torch|lightning")
            COMMANDS[options.subcommand].run(options[options.subcommand])
    except UserError as error:
        print(f"mpnp: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(2)
    except UnicodeDecodeError:  # other files are read with care
        print("mpnp: The file of --config is not UTF-8 text; save it as such.", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("\nmpnp: stopped.", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:  # the reader of our output went away, as in '| head'
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        print(f"mpnp: {error.filename or 'a file'}: {error.strerror or error}.", file=sys.stderr)
        sys.exit(2)


class Parser(ArgumentParser):
    """Tells what is wrong with the arguments as all other errors are told."""

    def error(self, message: str, ex: Exception | None = None) -> NoReturn:
        raise UserError(f"{message.rstrip('. ')}; see 'mpnp --help'.") from ex

    def format_help(self, formatter: HelpFormatter | None = None) -> str:
        for action in self._actions:
            action.help = filled_in(action.help) if isinstance(action.help, str) else action.help
        return str(super().format_help(formatter))


def _config_first(arguments: Sequence[str]) -> list[str]:
    """Options given by hand win over those of a file, wherever on the line the file stands."""
    command, rest, config = list(arguments[:1]), list(arguments[1:]), []
    while (at := next((i for i, text in enumerate(rest) if text.partition("=")[0] == "--config"), None)) is not None:
        length = 1 if "=" in rest[at] else 2
        config += rest[at : at + length]
        del rest[at : at + length]
    return [*command, *config, *rest]


def _parser() -> ArgumentParser:
    parser = Parser(prog="mpnp", description="Neural processes on graphs.")
    commands = parser.add_subcommands(required=True)
    for name, module in COMMANDS.items():
        command = Parser(description=module.HELP)
        command.add_argument("--config", action="config", help="read options from a YAML file")
        module.arguments(command)
        commands.add_subcommand(name, command, help=module.HELP)
    return parser
