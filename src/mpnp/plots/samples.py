"""Pictures of samples: the ways in which a graph could go on, and what varies with the latent variable alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from matplotlib.figure import Figure
from torch import Tensor

from ..episode import Episode
from .comparing import canvas_of
from .panels import Panel, Row, figure_of

COLUMNS = 4
MOST = 16  # labellings in one picture


def samples_figure(
    episode: Episode, labels: Tensor, title: str = "", class_names: Sequence[str] = (), notes: Sequence[str] = ()
) -> Figure:
    """Labellings ``labels`` [k, N] of one graph side by side, at most sixteen, labels that were given ringed.

    ``notes``: what is written over each; by default its number.
    """
    canvas, given = canvas_of(episode), episode.context.numpy()
    names = [notes[i] if i < len(notes) else f"sample {i + 1}" for i in range(min(MOST, labels.size(0)))]
    panels = [
        Panel(name, classes=label.numpy(), ringed=given, rings="given", strong=given)
        for name, label in zip(names, labels, strict=False)
    ]
    rows = [Row(canvas, panels[i : i + COLUMNS], episode) for i in range(0, len(panels), COLUMNS)]
    return figure_of(rows, title, class_names)


def latent_figure(episode: Episode, probabilities: Tensor, title: str = "", class_names: Sequence[str] = ()) -> Figure:
    """The likeliest labels under some samples of z, ``probabilities`` [k, N, C], and how much each node's class varies with z.

    The last panel shows in how many of the samples a node's likeliest class is not its usual one.
    """
    labels = torch.where(episode.context, episode.y, probabilities.argmax(-1))
    usual = labels.mode(0).values
    varies = (labels != usual).double().mean(0).numpy()
    canvas, given = canvas_of(episode), episode.context.numpy()
    shown = labels[: MOST - 1]
    panels = [
        Panel(f"z {i + 1}", classes=one.numpy(), ringed=given, rings="given", strong=given)
        for i, one in enumerate(shown)
    ]
    top = float(max(np.max(varies, initial=0.0), 1 / max(len(labels), 1)))
    panels.append(Panel(f"varies, up to {100 * top:.0f} % of z", amount=varies, top=top))
    rows = [Row(canvas, panels[i : i + COLUMNS], episode) for i in range(0, len(panels), COLUMNS)]
    figure = figure_of(rows, title, class_names)
    for axis in figure.axes:
        if axis.get_ylabel() == "uncertainty (nats)":
            axis.set_ylabel("share of z, of the highest")
    return figure
