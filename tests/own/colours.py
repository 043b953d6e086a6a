"""A user's graph with named classes, in memory and as CSV files."""

from __future__ import annotations

from pathlib import Path

import torch
from torch_geometric.data import Data

COLOURS = ("blue", "green", "red")
NODES = 40


def ring(nodes: int = NODES, features: int = 2) -> Data:
    around = torch.arange(nodes)
    once = torch.stack([around, (around + 1) % nodes])
    x = torch.randn(nodes, features, generator=torch.Generator().manual_seed(0))
    y = torch.where(around % 4 > 0, around % 3, -1)  # a quarter is unlabelled
    return Data(x=x, edge_index=torch.cat([once, once.flip(0)], 1), y=y)


def write(folder: Path, data: Data, names: tuple[str, ...] = COLOURS) -> Path:
    folder.mkdir(exist_ok=True)
    rows = [
        f"node {i},{names[y] if y >= 0 else ''},{','.join(str(value) for value in x)}"
        for i, (x, y) in enumerate(zip(data.x.tolist(), data.y.tolist(), strict=True))
    ]
    header = ",".join(["id", "label", *(f"f{i}" for i in range(data.x.size(1)))])
    (folder / "nodes.csv").write_text("\n".join([header, *rows]) + "\n")
    edges = "\n".join(f"node {u},node {v}" for u, v in data.edge_index.t().tolist())
    (folder / "edges.csv").write_text(f"source,target\n{edges}\n")
    return folder
