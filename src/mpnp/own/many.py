"""A folder of many graphs, each a problem of its own: predicted one after the other here, or by Ray Data on a cluster.

Every graph gets a table of its own, written whole under its final name by whoever predicted it: if a machine is lost in the
middle, its graphs are predicted again elsewhere, and no row is there twice or missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from ..defaults import COVERAGE, SAMPLES
from ..errors import UserError
from ..evaluation.given import reading_of
from ..models import find_predictor
from ..tasks.formats.files import BY_ENDING, BY_NAME
from ..tasks.own import load_graphs
from .cluster import join
from .predict import predict_own

EngineName = Literal["local", "ray"]


@dataclass(frozen=True)
class Asked:
    """What is asked of every graph, and in which folder the tables go."""

    model: str
    out: str
    coverage: float = COVERAGE
    samples: int = SAMPLES
    seed: int = 0
    reading: dict[str, Any] = field(default_factory=dict)  # how the files are read, as ``load_graphs`` has it


@dataclass(frozen=True)
class Answered:
    """What came of one graph: how many rows, or an ``error`` in a sentence."""

    source: str
    nodes: int = 0
    error: str = ""


def sources(folder: Path) -> list[Path]:
    """The graphs in ``folder``: files by their ending, and folders of tables."""
    if not folder.is_dir():
        raise UserError(f"{folder} is no folder; with --engine a folder with a graph in every file is expected.")
    found = [path for path in sorted(folder.iterdir()) if not path.name.startswith(".") and _is_source(path)]
    if not found:
        raise UserError(
            f"There is no graph in {folder}; with --engine a folder with a graph in every file is expected."
        )
    return found


def _is_source(path: Path) -> bool:
    if path.is_dir():
        return any((path / name).exists() for name in BY_NAME) or any(path.glob("*_A.txt"))
    return path.suffix.lower() in BY_ENDING


def predict_many(
    paths: list[Path], asked: Asked, engine: EngineName = "local", workers: int = 1, address: str | None = None
) -> Iterator[Answered]:
    """Predict the graphs at ``paths``, each as if it were alone; what became of them, in any order."""
    if engine == "local":
        worker = Worker(asdict(asked))
        yield from (Answered(**worker({"source": str(path.absolute())})) for path in paths)
        return
    join(address, workers)
    import ray.data

    ray.data.DataContext.get_current().enable_progress_bars = False
    rows = ray.data.from_items([{"source": str(path.absolute())} for path in paths], override_num_blocks=len(paths))
    predicting: Any = Worker  # Ray takes the class for the function that its instances are
    done = rows.map(predicting, fn_constructor_args=(asdict(asked),), concurrency=workers, num_cpus=1)
    yield from (Answered(**row) for row in done.iter_rows())


class Worker:
    """Loads the model once, and predicts graph after graph: a row in, a row out."""

    def __init__(self, asked: dict[str, Any]) -> None:
        self.asked = Asked(**asked)
        self.predictor, _ = find_predictor(self.asked.model)

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        try:
            return asdict(Answered(row["source"], self._predict(Path(row["source"]))))
        except UserError as error:
            return asdict(Answered(row["source"], error=str(error)))

    def _predict(self, path: Path) -> int:
        asked, predictor = self.asked, self.predictor
        own = load_graphs(path, **reading_of(predictor), **asked.reading)
        said = predict_own(predictor, own, None, asked.coverage, samples=asked.samples, seed=asked.seed)
        said.save(Path(asked.out) / f"{path.name}.csv")
        return len(said.probabilities)
