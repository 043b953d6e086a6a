"""What leaves the studio: labels, predictions, and the Python lines that lead to them again."""

from __future__ import annotations

import csv
from io import StringIO

import numpy as np

from ..graphs import UNLABELLED
from ..prediction import Prediction
from .labelling import Labelling
from .scene import Scene


def predictions(scene: Scene, labelling: Labelling, prediction: Prediction) -> str:
    """A table with one row per node, its columns those of ``mpnp predict``."""
    names = [one.name for one in labelling.classes]
    columns = {"total": prediction.total, "aleatoric": prediction.aleatoric, "epistemic": prediction.epistemic}
    stream = StringIO()
    rows = csv.writer(stream, lineterminator="\n")
    rows.writerow(["node", "given", "label", *[f"p_{name}" for name in names], *columns])
    shown = zip(scene.names, labelling.labels.tolist(), prediction.label.tolist(), prediction.probabilities.tolist(),
                *[column.tolist() for column in columns.values()], strict=True)  # fmt: skip
    for node, given, label, shares, *doubt in shown:
        numbers = [f"{number:.6f}" for number in (*shares, *doubt)]
        rows.writerow([node, "" if given == UNLABELLED else names[given], names[label], *numbers])
    return stream.getvalue()


def script(scene: Scene, labelling: Labelling, model: str) -> str:
    """Python that makes the same graph, gives it the same labels and predicts the same."""
    given = {scene.names[i]: int(labelling.labels[i]) for i in np.flatnonzero(labelling.labels != UNLABELLED)}
    labels = "".join(f"    {name!r}: {label},\n" for name, label in given.items())
    return (
        f"import torch\n\n{scene.recipe}"
        f"classes = {[one.name for one in labelling.classes]!r}\n"
        f"labels = {{  # the node's name, the number of its class\n{labels}}}\n\n"
        "from mpnp.studio.belief import open_graph\n\n"
        "y = torch.tensor([labels.get(name, -1) for name in names])\n"
        f"prediction = open_graph({model!r}, data).believe(y, len(classes))\n"
        "for name, label, share in zip(names, prediction.label, prediction.probabilities.amax(1)):\n"
        '    print(name, classes[label], f"{share:.3f}", sep="\\t")\n'
    )
