"""A model's card: what it is, what it was trained on and how well that went, for whoever finds its folder or its page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .calibration import Calibration

HEAD = """---
library_name: mpnp
license: mit
tags: [graph-ml, neural-process, node-classification]
---"""


def card(
    config: Mapping[str, Any], metrics: Mapping[str, Any], calibration: Calibration | None = None, name: str = ""
) -> str:
    """Markdown with the figures of ``metrics.json``; what is not known is left out. ``name``: on the hub, as user/name."""
    title, task = name or str(config.get("name") or "model"), str(config.get("task") or metrics.get("task") or "")
    own = not task or task.startswith("own:")
    lines = [HEAD, f"# {title}", "", _what(config)]
    where = f"hf:{name}" if name else "FOLDER"
    lines += ["", "```python", "import mpnp", f'model = mpnp.from_pretrained("{where}")', "```"]
    lines += [f"or `mpnp predict {where} my/graph`.", "", "| | |", "|---|---|"]
    rows = {
        "trained on": "graphs of its owner's" if own else f"`{task}`",
        "classes": ", ".join(map(str, config.get("class_names") or ())) or None,
        "features per node": config.get("num_features") or "any",
        "validation NLL per node, nats": _number(metrics.get("val_nll")),
        "epochs": metrics.get("epochs"),
        "minutes of training": metrics.get("minutes"),
        "recipe": (metrics.get("recipe") or {}).get("name"),
        "seed": metrics.get("seed"),
        "temperature": None if calibration is None else _number(calibration.temperature),
        "coverage of its sets": (
            None
            if calibration is None or calibration.conformal is None
            else f"{100 * calibration.conformal.coverage:g} %"
        ),
    }
    lines += [f"| {what} | {value} |" for what, value in rows.items() if value is not None]
    if metrics.get("finished") is False:
        lines += ["", "**Its training was interrupted**; the figures are those of the epochs done."]
    lines += ["", "The files hold numbers and settings only; loading them executes nothing."]
    return "\n".join(lines) + "\n"


def _what(config: Mapping[str, Any]) -> str:
    kind = f"`{config.get('name')}`, a neural process on graphs" if config.get("name") else "A neural process on graphs"
    return (
        f"{kind} (package `mpnp`): given a graph of which some nodes are labelled, it predicts the labels of the others "
        "and says how sure it is."
    )


def _number(value: object) -> str | None:
    return f"{value:.4f}" if isinstance(value, float) else None if value is None else str(value)
