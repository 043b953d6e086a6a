"""The studio in a notebook: the same page in a frame, and what was painted as a Python object."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

from ..prediction import Prediction, Predictor
from .belief import default_model
from .scene import from_graph
from .server import Server
from .workspace import Workspace


class Studio:
    """``mpnp.studio(graph)``: serves ``graph`` and shows it in a frame.

    ``graph``: a PyG ``Data``, a NetworkX graph, a path, or whatever else :func:`mpnp.tasks.own.as_graphs` takes;
    ``labels``: the table the labels are kept in; ``model``: a predictor, the name of one, or a model's folder.
    """

    def __init__(
        self,
        graph: Any,
        *,
        labels: str | Path = "mpnp-studio/notebook-labels.csv",
        model: str | Predictor | None = None,
        height: int = 720,
        port: int = 0,
    ) -> None:
        workspace = Workspace(Path.cwd(), model or default_model())
        self.room = workspace.add("notebook", from_graph(graph), Path(labels))
        self.server = Server(workspace, port, framed=True)
        self.height = height
        self.server.start()

    @property
    def labels(self) -> dict[str, str]:
        """What was painted: the class of every labelled node, both by name."""
        labelling = self.room.labelling
        pairs = zip(self.room.scene.names, labelling.labels.tolist(), strict=True)
        return {name: labelling.classes[label].name for name, label in pairs if label >= 0}

    @property
    def prediction(self) -> Prediction | None:
        """What is believed of all nodes, in the order of the graph; ``None`` until the page has been shown."""
        return self.room.prediction

    @property
    def address(self) -> str:
        return self.server.guard.address("/graph/notebook")

    def close(self) -> None:
        self.server.stop()

    def _repr_html_(self) -> str:
        source = html.escape(self.address, quote=True)
        return (
            f'<iframe src="{source}" width="100%" height="{self.height}" style="border:0" allow="fullscreen"></iframe>'
        )

    def __repr__(self) -> str:
        return f"Studio({self.address})"
