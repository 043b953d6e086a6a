"""Labels as people write them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from mpnp.errors import UserError
from mpnp.tasks.formats.labels import is_missing, numbered


@pytest.mark.parametrize(
    ("labels", "names", "y"),
    [
        (["10", "9", ""], ["9", "10"], [1, 0, -1]),
        (["1.0", "0.0", "NaN"], ["0", "1"], [1, 0, -1]),  # what pandas makes of 1, 0 and a missing label
        ([1.0, 0.0, math.nan], ["0", "1"], [1, 0, -1]),
        (["-1", "1", "1"], ["-1", "1"], [0, 1, 1]),
        (["10", "9", "x"], ["10", "9", "x"], [0, 1, 2]),
        (["01", "1", "1.0"], ["01", "1"], [0, 1, 1]),
        (["NA", "?", "None", "nan", "NAN", "a"], ["a"], [-1, -1, -1, -1, -1, 0]),
        (["none", "na", "a"], ["a", "na", "none"], [2, 1, 0]),  # words in small letters may well be classes
        ([True, False, None], ["false", "true"], [1, 0, -1]),
        (["36028797018963969", "36028797018963968", ""], ["36028797018963968", "36028797018963969"], [1, 0, -1]),
    ],
)
def test_class_names(labels: list[Any], names: list[str], y: list[int]) -> None:
    found, classes = numbered(labels, None, "here", [])
    assert classes == names and found.tolist() == y


def test_known_classes_fix_the_numbers() -> None:
    assert numbered(["b", "", "a"], ["a", "c", "b"], "here", [])[0].tolist() == [2, -1, 0]
    with pytest.raises(UserError, match="In here: the label 'd' was given, one of a, c, b is expected"):
        numbered(["d"], ["a", "c", "b"], "here", [])


def test_what_was_read_as_unknown_is_said() -> None:
    notes: list[str] = []
    numbered(["NA", "NA", "?", "", "x"], None, "here", notes)
    assert notes == ["2 labels 'NA' were read as unknown.", "1 label '?' was read as unknown."]


def test_identifiers_are_no_classes() -> None:
    numbered([str(i) for i in range(10_000)], None, "here", [])
    with pytest.raises(UserError, match="10,001 different labels were given, at most 10,000 classes"):
        numbered([str(i) for i in range(10_001)], None, "here", [])


def test_missing_values_of_every_library() -> None:
    assert all(is_missing(value) for value in (None, math.nan, np.float32("nan"), "", "?", "NA", "nan", "NaN"))
    assert not any(is_missing(value) for value in (0, False, "0", "no", -1, np.int64(3), "na"))


@pytest.mark.parametrize("labels", [["red|blue", "blue", ""], ["a; b", "b;c"], ["x;y", "z", "x"]])
def test_several_labels_in_one_cell_are_refused(labels: list[str]) -> None:
    with pytest.raises(UserError, match=r"looks like several labels of one node.*predict one after the other"):
        numbered(labels, None, "here", [])


def test_a_bar_in_a_name_is_no_second_label() -> None:
    assert numbered(["a|b", "c|d", "x;", "e, f", "e"], None, "here", [])[1] == ["a|b", "c|d", "e", "e, f", "x;"]
