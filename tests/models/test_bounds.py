"""Numbers in a configuration that no one means."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from mpnp.errors import UserError
from mpnp.models.ampnp import AmpnpConfig
from mpnp.models.bounds import MOST, check_bounds, check_types


@pytest.mark.parametrize(
    "fields",
    [
        {"depth": 10**5},
        {"refine": 10**5},
        {"reaches": [1, 10**9]},
        {"width": 10**9},
        {"width": float("inf")},
        {"width": float("nan")},
        {"num_classes": 10**12},
        {"encoder": ["join", "linear:99999999999"]},
        {"encoder": ["mp:4"] * 1000},
        {"class_names": [1, 2]},
        {"class_names": 3},
    ],
)
def test_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=next(iter(fields))):
        check_bounds(fields)


def test_what_is_meant_passes() -> None:
    check_bounds(
        {**MOST, "reaches": [1, 2, 8], "class_names": ["a"], "encoder": ["join", "mp:64", "out:16"], "name": "x:y"}
    )


@pytest.mark.parametrize(
    "fields",
    [{"width": "8"}, {"width": 8.5}, {"width": True}, {"reaches": [[1]]}, {"reaches": 3}, {"latent": 1}, {"dropout": None},
     {"dropout": float("nan")}, {"likelihood": "other"}, {"likelihood": []}, {"name": 3}],
)  # fmt: skip
def test_a_field_of_another_type_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=f"field {next(iter(fields))} = "):
        check_types(AmpnpConfig, fields)


def test_fields_as_json_has_them_pass() -> None:
    check_types(
        AmpnpConfig, {"width": 8, "reaches": [1, 2], "latent": False, "dropout": 0, "likelihood": "categorical"}
    )
    check_types(AmpnpConfig, {**asdict(AmpnpConfig(2, 2)), "of a later version": 1})
