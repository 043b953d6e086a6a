"""The house itself: rooms that can be found by name, and imports that point one way."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "mpnp"
# From the ground up. A module may import its own storey and those below; the rooms of one line do not know each other.
STOREYS = (
    ("errors", "defaults", "progress"),
    ("files",),
    ("graphs",),
    ("episode",),
    ("prediction",),
    ("nn", "experts"),
    ("tasks", "models"),
    ("evaluation",),
    ("training", "own"),
    ("active",),
    ("plots",),
    ("classifier",),
    ("reproduce", "studio"),
    ("cli",),
)
HEIGHT = {room: height for height, rooms in enumerate(STOREYS) for room in rooms}
# Seen across a line: a preset's sizes come from a task, which is all it knows of one.
ALLOWED = {("models", "tasks")}
# Tests of what no single module does: every model's contract, what is refused, runs that are interrupted, the docs.
ACROSS = {"models/test_contract", "models/test_plain", "cli/test_refusals", "training/test_fit_refusals",
          "training/test_interruption", "studio/test_page", "studio/test_hostile", "test_layout", "test_docs", "test_extras", "test_wheel"}  # fmt: skip


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def room(module: Path) -> str:
    return module.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(module: Path) -> set[str]:
    """The rooms that a module imports from, anywhere in it."""
    package = ("mpnp", *module.relative_to(PACKAGE).parent.parts)
    found = set()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = (*package[: len(package) - node.level + 1], *(node.module or "").split("."))
            names = [*base[1:2]] if base[1:2] != ("",) else [alias.name for alias in node.names]
            found |= {name for name in names if name in HEIGHT}
    return found


@pytest.mark.parametrize("module", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down(module: Path) -> None:
    here = room(module)
    if here == "__init__":  # the front door knows every room
        return
    for other in imported(module) - {here}:
        below = HEIGHT[other] < HEIGHT[here] or (here, other) in ALLOWED
        assert below, f"{module.relative_to(PACKAGE)} imports from {other}, which lies above it"


def test_every_room_is_on_a_storey() -> None:
    assert {room(module) for module in modules()} - {"__init__"} == set(HEIGHT)


def test_the_entrance_is_not_crowded() -> None:
    assert len([path for path in PACKAGE.glob("*.py") if path.name != "__init__.py"]) <= 8


def test_tests_mirror_the_tree() -> None:
    tests = {str(path.relative_to(ROOT / "tests").with_suffix("")) for path in (ROOT / "tests").rglob("test_*.py")}
    for test in tests - ACROSS:
        folder, _, name = test.rpartition("test_")
        tested = (PACKAGE / folder / f"{name}.py", ROOT / folder / f"{name}.py", ROOT / folder / name / "__main__.py")
        assert any(path.exists() for path in tested), f"tests/{test}.py tests no module"


def test_programs_that_measure_are_not_called_like_modules_of_the_package() -> None:
    taken = {path.stem for path in modules()} - {"__init__", "__main__"}
    assert not taken & {path.stem for path in (ROOT / "studies").rglob("*.py")} - {"__main__"}


def test_results_hold_data_alone() -> None:
    assert not list((ROOT / "results").rglob("*.py"))
