"""What is run for which table of the paper: tasks, rows, budgets; a run is a (task, row, seed)."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple

import yaml

from ..defaults import DRAWS, FIGURES
from ..errors import UserError, unknown_name
from ..evaluation.provenance import fingerprint
from ..models import PREDICTORS, configs
from ..models.base import ModelConfig
from ..models.paper_table import PAPER_FAMILY, PAPER_NETWORKS
from ..models.pretrained import SHIPPED, shipped
from ..tasks import get_task
from ..tasks.cellular_automata import FAMILIES
from ..tasks.shapenet import CATEGORIES
from ..tasks.tud import DATASETS
from ..training import recipes
from ..training.options import with_options
from ..training.recipe import Recipe

Budget = Literal["quick", "default", "paper"]
# Their test sets are so large that one draw of the contexts says as much as three.
LARGE = (
    *(f"shapenet/{name}" for name in ("airplane", "car", "chair", "guitar", "knife", "lamp", "laptop", "table")),
    *(f"shapenet/mixed-{parts}" for parts in (2, 3, 4)),
    *(f"cora/transductive-{ways}" for ways in (3, 7)),
)

# Zero-shot: the shipped model, which answers every graph from its own labels alone, on as many test graphs, one draw each.
ZERO_SHOT = ("universal",)
ZERO_SHOT_GRAPHS = 20
ZERO_SHOT_SHAPES = tuple(f"shapenet/{name}" for name in ("bag", "cap", "earphone", "mug", "rocket"))


class Variant(NamedTuple):
    """A row that is a model with something changed; ``beyond``: by what its published figure needs beyond the default;
    ``stands_for``: the system of the paper that it is, where that has another name."""

    model: str
    changes: Mapping[str, Any]
    recipe: str = "default"
    beyond: bool = True
    stands_for: str | None = None


# Options that came after results were published: at these values they change nothing, and an identity goes without them.
LATER = {
    "standardise": None,
    "keep": "best",
    "target_labels": "true",
    "spread": "deviation",
    "logs": False,
    "whole": False,
    "nearby": False,
    "regression": False,
    "smoothing": 10,
}
VARIANTS = {
    "ampnp-no-latent": Variant("ampnp", {"latent": False}),
    "ampnp-no-attention": Variant("ampnp", {"attention": False}),
    "ampnp-no-local": Variant("ampnp", {"local": False}),
    "ampnp-no-regression": Variant("ampnp", {"regression": False}),
    # The paper's models by its own recipe.
    "mpnp-paper": Variant("mpnp", {}, "paper", stands_for="mpnp"),
    "np-paper": Variant("np", {}, "paper", stands_for="np"),
    "r-mpnp-paper": Variant("r-mpnp", {}, "paper", stands_for="r-mpnp"),
    "ampnp-default": Variant("ampnp", {}, beyond=False),
    # The shipped model, which has learned on from its weights.
    "universal-tuned": Variant("universal", {}),
}


class Block(NamedTuple):
    """Every row is run on every task, but for ``left_out``."""

    tasks: tuple[str, ...]
    rows: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...] = ()


FREE = ("label-propagation", "mode")
BY_THE_PAPER = ("mpnp-paper", "np-paper")  # on one task of a kind: hundreds of thousands of steps of one graph
TABLES: dict[str, tuple[Block, ...]] = {
    "cellular-automata": (
        Block(
            tuple(f"ca/{family}" for family in FAMILIES),
            ("mode", "state-mode", "rule-table", "rule-posterior", "ampnp", "mpnp-c", "mpnp", "np-c", "np"),
            left_out=(("ca/life-like", "rule-posterior"),),  # its rules are a table: rule-table is the limit there
        ),
        Block(tuple(f"ca/{family}" for family in FAMILIES), ("mpnp-paper",)),
        Block(tuple(f"ca/{family}" for family in FAMILIES), ZERO_SHOT),
    ),
    "tud": (
        Block(
            tuple(f"tud/{key}" for key in DATASETS),
            (*FREE, "gnn", "unimp", "ampnp", "mpnp-c", "mpnp", "np-c", "np", *ZERO_SHOT),
        ),
        Block(("tud/dhfr",), BY_THE_PAPER),
    ),
    "ppisp": (
        Block(("ppisp",), (*FREE, "gnn", "r-gcn", "unimp", "ampnp", "ampnp-default", "mpnp", "r-mpnp", "np", *ZERO_SHOT)),
        Block(("ppisp",), ("r-mpnp-paper", "np-paper")),
    ),
    "cora-transductive": (
        Block(tuple(f"cora/transductive-{n}" for n in (2, 3, 7, 11)), (*FREE, "ampnp", "mpnp-c", "np-c")),
        # The citation graph is exact; only the features are a stand-in where Cora Full cannot be downloaded.
        Block(tuple(f"cora-graph/transductive-{n}" for n in (2, 3, 7, 11)), FREE),
    ),
    "cora-few-shot": (
        Block(tuple(f"cora/few-shot-{n}" for n in (2, 3, 5, 11)), (*FREE, "ampnp", "mpnp-c", "np-c", *ZERO_SHOT, "universal-tuned")),
        Block(tuple(f"cora/few-shot-{n}" for n in (2, 11)), ("ampnp-default",)),
    ),
    "shapenet-mixed": (
        Block(tuple(f"shapenet/mixed-{n}" for n in (2, 3, 4)), (*FREE, "gnn", "ampnp", "mpnp-c", "np-c")),
    ),
    "shapenet": (
        Block(tuple(f"shapenet/{name}" for name in CATEGORIES), (*FREE, "gnn", "unimp", "ampnp", "mpnp", "np")),
        Block(("shapenet/cap",), BY_THE_PAPER),
        Block(ZERO_SHOT_SHAPES, ZERO_SHOT),
    ),
    "ablation": (
        Block(
            ("ca/small-world", "tud/enzymes", "ppisp", "shapenet/mug", "cora/few-shot-3"),
            ("ampnp", "ampnp-no-latent", "ampnp-no-attention", "ampnp-no-local"),
            left_out=(("ca/small-world", "ampnp-no-local"),),  # there ampnp goes without anyway
        ),
        Block(("cora/few-shot-3",), ("ampnp-no-regression",)),  # elsewhere it goes without
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Job:
    """One run: train ``model`` (unless it has nothing to train) and score it on the test graphs."""

    task: str
    row: str
    seed: int = 0
    recipe: str = "default"
    changes: Mapping[str, Any] = field(default_factory=dict, hash=False)
    draws: int = DRAWS
    graphs: int | None = None

    @property
    def model(self) -> str:
        return VARIANTS[self.row].model if self.row in VARIANTS else self.row

    @property
    def _beyond(self) -> bool:
        return self.row not in VARIANTS or VARIANTS[self.row].beyond

    @property
    def trains(self) -> bool:
        return self.model not in PREDICTORS and self.row not in ZERO_SHOT

    @property
    def name(self) -> str:
        return f"{self.task.replace('/', '-')}-{self.row}-seed{self.seed}"

    def settings(self) -> tuple[Recipe, ModelConfig]:
        """How the model is trained, and what it is: the default or the paper's, what its figure needs beyond it, ``changes``."""
        task = get_task(self.task)
        configuration = configs.config(self.model, task, self.recipe)
        beyond = published(self.task, self.model) if self.recipe == "default" and self._beyond else {}
        return with_options(recipes.recipe(self.recipe, configuration, task), configuration, {**beyond, **self.changes})

    def identity(self) -> dict[str, Any]:
        """All that the result depends on; a result with another identity is never taken for this job's."""
        task = get_task(self.task)
        whole: dict[str, Any] = {
            "version": FIGURES,
            "data": {"task": self.task, "source": task.source, "version": task.version},
            "row": self.row,
            "seed": self.seed,
            "evaluation": {"draws": self.draws, "graphs": self.graphs},
        }
        if self.model in SHIPPED:
            whole["weights"] = fingerprint(shipped(self.model))
        if self.trains:
            plan, configuration = self.settings()
            whole |= {"recipe": _told(plan), "model": _told(configuration)}
        return whole


