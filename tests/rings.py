"""A task small enough to look through, for tests of calibration."""

from __future__ import annotations

import torch
from torch_geometric.data import Data

from mpnp.graphs import GraphSet
from mpnp.tasks.base import Split, Task


class Rings(Task):
    """Rings whose nodes of either class differ in their one feature; ``val`` and ``test`` may be empty."""

    name, num_features, num_classes = "rings", 1, 2
    context, extra, rates = (0.1, 0.5), (0.1, 0.5), (0.2, 0.5, 1.0)

    def __init__(self, val: int = 6, test: int = 6, labelled: int = 20) -> None:
        self.sizes: dict[Split, int] = {"train": 2, "val": val, "test": test}
        self.labelled = labelled

    def load(self) -> dict[Split, GraphSet]:
        generator = torch.Generator().manual_seed(0)

        def ring() -> Data:
            around, y = torch.arange(20), torch.randint(2, (20,), generator=generator)
            x = y.unsqueeze(1) + torch.randn(20, 1, generator=generator)
            return Data(
                x=x, edge_index=torch.stack([around, around.roll(1)]), y=torch.where(around < self.labelled, y, -1)
            )

        return {s: GraphSet.from_data_list([ring() for _ in range(n)]) for s, n in self.sizes.items() if n}
