"""Help texts: the commands in groups, and options in plain words."""

from __future__ import annotations

import re
import textwrap
from argparse import SUPPRESS, Action, HelpFormatter
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

from jsonargparse import ArgumentParser, DefaultHelpFormatter

from ..errors import NEAR, UserError
from .names import filled_in


class Plain(DefaultHelpFormatter):
    """Says of an option what it does and what it is otherwise; neither its type nor that it is nothing by default."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **{**named, "max_help_position": 28})

    def _get_help_string(self, action: Action) -> str:
        text = action.help or ""
        said = "default" in text or action.default in (None, False, SUPPRESS, [])
        return text if said or not action.option_strings else f"{text} (default: %(default)s)".lstrip()


class Parser(ArgumentParser):
    """Tells what is wrong with the arguments as all other errors are told."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **{"formatter_class": Plain, **named})
        self.takes: dict[str, str] = {}  # arguments without dashes, as they are shown
        self.options: list[str] = []  # those with dashes

    def error(self, message: str, ex: Exception | None = None) -> NoReturn:
        said, meant = _plainly(message, self.takes), self._meant(message)
        raise UserError(f"{said}{f': did you mean {meant}? See' if meant else '; see'} '{self.prog} --help'.") from ex

    def _meant(self, message: str) -> str | None:
        """The option that was nearly written, if there is one."""
        wrong = re.search(r"nrecognized arguments: (--[\w-]+)", message)
        near = get_close_matches(wrong[1], self.options, 1, NEAR) if wrong else []
        return near[0] if near else None

    def format_help(self, formatter: HelpFormatter | None = None) -> str:
        for action in self._actions:
            if "--print_config" in action.option_strings:  # works, and is in the documentation
                action.help = SUPPRESS
            elif "--help" in action.option_strings:
                action.help = "show this text"
            elif isinstance(action.help, str):
                action.help = filled_in(action.help)
        return str(super().format_help(formatter))

    def named(self, prog: str) -> None:
        """Call it ``prog``, and tell how it is used in one line: what it takes, then options."""
        self.prog = prog
        takes = [action for action in self._actions if not action.option_strings and action.dest != SUPPRESS]
        self.takes = {action.dest: _written(action) for action in takes}
        self.options = [one for action in self._actions if action.help != SUPPRESS for one in action.option_strings]
        self.usage = " ".join([prog, *self.takes.values(), "[options]"])


def _written(action: Action) -> str:
    name = str(action.metavar or action.dest.upper())
    if name.startswith("{"):  # choices, which the text below names
        name = action.dest.upper()
    several = {"*": f"[{name} ...]", "?": f"[{name}]", "+": name if "[" in name else f"{name} ..."}
    return several.get(str(action.nargs), name)


KINDS = {"int": "a whole number", "float": "a number", "str": "a text", "bool": "true or false"}
WRONG = re.compile(r'Parser key "(?P<name>[^"]+)": Expected a (?P<kind>.+?)\. Got value: (?P<value>.*)')


def _plainly(message: str, takes: Mapping[str, str]) -> str:
    """The parser's own words without what only its authors understand; ``takes``: arguments without dashes, as they are shown."""
    text = " ".join(message.split()).rstrip(". ")
    if wrong := WRONG.fullmatch(text):
        name, kind, value = wrong["name"], wrong["kind"], wrong["value"]
        if "Literal[" in kind:
            expected = "one of " + ", ".join(re.findall(r"'([^']*)'", kind))
        else:
            found = [words for word, words in KINDS.items() if re.search(rf"\b{word}\b", kind)]
            expected = " or ".join(found) or "something else"
        return f"{takes.get(name, '--' + name.replace('_', '-'))} {value} was given, {expected} is expected"
    for before, after in (
        ("the following arguments are required: ", "missing: "),
        ("Unrecognized arguments: ", "there is no option "),
        ("unrecognized arguments: ", "there is no option "),
        ('Parser key "', '"'),
    ):
        text = text.replace(before, after)
    for name, shown in takes.items():
        text = re.sub(rf"(?<=missing: )(?:\w+\.)?{name}\b", shown.replace("\\", r"\\"), text)
    return text


def overview(groups: Mapping[str, Sequence[str]], says: Mapping[str, str]) -> str:
    """What bare ``mpnp`` shows: every command in its group, with what it is for."""
    width = max(map(len, says)) + 4
    lines = ["Neural processes on graphs: label a few nodes, predict the others, know how sure you are.", ""]
    lines += ["usage: mpnp COMMAND [options]        'mpnp COMMAND --help' tells more"]
    for title, names in groups.items():
        lines += ["", title]
        for name in names:
            lines += _wrapped(f"  {name:<{width - 2}}", says[name])
    lines += ["", "  --version, --help", ""]
    return "\n".join(lines)


def _wrapped(start: str, text: str) -> list[str]:
    return textwrap.wrap(text, 96, initial_indent=start, subsequent_indent=" " * len(start))
