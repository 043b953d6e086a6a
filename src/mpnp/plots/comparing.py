"""Predictors side by side on the same graphs; how a graph is drawn follows from the graph."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from matplotlib.figure import Figure

from ..defaults import SAMPLES
from ..episode import Episode, Sampling, sample_episode
from ..errors import UserError
from ..prediction import Predictor
from ..tasks.base import Split, Task
from ..tasks.lattices import torus
from .automata import BoardCanvas, SphereCanvas
from .clouds import CloudCanvas
from .graphs import edges_of, flat_canvas
from .interactive import save_page
from .panels import Canvas, Row, check_kind, figure_of, panels_of
from .style import PICTURES, check_ending, plain, save

ENDINGS = (*PICTURES, ".html")


@dataclass(frozen=True)
class Drawing:
    """What predictors make of some graphs: a picture in a notebook, or a file by :meth:`save`."""

    rows: Sequence[Row]
    title: str = ""
    class_names: Sequence[str] = ()
    which: str = ""  # graphs, in words

    def figure(self) -> Figure:
        return figure_of(self.rows, self.title, self.class_names)

    def save(self, path: Path | str) -> Path:
        """As a picture, or as a page to turn with the mouse and to point at, by the ending of ``path``."""
        path = Path(path)
        check_ending(path, ENDINGS)
        if path.suffix == ".html":
            return save_page(self.rows, path, self.title, self.class_names)
        return save(self.figure(), path)

    def _repr_png_(self) -> bytes:
        content = io.BytesIO()
        plain(self.figure()).savefig(content, format="png", dpi=110, bbox_inches="tight")
        return content.getvalue()


def canvas_of(episode: Episode) -> Canvas:
    """How to draw the one graph of an episode: cells on a sphere, a cloud of points, a board on the torus, or a graph."""
    pos = episode.graph.get("pos")
    if pos is not None and pos.size(1) == 3:
        on_sphere = bool(torch.allclose(pos.norm(dim=1), torch.ones(len(pos)), atol=1e-3))
        return SphereCanvas(episode) if on_sphere and len(pos) > 4 else CloudCanvas(episode)
    return BoardCanvas(episode) if pos is None and _is_board(episode) else flat_canvas(episode)


def compare(
    predictors: Mapping[str, Predictor],
    task: Task,
    graphs: Sequence[int] = (0,),
    *,
    rate: float = 0.1,
    kind: str = "auto",
    samples: int = SAMPLES,
    seed: int = 0,
    split: Split = "test",
) -> list[Row]:
    """What each predictor makes of ``graphs`` of a split with the same context, a row per graph: see ``figure_of``.

    The context of a graph depends on ``seed`` and on the graph alone.
    """
    check_kind(kind)
    store = task.graphs(split)
    rows = []
    for graph in graphs:
        if not 0 <= graph < len(store):
            raise UserError(f"There is no graph {graph}: {task.name} has {split} graphs 0 to {len(store) - 1}.")
        episode = sample_episode(
            store.select(torch.tensor([graph])),
            task.num_classes,
            Sampling.fixed(rate, task.arbitrary),
            torch.Generator().manual_seed(seed * 10_007 + graph),
        )
        said = {name: one.predict(episode, samples=samples, seed=seed) for name, one in predictors.items()}
        canvas = canvas_of(episode)
        starts = canvas.starts and _is_one_hot(episode)
        rows.append(Row(canvas, panels_of(episode, said, kind, starts), episode))
    return rows


def _is_board(episode: Episode) -> bool:
    side = round(episode.num_nodes**0.5)
    if side < 3 or side**2 != episode.num_nodes:
        return False
    board = torch.from_numpy(torus(side)).t().sort(1).values.unique(dim=0)
    return torch.equal(board, torch.from_numpy(edges_of(episode)))


def _is_one_hot(episode: Episode) -> bool:
    x = episode.graph.x
    return bool(((x == 0) | (x == 1)).all() and (x.sum(1) == 1).all())
