"""Docstrings as Markdown: roles become links, formulas and literal blocks are written as Markdown has them."""

from __future__ import annotations

import re
import textwrap
from typing import Any

import griffe

import mpnp
from mpnp import defaults

ROLE = re.compile(r":(func|class|meth|mod|attr|data):`~?([\w.]+)`")
INLINE = re.compile(r":math:`([^`]+)`")
FORMULA = re.compile(r"^\.\. math::(.*\n(?:[ \t]+.*\n?|\n)*)", re.MULTILINE)


def as_markdown(text: str) -> str:
    text = FORMULA.sub(lambda found: f"$$\n{textwrap.dedent(found[1]).strip()}\n$$\n\n", text)
    text = INLINE.sub(r"$\1$", text)
    text = ROLE.sub(lambda found: _link(*found.groups()), text)
    return re.sub(r"::$", ":", text, flags=re.MULTILINE)


def _link(role: str, name: str) -> str:
    last = name.rpartition(".")[2]
    return f"[`{last}`][mpnp.{last}]" if role in ("func", "class") and last in mpnp.__all__ else f"`{last}`"


class Markdown(griffe.Extension):
    """What mkdocstrings calls for every documented object; shared defaults are shown by their value, not their name."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = as_markdown(obj.docstring.value)
        for parameter in obj.parameters if isinstance(obj, griffe.Function) else ():
            if str(parameter.default) in vars(defaults):
                parameter.default = repr(vars(defaults)[str(parameter.default)])
