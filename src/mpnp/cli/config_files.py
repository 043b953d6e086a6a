"""Files for ``--config``, looked over before they are read: nothing in them may grow, nest or hold without end."""

from __future__ import annotations

from pathlib import Path

from ..errors import UserError

LARGEST = 2**20  # characters of a file
DEEPEST = 20  # brackets within brackets
LONGEST = 1000  # characters of a value


def check_file(path: str) -> None:
    """Raise a :class:`UserError` for a file that would take for ever; all else is told by those who read it."""
    try:
        if Path(path).stat().st_size > LARGEST:
            raise UserError(f"The file {path} of --config is too long for options; give one of at most 1 MB.")
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise UserError(f"Cannot read {path}, given as --config: {reason}.") from error
    check_yaml(text, f"In {path}")
    _check_flat(text, path)


def _check_flat(text: str, path: str) -> None:
    """Options are values and lists of values; one of them names no other file, which would not have been looked over."""
    import yaml

    try:
        content = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError):
        return  # told by the one who reads it
    for name, value in content.items() if isinstance(content, dict) else ():
        if name == "config":
            raise UserError(f"In {path}: '{name}' is given; give every file by a --config of its own.")
        if any(isinstance(one, dict) for one in (value, *(value if isinstance(value, list) else ()))):
            raise UserError(f"In {path}: '{name}' holds names and values; a value, or a list of values, is expected.")


def check_yaml(text: str, where: str) -> None:
    """Raise a :class:`UserError` if YAML has aliases, deep nesting or endless values; what is no YAML at all passes."""
    import yaml

    depth = 0
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if isinstance(event, yaml.AliasEvent):
                raise UserError(f"{where}: the alias *{event.anchor} is not read here; write out what it stands for.")
            if depth > DEEPEST:
                raise UserError(f"{where}: brackets are nested more than {DEEPEST} deep; no option is like that.")
            if isinstance(event, yaml.ScalarEvent) and len(event.value) > LONGEST:
                raise UserError(f"{where}: a value of {len(event.value)} characters is given; no option is like that.")
    except yaml.YAMLError:
        return  # told, with the line, by the one who reads it
