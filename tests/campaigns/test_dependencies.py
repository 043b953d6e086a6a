"""What mpnp stands on."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from campaigns import dependencies


def test_every_dependency_has_a_lowest_version_and_a_locked_one() -> None:
    lowest = dependencies.oldest()
    assert all(re.fullmatch(r"[\w.-]+==\d[\d.]*", line) for line in lowest), lowest
    assert "torch==2.13.0" in lowest
    names = {dependencies._key(line.partition("==")[0]) for line in lowest}
    assert names <= set(dependencies.locked())


def test_the_page_lists_what_is_locked() -> None:
    text = dependencies.PAGE.read_text(encoding="utf-8")
    for name in ("torch", "numpy", "lightning"):
        assert f"| {name} | {dependencies.locked()[name]} |" in text, "write it anew: python -m campaigns dependencies"


def test_the_page_says_which_extra_needs_what() -> None:
    rows = [line.split(" | ") for line in dependencies.PAGE.read_text(encoding="utf-8").splitlines()]
    needed = {dependencies._key(row[0].removeprefix("| ")): row[-1].removesuffix(" |") for row in rows if len(row) == 4}
    for group in ("", *dependencies.EXTRAS):
        for requirement in dependencies.declared()[group]:
            name = dependencies.NAME.match(requirement)
            assert name is not None
            assert needed[dependencies._key(name[0])] == (group or "always"), "anew: python -m campaigns dependencies"


def test_the_command_prints_the_lowest_versions_and_writes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    before = dependencies.PAGE.read_bytes()
    dependencies.main(["--oldest"])
    assert "torch==2.13.0" in capsys.readouterr().out.splitlines()
    assert dependencies.PAGE.read_bytes() == before


def test_the_command_writes_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dependencies, "PAGE", tmp_path / "page.md")
    dependencies.main([])
    assert f"| numpy | {dependencies.locked()['numpy']} |" in (tmp_path / "page.md").read_text(encoding="utf-8")


def test_wheels_for_another_python_are_asked_of_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def told(words: list[str]) -> subprocess.CompletedProcess[str]:
        calls.append(words)
        said = {"stdout": "torch (9.9)\nAvailable versions: 9.9, 12.13.0, 2.13.01\n", "stderr": ""}
        if "install" in words:
            said = {"stdout": "", "stderr": "WARNING: old\nERROR: No matching distribution found for numpy==2.4.6\n"}
        return subprocess.CompletedProcess(words, 1, **said)

    monkeypatch.setattr(dependencies, "_told", told)
    found = dependencies.wheels("3.13")
    assert found["missing"] == ["ERROR: No matching distribution found for numpy==2.4.6", "torch==2.13.0"]
    assert found["packages"] == len(dependencies.locked())
    install, index = calls
    assert "--dry-run" in install and not any(word.startswith("torch==") for word in install)
    assert all(words[words.index("--python-version") + 1] == "3.13" for words in (install, index))


def test_the_workflow_runs_every_python_of_the_page() -> None:
    workflow = (dependencies.ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    assert all(f'"{python}"' in workflow for python in dependencies.PYTHONS)
    kept = json.loads(dependencies.WHEELS.read_text(encoding="utf-8"))
    assert tuple(kept) == dependencies.PYTHONS[1:]
