"""Pictures of samples."""

from __future__ import annotations

import torch
from torch_geometric.data import Data

from mpnp.episode import Episode
from mpnp.plots import latent_figure, samples_figure


def ring() -> Episode:
    edges = torch.stack([torch.arange(8), torch.arange(8).roll(1)])
    y = torch.tensor([0, 1, -1, -1, -1, -1, -1, -1])
    return Episode.from_graphs([Data(x=torch.ones(8, 1), edge_index=edges, y=y)], num_classes=2)


def titles(figure: object) -> list[str]:
    return [axis.get_title() for axis in figure.axes if axis.get_title()]  # type: ignore[attr-defined]


def test_sixteen_labellings_at_most() -> None:
    labels = torch.randint(0, 2, (20, 8), generator=torch.Generator().manual_seed(0))
    drawn = titles(samples_figure(ring(), labels, "ways", ["no", "yes"], notes=["log p -1.0"]))
    assert len(drawn) == 16 and drawn[:2] == ["log p -1.0", "sample 2"]
    assert len(titles(samples_figure(ring(), labels[:3]))) == 3


def test_what_varies_is_the_last_panel() -> None:
    p = torch.full((4, 8, 2), 0.5)
    p[..., 0] = 0.9
    p[0, 3] = torch.tensor([0.1, 0.9])
    drawn = titles(latent_figure(ring(), p))
    assert drawn == ["z 1", "z 2", "z 3", "z 4", "varies, up to 25 % of z"]
