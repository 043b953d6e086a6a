"""What to label next, which labels to doubt, and whether to stop: pure functions of a belief and the labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ..active.forecast import forecast
from ..graphs import UNLABELLED
from ..prediction import Prediction
from .belief import Belief

QUEUE = 10
SUSPECTS = 20
COVERAGE = 0.9
SURE = 0.9  # from this probability on a node is not called torn
WORTH = 0.002  # a label expected to settle fewer nodes than this share is hardly worth the click
ENOUGH = 8  # labels before a cross-validated accuracy says anything
# Why a strategy asks for a node, for people; others say what their score is.
REASONS = {
    "auto": "Of the nodes looked at, its answer is expected to leave the fewest mistakes.",
    "expected": "Of the nodes looked at, its answer is expected to leave the fewest mistakes.",
    "age": "It is central, in doubt, and like many others.",
    "featprop": "It stands for nodes that are unlike all labelled ones.",
    "grain": "It reaches nodes that no labelled one reaches yet.",
    "spread": "Much doubt lies within two steps of it, and no label covers that yet.",
    "typical": "Many nodes that look like it are still in doubt.",
    "entropy": "Of all nodes it is among those the model is least sure of.",
    "epistemic": "Of all nodes it is among those where labels would lift most doubt.",
    "margin": "Its two likeliest classes are nearly level.",
    "deviation": "What is predicted of it varies most.",
    "random": "It was drawn at random.",
}


@dataclass(frozen=True)
class Question:
    node: int
    score: float
    why: str


@dataclass(frozen=True)
class Suspect:
    """A given label that the model, not knowing it, gives ``given`` probability, while it believes in ``instead``."""

    node: int
    given: float
    instead: int
    probability: float


@dataclass(frozen=True)
class Accuracy:
    """Of the given labels, each predicted from the others: the share that is right, and its 95 % interval.

    ``labels``: how many there are; those that are alone in their class cannot be predicted and do not count.
    """

    labels: int
    right: float
    low: float
    high: float


def questions(
    belief: Belief,
    strategy: str,
    says: str,
    y: Tensor,
    prediction: Prediction,
    names: Sequence[str],
    skipped: Tensor,
    stale: Callable[[], bool] = lambda: False,
) -> list[Question]:
    """The next nodes to label, the best first, each with its reason in words."""
    found = belief.questions(strategy, y, prediction, skipped, QUEUE, stale)
    return [Question(node, score, _why(prediction, node, score, strategy, says, names, y)) for node, score in found]


def _why(
    prediction: Prediction, node: int, score: float, strategy: str, says: str, names: Sequence[str], y: Tensor
) -> str:
    if not (y != UNLABELLED).any():
        return "Nothing is labelled yet; this node is a good one to begin with."
    p = prediction.probabilities[node]
    top = p.topk(min(2, p.numel()))
    first = f"'{names[int(top.indices[0])]}' ({100 * float(top.values[0]):.0f} %)"
    if float(top.values[0]) >= SURE or p.numel() < 2:
        view = f"It is taken for {first}."
    else:
        view = f"It is torn between {first} and '{names[int(top.indices[1])]}' ({100 * float(top.values[1]):.0f} %)."
    return f"{view} {REASONS.get(strategy) or f'It scores {score:.2f}: {says}.'}"


def suspects(left_out: Tensor, y: Tensor) -> list[Suspect]:
    """Given labels the model disagrees with, the most doubtful first; ``left_out`` [L, C] as :meth:`Belief.left_out`.

    The only label of a class is no suspect: without it the class would not be known.
    """
    labelled = (y != UNLABELLED).nonzero().squeeze(1)
    given = left_out.gather(1, y[labelled].unsqueeze(1)).squeeze(1)
    best, instead = left_out.max(1)
    wrong = (
        (_in_company(y[labelled], left_out.size(1)) & (instead != y[labelled]) & (best > given + 1e-6))
        .nonzero()
        .squeeze(1)
    )
    order = wrong[given[wrong].argsort()][:SUSPECTS]
    return [Suspect(int(labelled[i]), float(given[i]), int(instead[i]), float(best[i])) for i in order.tolist()]


def accuracy(left_out: Tensor, y: Tensor) -> Accuracy | None:
    """Cross-validated, with Wilson's interval; ``None`` where no class has two labels.

    Labels that were asked for because they are hard are harder than the rest, so it is rather too low than too high.
    """
    labels = y[y != UNLABELLED]
    known = _in_company(labels, left_out.size(1))
    if not known.any():
        return None
    right = float((left_out.argmax(1) == labels)[known].float().mean())
    return Accuracy(labels.numel(), right, *wilson(right, int(known.sum())))


def _in_company(labels: Tensor, classes: int) -> Tensor:
    """Which labels are not alone in their class, [L]: only these can be predicted without themselves."""
    return torch.bincount(labels, minlength=classes)[labels] > 1


def wilson(share: float, count: int, z: float = 1.96) -> tuple[float, float]:
    """The interval of a share of ``count`` trials that holds the true one with 95 %."""
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return max(0.0, middle - half), min(1.0, middle + half)


def threshold(left_out: Tensor, y: Tensor, coverage: float = COVERAGE) -> float:
    """All classes of at least this probability make a set that holds the true one with ``coverage``; 0 with few labels.

    Conformal, with the labelled nodes left out one by one as those to calibrate on. The promise presumes that labelled
    nodes are like the others.
    """
    labels = y[y != UNLABELLED]
    rank = math.ceil((labels.numel() + 1) * coverage - 1e-9)
    if rank > labels.numel():
        return 0.0
    scores = 1 - left_out.gather(1, labels.unsqueeze(1)).squeeze(1)
    return 1 - float(scores.sort().values[rank - 1])


def settled(prediction: Prediction, y: Tensor) -> float:
    """How many of the unlabelled nodes are right by the model's own account: the sum of their highest probabilities."""
    return float(prediction.probabilities[y == UNLABELLED].amax(1).sum()) if (y == UNLABELLED).any() else 0.0


