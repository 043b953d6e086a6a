"""A figure says where it comes from."""

from __future__ import annotations

from pathlib import Path

import torch

from mpnp.evaluation.provenance import fingerprint, provenance
from mpnp.models import configs

from ..rings import Rings


def test_the_weights_have_a_fingerprint(tmp_path: Path) -> None:
    for seed, name in enumerate(("one", "other")):
        torch.manual_seed(seed)
        configs.build(configs.config("ampnp", Rings())).save_pretrained(tmp_path / name)
    torch.manual_seed(0)
    configs.build(configs.config("ampnp", Rings())).save_pretrained(tmp_path / "again")
    one, other, again = (fingerprint(tmp_path / name) for name in ("one", "other", "again"))
    assert one == again != other
    assert fingerprint(tmp_path / "nothing") is None


def test_training_is_told_and_a_damaged_note_is_left_out(tmp_path: Path) -> None:
    configs.build(configs.config("ampnp", Rings())).save_pretrained(tmp_path)
    (tmp_path / "metrics.json").write_text('{"epochs": 3, "minutes": 0.5, "seed": 7, "recipe": {"name": "paper"}}')
    assert provenance(tmp_path)["training"] == {
        "epochs": 3,
        "minutes": 0.5,
        "seed": 7,
        "recipe": "paper",
        "weights": fingerprint(tmp_path),
    }
    (tmp_path / "metrics.json").write_text('{"epochs": 3')
    assert "training" not in provenance(tmp_path) and "training" not in provenance()
