"""The same small graph in every format, and how a refusal must read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from mpnp.errors import UserError
from mpnp.tasks.formats import as_graphs

# One graph, 4 nodes: a path a - b - c with a self-loop at c, and d alone; d is unlabelled.
X = torch.tensor([[0.5, 1.0], [-2.0, 0.0], [3.25, 4.0], [0.0, 1e-3]])
EDGES = torch.tensor([[0, 1, 1, 2, 2], [1, 0, 2, 1, 2]])
Y = torch.tensor([1, 0, 1, -1])
NODES_CSV = "id,p,label,q\na,0.5,7,1\nb,-2,3,0\nc,3.25,7,4\nd,0,,1e-3\n"
EDGES_CSV = "source,target\na,b\nc,b\nb,c\nc,c\n"


def as_pt(folder: Path) -> Path:
    torch.save([Data(x=X, edge_index=EDGES, y=Y)], folder / "g.pt")
    return folder / "g.pt"


def as_tud(folder: Path) -> Path:
    return write(
        folder,
        T_A="1, 2\n2, 1\n3, 2\n2, 3\n3, 3\n",
        T_graph_indicator="1\n1\n1\n1\n",
        T_node_labels="7\n3\n7\n\n",
        T_node_attributes="0.5, 1\n-2, 0\n3.25, 4\n0, 0.001\n",
    )


def as_graphml(folder: Path) -> Path:
    nx.write_graphml(as_networkx(), folder / "g.graphml")
    return folder / "g.graphml"


def as_networkx() -> nx.Graph:
    graph = nx.Graph()
    for i, name in enumerate("abcd"):
        label = {} if Y[i] < 0 else {"label": (3, 7)[int(Y[i])]}
        graph.add_node(name, p=float(X[i, 0]), note="text", q=[1.0, 0.0, 4.0, 1e-3][i], **label)
    graph.add_edges_from([("a", "b"), ("b", "c"), ("c", "c")])
    return graph


def as_gexf(folder: Path) -> Path:
    graph = as_networkx()
    for _, attributes in graph.nodes(data=True):  # a label in GEXF is what is written beside a node
        attributes["class"] = attributes.pop("label", None)
    del graph.nodes["d"]["class"]
    nx.write_gexf(graph, folder / "g.gexf")
    return folder / "g.gexf"


def as_json(folder: Path) -> Path:
    (folder / "g.json").write_text(json.dumps(nx.node_link_data(as_networkx(), edges="links")))
    return folder / "g.json"


def as_npz(folder: Path) -> Path:
    np.savez(folder / "g.npz", x=X.numpy(), edge_index=EDGES.numpy(), y=Y.numpy())
    return folder / "g.npz"


def as_csv(folder: Path) -> Path:
    return write_csv(folder, NODES_CSV, EDGES_CSV)


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.txt").write_text(text)
    return folder


def write_csv(folder: Path, nodes: str, edges: str = EDGES_CSV) -> Path:
    (folder / "nodes.csv").write_text(nodes)
    (folder / "edges.csv").write_text(edges)
    return folder


def save(folder: Path, content: Any) -> Path:
    torch.save(content, folder / "g.pt")
    return folder / "g.pt"


def fails(path: Path, *parts: str) -> None:
    with pytest.raises(UserError) as error:
        as_graphs(path)
    for part in (*parts, str(path) if path.is_file() else path.name):
        assert part in str(error.value)
    assert "\n" not in str(error.value)


def graphml(folder: Path, body: str, keys: str = "") -> Path:
    key = '<key id="k" for="node" attr.name="size" attr.type="double"><default>2.5</default></key>'
    text = f'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{keys or key}{body}</graphml>'
    (folder / "g.graphml").write_text(text)
    return folder / "g.graphml"
