"""Names that help texts list and that are checked before anything heavy is imported.

A help text writes ``{models}`` where it wants the names of all models. The registries themselves import torch, which takes
seconds; a test holds these lists equal to them.
"""

from __future__ import annotations

from pathlib import Path

from ..defaults import READY
from ..errors import UserError, unknown_name, untrained

HUB = "hf:"  # before user/name: a model on the Hugging Face hub
MODELS = ("np", "np-c", "mpnp", "mpnp-c", "r-mpnp", "ampnp", "anp", "gnn", "r-gcn", "unimp", READY)
PREDICTORS = ("mode", "state-mode", "rule-table", "rule-posterior", "label-propagation")
SHIPPED = (READY,)
STRATEGIES = ("random", "entropy", "epistemic", "margin", "deviation", "spread", "typical", "age", "featprop", "grain",
              "expected", "auto")  # fmt: skip
KINDS = ("auto", "truth", "prediction", "uncertainty", "gallery")
TABLES = ("cellular-automata", "tud", "ppisp", "cora-transductive", "cora-few-shot", "shapenet-mixed", "shapenet",
          "ablation")  # fmt: skip
FILES = (
    "a .pt, .graphml, .gexf, .json or .npz file, a folder with nodes.csv and edges.csv (or .parquet), or a TUDataset "
    "folder with NAME_A.txt and NAME_graph_indicator.txt"
)
_FAMILIES = {
    "ca/": "small-world scale-free voronoi spherical-voronoi life-like",
    "tud/": "proteins enzymes dhfr cox2 bzr",
    "": "ppisp",
    "shapenet/": "airplane bag cap car chair earphone guitar knife lamp laptop motorbike mug pistol rocket skateboard table "
    "mixed-2 mixed-3 mixed-4",
    "cora/": "transductive-2 transductive-3 transductive-7 transductive-11 few-shot-2 few-shot-3 few-shot-5 few-shot-11",
    "cora-graph/": "transductive-2 transductive-3 transductive-7 transductive-11",
    "node/": "cora citeseer wisconsin texas actor squirrel_filtered minesweeper photo coauthor_cs dblp cora_ml blogcatalog "
    "air_usa acm",
    "prior/": "graphs",
}
TASKS = tuple(family + name for family, names in _FAMILIES.items() for name in names.split())

NAMES = {
    "models": MODELS,
    "predictors": (*SHIPPED, *PREDICTORS),
    "baselines": PREDICTORS,
    "strategies": STRATEGIES,
    "kinds": KINDS,
    "tables": TABLES,
    "files": (FILES,),
}


def filled_in(text: str) -> str:
    """A help text with the names in their places."""
    for place, names in NAMES.items():
        text = text.replace(f"{{{place}}}", ", ".join(names))
    return text


def check_model(name: str) -> None:
    """Refuse what is neither a predictor, a folder here nor, said with ``hf:``, on the hub."""
    if name in PREDICTORS or name in SHIPPED or name.startswith(HUB) or Path(name).exists():
        return
    if name in MODELS:
        raise untrained(name)
    if "/" in name:
        raise UserError(
            f"There is no trained model at '{name}'; give the folder that 'mpnp train' wrote, or {HUB}user/name."
        )
    raise unknown_name("predictor or model folder", name, (*PREDICTORS, *SHIPPED))


def check_task(name: str) -> None:
    """Refuse what is neither a task nor a path."""
    path = Path(name.removeprefix("own:"))
    if name in TASKS or path.exists():
        return
    if name.startswith(("own:", ".", "/", "~")) or path.suffix:
        raise UserError(f"There is no file or folder '{path}'; give the name of a task or the path of your graphs.")
    raise unknown_name("task", name, TASKS)


def check_trained(name: str) -> None:
    """Refuse a model that cannot be trained by name."""
    if name not in MODELS:
        raise unknown_name("model", name, MODELS)


def check_strategy(name: str) -> None:
    if name not in STRATEGIES:
        raise unknown_name("strategy", name, STRATEGIES)


def check_kind(name: str) -> None:
    if name not in KINDS:
        raise unknown_name("kind of picture", name, KINDS)


def check_graph(path: str) -> None:
    """Refuse a path where nothing is."""
    if not Path(path).exists():
        raise UserError(f"There is nothing at {path}; give {FILES}.")
