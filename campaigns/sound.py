"""What the campaign starts from: one small graph in every format, a trained model, a run, a result."""

from __future__ import annotations

import io
import json
from functools import cache
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import torch
from torch_geometric.data import Data

from mpnp.models.base import Model

NODES = 12


def ring() -> Data:
    """Two features, two classes, some labels unknown."""
    around = torch.arange(NODES)
    once = torch.stack([around, (around + 1) % NODES])
    x = torch.randn(NODES, 2, generator=torch.Generator().manual_seed(0))
    y = torch.where(around % 4 == 3, -1, (x[:, 0] > 0).long())
    return Data(x=x, edge_index=torch.cat([once, once.flip(0)], 1), y=y)


def nodes_csv() -> str:
    graph = ring()
    rows = [f"n{i},{a:.3f},{b:.3f},{'' if y < 0 else 'ab'[y]}" for i, ((a, b), y) in enumerate(_rows(graph))]
    return "\n".join(["id,p,q,label", *rows, ""])


def edges_csv() -> str:
    return "\n".join(["source,target,weight", *(f"n{i},n{(i + 1) % NODES},1.5" for i in range(NODES)), ""])


def _rows(graph: Data) -> list[tuple[list[float], int]]:
    return list(zip(graph.x.tolist(), graph.y.tolist(), strict=True))


@cache
def network() -> nx.Graph:
    graph = nx.Graph()
    for i, ((a, b), y) in enumerate(_rows(ring())):
        graph.add_node(f"n{i}", p=a, q=b, **({} if y < 0 else {"class": "ab"[y]}))
    graph.add_edges_from((f"n{i}", f"n{(i + 1) % NODES}", {"weight": 1.5}) for i in range(NODES))
    return graph


@cache
def graphml() -> str:
    return "\n".join(nx.generate_graphml(network()))


@cache
def gexf() -> str:
    return "\n".join(nx.generate_gexf(network()))


@cache
def node_link() -> Any:
    return nx.node_link_data(network(), edges="links")


def arrays() -> dict[str, Any]:
    graph = ring()
    return {"x": graph.x.numpy(), "edge_index": graph.edge_index.numpy(), "y": graph.y.numpy()}


def tud() -> dict[str, str]:
    """Texts by name."""
    graph = ring()
    return {
        "T_A.txt": "".join(f"{a + 1}, {b + 1}\n" for a, b in graph.edge_index.t().tolist()),
        "T_graph_indicator.txt": "1\n" * NODES,
        "T_node_labels.txt": "".join("\n" if y < 0 else f"{y}\n" for y in graph.y.tolist()),
        "T_node_attributes.txt": "".join(f"{a:.3f}, {b:.3f}\n" for a, b in graph.x.tolist()),
    }


def packed(content: Any) -> bytes:
    """As ``torch.save`` writes it."""
    stream = io.BytesIO()
    torch.save(content, stream)
    return stream.getvalue()


def zipped(content: dict[str, Any]) -> bytes:
    """As ``np.savez`` writes it."""
    stream = io.BytesIO()
    np.savez(stream, **content)
    return stream.getvalue()


@cache
def model_files() -> dict[str, bytes]:
    """A folder of a trained model, by name; small and calibrated."""
    import tempfile

    from mpnp.models.ampnp import AmpnpConfig, AttentiveMPNP
    from mpnp.models.calibration import Calibration, Conformal
    from mpnp.models.pretrained import save

    torch.manual_seed(0)
    model: Model = AttentiveMPNP(AmpnpConfig(2, 2, width=8, z_width=4, class_names=["a", "b"], heads=1, head_width=4))
    model.calibration = Calibration(1.5, Conformal(0.9, (0.1, 0.5), (0.3, 0.4)), "own")
    with tempfile.TemporaryDirectory() as folder:
        save(model, Path(folder), {"finished": True, "epochs": 1})
        return {file.name: file.read_bytes() for file in Path(folder).iterdir() if file.is_file()}


@cache
def run_files() -> dict[str, bytes]:
    """A folder of an interrupted training, by path."""
    import tempfile

    from mpnp.tasks.own import OwnTask
    from mpnp.training.fit import fit, quiet

    quiet()
    with tempfile.TemporaryDirectory() as folder:
        fit(OwnTask(trainable()), "ampnp", out=folder, epochs=1, progress=False, options=SMALL)
        return {str(f.relative_to(folder)): f.read_bytes() for f in Path(folder).rglob("*") if f.is_file()}


SMALL = {"width": 8, "z_width": 4, "heads": 1, "head_width": 4, "values": 4, "epoch_steps": 1, "samples": 1}


def trainable() -> list[Data]:
    """Enough graphs to be divided."""
    graph = ring()
    return [graph.clone() for _ in range(5)]


@cache
def result() -> Any:
    """One stored result of ``mpnp reproduce``."""
    from mpnp.evaluation.evaluate import evaluate
    from mpnp.models import PREDICTORS
    from mpnp.reproduce.plan import Job

    job = Job("ca/small-world", "mode", draws=1, graphs=2)
    table = evaluate(PREDICTORS["mode"](), [ring(), ring()], draws=1)
    return json.loads(json.dumps({"row": job.row, "identity": job.identity(), **table.to_dict()}))
