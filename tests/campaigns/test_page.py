"""The page of counts."""

from __future__ import annotations

import json
from pathlib import Path

from campaigns import page


def test_the_page_is_written_of_what_there_is(tmp_path: Path) -> None:
    page.write(tmp_path)
    assert (tmp_path / "README.md").read_text().startswith("# Reliability")
    counts = {"csv": {"accepted": 1000, "refused": 200, "failed": 0}, "pt": {"accepted": 1, "refused": 2, "failed": 1}}
    finding = {"format": "pt", "number": 3, "why": "KeyError: x", "outcome": "failed"}
    (tmp_path / "fuzz.json").write_text(json.dumps({"command": "fuzz it", "formats": counts, "findings": [finding]}))
    parts = {"a|b": {"kills": {"SIGKILL": 2, "SIGINT": 1}, "largest": 1e-7, "cpu_seconds": 1, "failures": ["lost"]}}
    (tmp_path / "chaos.json").write_text(json.dumps({"command": "kill it", "parts": parts}))
    page.write(tmp_path)
    text = (tmp_path / "README.md").read_text()
    assert "| all | 1,204 | 1,001 | 202 | 1 |" in text
    assert "3 kills in all" in text
    assert "| a\\|b | kills: SIGKILL 2, SIGINT 1; largest: 1.0e-07 | 1 |" in text
    assert "- pt 3: KeyError: x" in text and "- a|b: lost" in text


def test_what_was_measured_beside_others_says_so(tmp_path: Path) -> None:
    spent = {"seconds": 9.5, "cpu_seconds": 12, "peak_gigabytes": 1.25, "load_before": 3.1}
    found = {
        "command": "size it",
        "processors": 2,
        "commands": [{"what": "one graph", "nodes": 10000, "graphs": 1, **spent}],
        "runs": [{"what": "predict", "nodes": 2000, "classes": 1000, "labels": 7, **spent}],
    }
    (tmp_path / "size.json").write_text(json.dumps(found))
    page.write(tmp_path)
    text = (tmp_path / "README.md").read_text()
    assert "| one graph | 10,000 | 1 | 9.5 | 12 | 1.25 | 3.1 |" in text
    assert "| predict | 2,000 | 1,000 | 7 | 9.5 | 12 | 1.25 | 3.1 |" in text and "of the 2 processors" in text