def expected_gain(belief: Belief, y: Tensor, prediction: Prediction, node: int, stale: Callable[[], bool]) -> float:
    """How many more nodes the model expects to get right once ``node`` is labelled, whichever of its likely labels it gets.

    One look ahead per class, the three likeliest at most; the node itself is not counted.
    """
    classes = prediction.probabilities.size(1)
    likely = prediction.probabilities[node].topk(min(3, classes))
    others = y.clone()
    others[node] = 0
    now, gain = settled(prediction, others), 0.0
    for share, label in zip((likely.values / likely.values.sum()).tolist(), likely.indices.tolist(), strict=True):
        asked = y.clone()
        asked[node] = label
        gain += share * (settled(belief.imagine(asked, classes, stale), others) - now)
    return max(gain, 0.0)


def verdict(gain: float, unlabelled: int, right: Accuracy | None, classes_seen: int) -> tuple[bool, str]:
    """Whether to stop, and the reason in a sentence."""
    if unlabelled == 0:
        return True, "Every node has a label."
    if classes_seen < 2:
        return False, "Label at least one node of two classes, and the model can begin."
    nodes = "1 node" if round(gain) == 1 else f"{gain:.1f} nodes" if gain < 10 else f"{gain:,.0f} nodes"
    none = gain < 0.05  # would be told as 0.0
    if right is None or right.labels < ENOUGH:
        hope = "" if none else f"another label is expected to settle {nodes}, and "
        return False, f"Go on: {hope}the labels are too few to judge by."
    if gain > max(WORTH * unlabelled, 0.5):
        return False, f"Go on: another label is expected to settle {nodes} of {unlabelled:,}."
    if none:
        return True, f"You may stop: another label is expected to settle none of the {unlabelled:,} others."
    return True, f"You may stop: another label is expected to settle only {nodes} of {unlabelled:,}."


def outlook(prediction: Prediction, y: Tensor, left_out: Tensor, gain: float) -> str:
    """The accuracy to expect on the nodes without a label, now and with half as many labels more; '' where that is a guess."""
    labels, hidden = int((y != UNLABELLED).sum()), int((y == UNLABELLED).sum())
    if labels < ENOUGH or hidden == 0:
        return ""
    more = min(max(5, labels // 2), hidden)
    now, then = forecast(prediction, y, (0, more), left_out=left_out, gain=gain)
    text = f"{now.sentence}; {then.sentence}."
    return text[0].upper() + text[1:]
