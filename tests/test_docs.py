"""What is written about the project: code that runs, links that lead somewhere, lines that fit, versions that agree."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from docs import run
from mkdocs.commands.build import build
from mkdocs.config import load_config

import mpnp
from mpnp.cli.main import COMMANDS

ROOT = Path(__file__).parents[1]
# Written by hand; docs/results.md and the pages under results/ are written by programs.
PAGES = sorted([*ROOT.glob("*.md"), *(page for page in (ROOT / "docs").rglob("*.md") if page.name != "results.md")])


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def prose(page: Path) -> list[str]:
    """The lines of a page outside of tables, code blocks and pictures."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return [line for line in text.splitlines() if not line.startswith(("|", "    ", "![", "<!--"))]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_lines_of_prose_fit(page: Path) -> None:
    assert [line for line in prose(page) if len(line) > 120] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
    assert [t for t in targets if "://" not in t and not (page.parent / t).exists()] == []


@pytest.mark.parametrize("page", [page for page in PAGES if run.blocks(page.read_text(encoding="utf-8"))], ids=name_of)
def test_code_runs(page: Path, tmp_path: Path) -> None:
    """Every block of the page, one epoch of everything; those marked as not run are checked as far as their options go."""
    done = run.run(page, tmp_path, quick=True)
    if done.lacking:
        pytest.skip(f"{len(done.outputs)} blocks ran; others need data: {' '.join(done.lacking)}")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_in_indented_blocks_know_their_options(page: Path) -> None:
    for command in run.indented_commands(page.read_text(encoding="utf-8")):
        run.check_command(command)


def test_the_site_builds_and_loads_nothing_from_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("NO_MKDOCS_2_WARNING", "1")
    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(tmp_path), strict=True))
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > 40
    loaded = re.compile(r"<(?:script|img|iframe|link(?! rel=.canonical))[^>]+(?:src|href)=.?https?:")
    assert [page.name for page in pages if loaded.search(page.read_text(encoding="utf-8"))] == []


def test_every_public_name_is_in_the_reference() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "reference").glob("*.md"))
    documented = set(re.findall(r"^::: (\S+)$", text, re.MULTILINE))
    assert {f"mpnp.{name}" for name in mpnp.__all__} - documented == set()


def test_every_command_is_in_the_reference() -> None:
    text = (ROOT / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f"mpnp {name} --help" not in text] == []


def test_the_files_to_copy_are_those_of_the_page_and_can_be_read() -> None:
    examples, text = ROOT / "docs" / "examples", (ROOT / "docs" / "your-graphs.md").read_text(encoding="utf-8")
    for name in ("friends/nodes.csv", "friends/edges.csv", "friends.json"):
        assert (examples / name).read_text(encoding="utf-8") in text
    for name in ("friends", "friends.json", "friends.graphml"):
        assert mpnp.as_graphs(examples / name).graphs[0].num_edges > 0


def test_the_architecture_is_read_in_one_sitting() -> None:
    assert len((ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").split()) < 1800


def test_the_front_page_stays_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 120


def test_every_room_is_described() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = [path.parent.name for path in (ROOT / "src" / "mpnp").glob("*/__init__.py")]
    assert [room for room in rooms if f"| `{room}/`" not in text] == []


def test_versions_agree() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    newest = re.search(r"^## (\S+?),? ", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8") + " ", re.MULTILINE)
    assert citation["version"] == mpnp.__version__
    assert newest and newest[1] == mpnp.__version__.partition(".dev")[0]


def test_hooks_and_workflow_call_what_is_there() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    assert [repository["repo"] for repository in hooks] == ["local"]
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    assert {"run": ".ci/run"} in workflow["jobs"]["test"]["steps"]
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o100
