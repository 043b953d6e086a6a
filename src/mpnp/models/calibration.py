"""What was learned of a model's confidence: a temperature that mends it, and sets of labels with a promised coverage.

It lies in the model's folder as ``calibration.json``, beside the weights it was fitted for and outside the configuration: a
run's identity and its results stay what they were. How it is fitted: ``evaluation/calibrate.py``.
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..errors import UserError
from ..files import replacing, write_json
from ..prediction import Prediction, Predictor

FILE = "calibration.json"
ROUNDING = 0.2  # of the logarithm of that share: what a whole number of labels makes of a rate in a small graph
LOWEST_SHARE = 1e-6  # of labels shown, where its logarithm would not end


@dataclass(frozen=True)
class Conformal:
    """Sets of labels that hold the true one for a ``coverage`` share of the unlabelled nodes, whatever the model.

    Split conformal prediction with the score 1 - p(true label): a set holds all labels of at least a threshold, below which
    the true labels of 1 - coverage of the validation nodes lie. Validation and test graphs have to be of a kind. A model more
    accurate than the coverage asked for is left with empty sets where it is least sure; unless ``allow_empty`` is asked for,
    these hold the likeliest label, and the true one is in the sets more often than promised.

    One threshold per context rate: it holds near the share of labels shown at that rate and beyond the last, and is
    interpolated over the logarithm of the share in between. ``shown``, rising, and ``thresholds`` are of one length.
    """

    coverage: float
    shown: tuple[float, ...]
    thresholds: tuple[float, ...]
    allow_empty: bool = True

    def sets(self, prediction: Prediction, rate: float | Tensor) -> Tensor:
        """Which labels are in each node's set, [N, C] bool; ``rate``: the share of its graph's nodes labelled, one or [N]."""
        where = np.log(np.maximum(np.asarray(rate, dtype=float), LOWEST_SHARE))
        knots = np.log(np.maximum(self.shown, LOWEST_SHARE))
        level = min([ROUNDING, *np.diff(knots) / 2])  # around each rate its own threshold holds
        ends = (knots[:, None] + [-level, level]).ravel()
        threshold = torch.as_tensor(np.interp(where, ends, np.repeat(self.thresholds, 2)))
        inside = prediction.probabilities >= threshold.to(prediction.probabilities.device).reshape(-1, 1)
        return inside if self.allow_empty else inside.scatter(1, prediction.label.unsqueeze(1), True)


def check_coverage(coverage: float) -> None:
    if not 0 < coverage < 1:
        raise UserError(f"A coverage of {coverage:g} was given, a share between 0 and 1 is expected, such as 0.9.")


@dataclass(frozen=True)
class Calibration:
    """What ``mpnp calibrate`` learned about a model: a temperature and thresholds for sets; ``task``: on what."""

    temperature: float = 1.0
    conformal: Conformal | None = None
    task: str = ""

    def write(self, folder: Path) -> None:
        content: dict[str, Any] = {"task": self.task, "temperature": self.temperature}
        if self.conformal is not None:
            content |= {
                "coverage": self.conformal.coverage,
                "shown": self.conformal.shown,
                "thresholds": self.conformal.thresholds,
                "allow_empty": self.conformal.allow_empty,
            }
        with replacing(folder / FILE) as temporary:
            write_json(temporary, content)

    @classmethod
    def read(cls, file: Path) -> Calibration | None:
        """What lies in a model's folder; ``None`` if it was never calibrated."""
        if not file.exists():
            return None
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
            temperature, conformal = float(content["temperature"]), None
            if not 1e-3 <= temperature <= 1e3:  # outside, probabilities are no numbers any more
                raise ValueError(f"a temperature of {temperature:g}")
            if "coverage" in content:
                shown, thresholds = ([float(value) for value in content[name]] for name in ("shown", "thresholds"))
                if not shown or len(shown) != len(thresholds) or shown != sorted(shown):
                    raise ValueError("thresholds that fit no rates")
                if not all(0 <= value <= 1 for value in (*shown, *thresholds)):
                    raise ValueError("shares outside 0 to 1")
                check_coverage(coverage := float(content["coverage"]))
                empty = content.get("allow_empty", False) is True  # not asked for where no one was asked
                conformal = Conformal(coverage, tuple(shown), tuple(thresholds), empty)
            return cls(temperature, conformal, str(content["task"]))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, UserError) as error:
            reason = str(error).rstrip(".")
            raise UserError(
                f"{file} is damaged ({reason}); delete it, and calibrate again with 'mpnp calibrate'."
            ) from error


def uncalibrated(predictor: Predictor) -> Predictor:
    """The same predictor without what an earlier calibration left."""
    if getattr(predictor, "calibration", None) is None:
        return predictor
    raw: Any = copy.copy(predictor)
    raw.calibration = None
    return raw
