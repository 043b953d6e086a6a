"""The tables of the front page."""

from __future__ import annotations

from pathlib import Path

import pytest
from studies import front_page


def test_the_front_page_shows_what_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    published = front_page.PAGE.read_text(encoding="utf-8")
    page = tmp_path / "README.md"
    page.write_text(published.replace("92.7 / 97.5", "11.1 / 22.2"), encoding="utf-8")
    monkeypatch.setattr(front_page, "PAGE", page)
    front_page.main()
    assert page.read_text(encoding="utf-8") == published
