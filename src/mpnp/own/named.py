"""A prediction in the user's own names: what :func:`mpnp.predict` returns."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import compress
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..episode import Episode
from ..errors import UserError
from ..graphs import UNLABELLED
from ..prediction import Prediction
from ..tasks.own import OwnGraphs

SHOWN = 10  # rows of a prediction that a notebook shows


@dataclass(repr=False)
class OwnPrediction(Prediction):
    """A :class:`Prediction` for the nodes of a user's graphs, who knows how they and their classes are called.

    ``own``: the graphs as they were read; ``episode``: the same as one batch. ``sets`` [N, C] bool: which labels are in each
    node's set, ``None`` where the predictor has none, and ``promise``: what the sets hold, in a sentence.
    """

    own: OwnGraphs = field(default_factory=lambda: OwnGraphs([], [], [], []))
    episode: Episode | None = None
    sets: Tensor | None = None
    promise: str | None = None

    @property
    def class_names(self) -> list[str]:
        """As the user calls them; classes that only the model knows of, by their numbers."""
        names = list(self.own.class_names)
        return names + [str(c) for c in range(len(names), self.probabilities.size(1))]

    @property
    def node_names(self) -> list[str]:
        """Of all graphs, one after the other."""
        return [name for names in self.own.node_names for name in names]

    @property
    def notes(self) -> list[str]:
        """What was inferred, imputed and ignored when the graphs were read."""
        return self.own.notes

    @property
    def label_names(self) -> list[str]:
        """The likeliest class of every node by name."""
        names = self.class_names
        return [names[c] for c in self.label.tolist()]

    @property
    def given_names(self) -> list[str | None]:
        """The label that was given to a node, ``None`` where there was none."""
        names: dict[int, str | None] = {UNLABELLED: None, **dict(enumerate(self.class_names))}
        return [names[c] for c in self._y.tolist()]

    @property
    def set_names(self) -> list[list[str]] | None:
        """The labels of every node's set."""
        names = self.class_names
        return None if self.sets is None else [list(compress(names, row)) for row in self.sets.tolist()]

    @property
    def graph(self) -> Tensor:
        """The number of every node's graph, [N]."""
        return torch.repeat_interleave(torch.tensor([len(names) for names in self.own.node_names]))

    @property
    def _y(self) -> Tensor:
        parts = [graph.y for graph in self.own.graphs]
        return torch.cat(parts) if parts else torch.zeros(0, dtype=torch.long)

    def columns(self) -> dict[str, Sequence[Any]]:
        """The columns of ``mpnp predict --out``, a value per node; docs/your-graphs.md says what each means."""
        sets = self.set_names
        return {
            "graph": self.graph.tolist(),
            "node": self.node_names,
            "given": self.given_names,
            "label": self.label_names,
            **{f"p_{name}": self.probabilities[:, c].numpy() for c, name in enumerate(self.class_names)},
            **{part: getattr(self, part).numpy() for part in ("total", "aleatoric", "epistemic")},
            **({} if sets is None else {"set": ["|".join(names) for names in sets]}),
        }

    def to_pandas(self) -> Any:
        """A data frame with a row per node, the nodes' names its index; pandas has to be installed."""
        try:
            pandas = import_module("pandas")
        except ImportError as error:
            raise UserError(
                "A data frame is made by pandas, which is not installed; run: pip install 'mpnp[tables]'."
            ) from error
        return pandas.DataFrame(self.columns()).set_index("node")

    def to_networkx(self) -> Any:
        """The graph with what is predicted as attributes of its nodes, which are called by their names; a list, where there
        are several graphs."""
        networkx = import_module("networkx")
        columns = self.columns()
        names = [name for name in columns if name not in ("graph", "node")]
        rows = list(zip(*(_plain(columns[name]) for name in names), strict=True))
        made, start = [], 0
        for data, nodes in zip(self.own.graphs, self.own.node_names, strict=True):
            graph = networkx.DiGraph() if self.own.directed else networkx.Graph()
            for node, row in zip(nodes, rows[start : start + len(nodes)], strict=True):
                graph.add_node(
                    node, **{name: value for name, value in zip(names, row, strict=True) if value is not None}
                )
            graph.add_edges_from(_edges(data, nodes, self.own.edge_type_names))
            made.append(graph)
            start += len(nodes)
        return made[0] if len(made) == 1 else made

    def save(self, path: Path | str) -> Path:
        """As a table or a graph, by the ending: .csv, .parquet, .json or .graphml."""
        from .export import write

        return write(Path(path), self)

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, classes by name: {', '.join(self.class_names[:5])}" + (
            ", …)" if len(self.class_names) > 5 else ")"
        )

    def _repr_html_(self) -> str:
        """The first nodes as a table."""
        columns = self.columns()
        top = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
        body = []
        for row in zip(*(_plain(values[:SHOWN]) for values in columns.values()), strict=True):
            cells = (
                f"{value:.3f}" if isinstance(value, float) else "" if value is None else str(value) for value in row
            )
            body.append(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in cells)}</tr>")
        more = len(self.probabilities) - SHOWN
        caption = f"<caption>{html.escape(repr(self))}</caption>"
        foot = f"<p>… and {more:,} more; .to_pandas() has them all.</p>" if more > 0 else ""
        return f"<table>{caption}<thead><tr>{top}</tr></thead><tbody>{''.join(body)}</tbody></table>{foot}"


def _plain(values: Any) -> list[Any]:
    return values.tolist() if hasattr(values, "tolist") else list(values)


def _edges(data: Any, nodes: list[str], kinds: list[str]) -> list[tuple[str, str, dict[str, Any]]]:
    ends = data.edge_index.tolist()
    attributes: list[dict[str, Any]] = [{} for _ in ends[0]]
    if data.get("edge_weight") is not None:
        for attribute, weight in zip(attributes, data.edge_weight.tolist(), strict=True):
            attribute["weight"] = weight
    if data.get("edge_type") is not None:
        for attribute, kind in zip(attributes, data.edge_type.tolist(), strict=True):
            attribute["type"] = kinds[kind]
    return [(nodes[u], nodes[v], attribute) for u, v, attribute in zip(*ends, attributes, strict=True)]
