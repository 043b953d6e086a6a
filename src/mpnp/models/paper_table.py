"""The paper's appendix as data: how large its models are and how long they are trained, for each kind of task it has."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """One line of the appendix: widths h, r, z (``None``: 64 per class), message passing layers, training."""

    h: int
    r: int
    z: int | None
    layers: int
    epochs: int
    learning_rate: float


# By ``Task.appendix`` and model. A model without a line of its own has that of its plain form: r-mpnp and mpnp-c that of
# mpnp, np-c that of np. The last lines are ours, for tasks the paper does not have.
PAPER_TABLE: dict[str, dict[str, Row]] = {
    "enzymes": {
        "mpnp": Row(64, 128, 256, 2, 700, 1e-4),
        "mpnp-c": Row(64, 96, 288, 2, 700, 1e-4),
        "np": Row(64, 128, 512, 0, 700, 4e-5),
    },
    "proteins": {
        "mpnp": Row(64, 128, 256, 2, 400, 7e-5),
        "mpnp-c": Row(64, 96, 288, 2, 400, 7e-5),
        "np": Row(64, 64, 512, 0, 400, 4e-5),
        "np-c": Row(64, 96, 288, 0, 400, 4e-5),
    },
    "molecules": {"mpnp": Row(64, 128, 256, 1, 400, 7e-5), "np": Row(64, 64, 512, 0, 400, 4e-5)},
    "mixed shapes": {"mpnp": Row(64, 128, 256, 2, 500, 7e-5), "np": Row(64, 64, 512, 0, 500, 4e-5)},
    "shapes": {"mpnp": Row(64, 128, 256, 2, 400, 7e-5), "np": Row(64, 64, 512, 0, 400, 4e-5)},
    "transductive citations": {"mpnp": Row(64, 64, None, 2, 500, 7e-5), "np": Row(64, 64, None, 0, 500, 7e-5)},
    "few-shot citations": {"mpnp": Row(64, 64, None, 2, 400, 7e-5), "np": Row(64, 64, None, 0, 400, 7e-5)},
    "interfaces": {"mpnp": Row(64, 64, 256, 2, 1000, 4e-5), "np": Row(64, 64, 256, 0, 1000, 6e-5)},
    "automata": {"mpnp": Row(64, 64, 128, 1, 200, 1e-4), "np": Row(64, 64, 128, 0, 200, 1e-4)},
    "other": {"mpnp": Row(64, 128, 256, 2, 400, 7e-5), "np": Row(64, 128, 256, 0, 400, 7e-5)},
}
PAPER_FAMILY = ("np", "np-c", "mpnp", "mpnp-c", "r-mpnp")
# Epochs and learning rate of the paper's inductive baselines, the same for all tasks.
PAPER_NETWORKS = {"gnn": (500, 1e-4), "r-gcn": (400, 7e-5)}


def paper_row(model: str, appendix: str) -> Row:
    lines = PAPER_TABLE[appendix]
    return lines[model] if model in lines else lines[model.removeprefix("r-").removesuffix("-c")]
