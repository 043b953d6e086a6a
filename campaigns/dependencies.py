"""What mpnp stands on: the lowest versions it promises, as constraints for pip, and a page of all packages with licences."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import textwrap
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

from mpnp.files import replacing, write_json

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "dependencies.md"
WHEELS = ROOT / "results" / "reliability" / "wheels.json"
PYTHONS = ("3.11", "3.12", "3.13")
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64", "any")
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
        *_pythons(),
        "",
        "| package | tested version | licence | needed |",
        "|---|---|---|---|",
    ]
    return "\n".join([*head, *rows, ""])


def _pythons() -> list[str]:
    """What is known of Pythons other than the one that all tests run with."""
    found = json.loads(WHEELS.read_text(encoding="utf-8"))
    lacking = [f"{name} for {python}" for python, about in found.items() for name in about["missing"]]
    text = (
        f"All tests run with Python {PYTHONS[0]}. All {len(locked())} packages of the lock have a wheel for Linux on x86-64 for "
        f"{' and '.join(found)}, too{' but ' + ', '.join(lacking) if lacking else ''}, as `python -m campaigns dependencies "
        "--wheels` found. What needs no torch passes its tests there, and every file compiles with warnings as errors (`make "
        "test-python PYTHON=python3.13`). The workflow in `.github` runs all tests with each of them; that all pass has been seen "
        f"with {PYTHONS[0]} alone."
    )
    return textwrap.wrap(text, 118, break_long_words=False, break_on_hyphens=False)


def wheels(python: str) -> dict[str, Any]:
    """Whether every locked package has a wheel for another Python: how many were looked for, and what pip says is missing.

    Nothing is installed. Of torch only the list of wheels is asked for, since the file is huge.
    """
    about = ["--only-binary=:all:", "--python-version", python, "--implementation", "cp"]
    about += [word for platform in PLATFORMS for word in ("--platform", platform)]
    pip, versions = [sys.executable, "-m", "pip"], locked()
    missing = []
    with tempfile.TemporaryDirectory() as folder:
        wanted = [f"{name}=={version}" for name, version in versions.items() if name not in PINNED]
        done = _told([*pip, "install", "--quiet", *about, "--dry-run", "--no-deps", "--target", folder, *wanted])
        missing += [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
    for name in PINNED:
        listed = _told([*pip, "index", "versions", name, *about]).stdout
        if versions[name] not in re.split(r"[\s,()]+", listed):
            missing.append(f"{name}=={versions[name]}")
    return {"packages": len(versions), "missing": missing}


def _told(words: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True)


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
    parser.add_argument("--wheels", action="store_true", help=f"ask pip for wheels for {', '.join(PYTHONS[1:])} first")
    options = parser.parse_args(given)
    if options.oldest:
        print("\n".join(oldest()))
        return
    if options.wheels:
        found = {python: wheels(python) for python in PYTHONS[1:]}
        with replacing(WHEELS) as temporary:
            write_json(temporary, found)
    with replacing(PAGE) as temporary:
        temporary.write_text(page(), encoding="utf-8")
