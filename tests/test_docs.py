"""What is written about the project: links that lead somewhere, lines that fit, versions that agree."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

import mpnp

ROOT = Path(__file__).parents[1]
# Written by hand; docs/results.md and the pages under results/ are written by programs.
PAGES = sorted([*ROOT.glob("*.md"), *(page for page in (ROOT / "docs").glob("*.md") if page.name != "results.md")])


def prose(page: Path) -> list[str]:
    """The lines of a page outside of tables, code blocks and pictures."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return [line for line in text.splitlines() if not line.startswith(("|", "    ", "![", "<!--"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_lines_of_prose_fit(page: Path) -> None:
    assert [line for line in prose(page) if len(line) > 120] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
    assert [t for t in targets if "://" not in t and not (page.parent / t).exists()] == []


def test_the_examples_of_your_graphs_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks that name a file are written, blocks of Python are run, in their order and in one place."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "your-graphs.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w+) ?(\S*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) == text.count("```") // 2
    names: dict[str, object] = {}
    for language, file, block in blocks:
        if file:
            Path(file).write_text(block, encoding="utf-8")
        else:
            assert language == "python"
            exec(compile(block, "docs/your-graphs.md", "exec"), names)


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
