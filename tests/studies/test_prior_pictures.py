"""The picture of the prior."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image
from studies import prior_pictures

from mpnp.experts.evidence import SINGLE
from mpnp.tasks.prior.problems import FAMILIES


def test_a_picture_is_drawn_of_every_family(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(prior_pictures.SEEDS) == set(FAMILIES) and set(prior_pictures.WORDS) == set(SINGLE)
    monkeypatch.setattr(prior_pictures, "PICTURE", tmp_path / "prior.png")
    monkeypatch.setattr(prior_pictures, "MOST_NODES", 70)
    monkeypatch.setattr(prior_pictures, "SEEDS", dict.fromkeys(FAMILIES, (1,)))
    prior_pictures.main()
    with Image.open(tmp_path / "prior.png") as image:
        assert image.width > 300 and len(image.convert("L").getcolors(256) or []) > 10
