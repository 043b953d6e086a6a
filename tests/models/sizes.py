"""A task for tests of models that need no data."""

from __future__ import annotations

from mpnp.graphs import GraphSet
from mpnp.tasks import Split, Task


class SizesOnly(Task):
    """A task of which only the sizes are known."""

    context = extra = (0.1, 0.5)
    rates = (0.1,)

    def __init__(self, name: str, features: int, classes: int, relations: int = 1, appendix: str = "other") -> None:
        self.name, self.num_features, self.num_classes, self.num_relations = name, features, classes, relations
        self.appendix = appendix

    def scale(self) -> tuple[int, int]:
        return 100, 50

    def load(self) -> dict[Split, GraphSet]:
        raise AssertionError("the sizes are enough")
