"""What mpnp stands on: the lowest versions it promises, as constraints for pip, and a page of all packages with licences."""

from __future__ import annotations

import argparse
import re
import tomllib
from importlib import metadata
from pathlib import Path

from mpnp.files import replacing

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "dependencies.md"
PINNED = ("torch",)  # older builds for the CPU alone are not to be had everywhere
EXTRAS = (
    "train",
    "plot",
    "hub",
    "studio",
    "tables",
)  # of those that are tested at their lowest; Ray has a wheel for every Python of its own
NAME = re.compile(r"[A-Za-z0-9._-]+")


def declared() -> dict[str, list[str]]:
    """What pyproject.toml asks for, by group: '' for what is always needed, else the name of the extra; extras of extras go."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = {"": project["dependencies"], **project["optional-dependencies"]}
    return {group: [one for one in wanted if not one.startswith("mpnp[")] for group, wanted in groups.items()}


def locked() -> dict[str, str]:
    """The versions in constraints.txt, by name in lower case."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return {_key(name): version for name, _, version in (line.partition("==") for line in lines) if version}


def oldest() -> list[str]:
    """The lowest version of every direct dependency, as pip takes them: ``numpy==2.0``."""
    found = []
    for group in ("", *EXTRAS):
        for requirement in declared()[group]:
            name = NAME.match(requirement)
            assert name is not None, requirement
            low = requirement.partition(">=")[2].partition(",")[0].strip()
            found.append(f"{name[0]}=={locked()[_key(name[0])] if name[0] in PINNED else low}")
    return found


def page() -> str:
    """Every package that is installed with mpnp, its version and licence, and who asks for it."""
    groups = {
        _key(name[0]): group or "always"
        for group, wanted in reversed(declared().items())
        for one in wanted
        if (name := NAME.match(one))
    }
    rows = []
    for key, version in sorted(locked().items()):
        try:
            about = metadata.metadata(key)
        except metadata.PackageNotFoundError:
            continue
        rows.append(f"| {about['Name']} | {version} | {_licence(about)} | {groups.get(key, 'by others')} |")
    head = [
        "# Dependencies and their licences",
        "",
        "Written by `python -m campaigns dependencies` from `constraints.txt`, which is the lock that development and tests use,",
        "and from what the packages say of themselves. Why each direct one is there: [architecture.md](architecture.md).",
        "*Needed*: always, for an extra of that name (`pip install 'mpnp[studio]'`), or by other packages in the list.",
        "",
        "The lowest versions in `pyproject.toml` are tested by `make test-oldest`, with the locked torch.",
        "",
        "| package | tested version | licence | needed |",
        "|---|---|---|---|",
    ]
    return "\n".join([*head, *rows, ""])


def _licence(about: metadata.PackageMetadata) -> str:
    """In a few words: an SPDX expression, else the classifiers, else the first line of what is given."""
    if "License-Expression" in about:
        return str(about["License-Expression"])
    named = [text.rpartition(" :: ")[2] for text in about.get_all("Classifier") or [] if text.startswith("License ::")]
    given = (about.get_all("License") or ["see the package"])[0]
    return (", ".join(named) or given.strip().splitlines()[0]).replace("|", "/")[:60]


def _key(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def main(given: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m campaigns dependencies", description=__doc__)
    parser.add_argument(
        "--oldest", action="store_true", help="print the lowest versions, a line each, and write nothing"
    )
    if parser.parse_args(given).oldest:
        print("\n".join(oldest()))
        return
    with replacing(PAGE) as temporary:
        temporary.write_text(page(), encoding="utf-8")