def _told(options: Recipe | ModelConfig) -> dict[str, Any]:
    return {name: value for name, value in asdict(options).items() if name not in LATER or value != LATER[name]}


@cache
def _published() -> list[dict[str, Any]]:
    return yaml.safe_load((files(__package__) / "recipes.yaml").read_text(encoding="utf-8"))


def published(task: str, model: str) -> dict[str, Any]:
    """What the published figure of ``model`` on ``task`` needs beyond the derived default (``recipes.yaml``)."""
    changes: dict[str, Any] = {}
    for entry in _published():
        if task in entry["tasks"] and model in entry.get("models", [model]):
            changes |= entry["set"]
    return changes


def beyond(tasks: Container[str]) -> list[str]:
    """A sentence for every line of ``recipes.yaml`` on one of ``tasks``: which figures, what differs and why."""
    sentences = []
    for entry in _published():
        if names := [task for task in entry["tasks"] if task in tasks]:
            models = ", ".join(entry.get("models", ["every model"]))
            fields = ", ".join(f"{name} = {str(value).lower()}" for name, value in entry["set"].items())
            sentences.append(f"{models} on {', '.join(names)}: {fields}, not the default. {entry['why']}")
    return sentences


def jobs(
    tables: Sequence[str] = (),
    *,
    tasks: Sequence[str] = (),
    rows: Sequence[str] = (),
    seeds: int = 1,
    budget: Budget = "default",
) -> list[Job]:
    """The runs of the ``tables`` named (all by default), each once, in the order of the tables; ``tasks`` and ``rows`` narrow
    them down.

    What has no parameters is run once, whatever the number of seeds: its spread is that of the context draws.
    """
    for name in tables:
        if name not in TABLES:
            raise unknown_name("table", name, TABLES)
    blocks = [block for name in tables or TABLES for block in TABLES[name]]
    _check("task", tasks, [task for block in blocks for task in block.tasks], tables)
    _check("model", rows, [row for block in blocks for row in block.rows], tables)
    found: dict[tuple[str, str, int], Job] = {}
    for block in blocks:
        for task in block.tasks:
            for row in block.rows:
                wanted = (not tasks or task in tasks) and (not rows or row in rows)
                if wanted and (task, row) not in block.left_out and not (budget == "quick" and task in LARGE):
                    for seed in range(1 if row in PREDICTORS or row in ZERO_SHOT else seeds):
                        found.setdefault((task, row, seed), _job(task, row, seed, budget))
    if not found:
        raise UserError("The tasks and models given have no run in common; see 'mpnp reproduce --help'.")
    return list(found.values())


def _job(task: str, row: str, seed: int, budget: Budget) -> Job:
    variant = VARIANTS.get(row, Variant(row, {}))
    recipe, changes = variant.recipe, dict(variant.changes)
    if budget == "paper" and (variant.model in PAPER_FAMILY or variant.model in PAPER_NETWORKS):
        recipe = "paper"
    if budget == "quick":
        changes["most_steps"] = 100
    quick, zero_shot = budget == "quick", row in ZERO_SHOT
    draws = 1 if quick or zero_shot or task in LARGE else 3
    return Job(task, row, seed, recipe, changes, draws, 40 if quick else ZERO_SHOT_GRAPHS if zero_shot else None)


def _check(kind: str, given: Sequence[str], known: Iterable[str], tables: Sequence[str]) -> None:
    names = list(dict.fromkeys(known))
    for name in given:
        if name not in names:
            raise unknown_name(f"{kind} in {'the tables given' if tables else 'any table'}", name, names)
