"""``universal``: one model for any graph, any features and any number of classes, trained on made-up graphs alone."""

import math
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import torch
from torch import Tensor
from torch.distributions import Normal
from torch_geometric.data import Data

from ..defaults import SAMPLES
from ..episode import Episode
from ..errors import UserError
from ..experts.evidence import EXPERTS, Evidence, evidence
from ..experts.views import Views
from ..graphs import UNLABELLED
from ..nn.neighbours import Neighbours
from ..nn.weighing import Weigher, opinions
from ..prediction import Prediction
from .base import LatentModel, ModelConfig, Reading, evaluating, in_parts

FACTS = 10 + 3 * len(EXPERTS)
EXTRAS = 3
HALF = 10  # labels that can be left out, with which the stack has half of its share
MOST_PAIRS = 1000  # labelled nodes whose opinions are read into the summary


@dataclass
class UniversalConfig(ModelConfig):
    """``num_features`` and ``num_classes`` are 0: any. ``shared``: the graphs of an episode are parts of one problem, whose
    labels mean the same in all of them; else each is answered from its own labels alone. ``hedge``: the share of the stack,
    which no made-up graph has taught, in what is answered once training is over, with many labels: real graphs differ from
    made-up ones. With few labels the stack knows little, and its share is smaller."""

    num_features: int = 0
    num_classes: int = 0
    name: str = "universal"
    width: int = 64
    summary: int = 128
    z_width: int = 16
    shared: bool = False
    hedge: float = 0.5
    kind: str = "universal"


@dataclass
class Question:
    """One problem as the network reads it: everything but the weights has been said.

    Shapes: ``context`` [n] and ``y`` [n] labelled nodes, ``said`` [N, C, E] log-probabilities, ``facts`` [FACTS],
    ``node`` [N, 3], ``kind`` [C, 3], ``told`` [m] the labelled nodes that say something of the experts.
    """

    context: Tensor
    y: Tensor
    evidence: Evidence
    facts: Tensor
    node: Tensor
    kind: Tensor
    told: Tensor

    @classmethod
    @torch.no_grad()
    def ask(cls, views: Views, context: Tensor, y: Tensor, classes: int) -> "Question":
        """Ask the experts. ``context`` [n] node numbers, ``y`` [n] their labels."""
        found = evidence(views, context, y, classes)
        walks, labels = views.walks, y.numel()
        given = torch.zeros(views.nodes, 1).index_fill_(0, context, 1.0)
        share = walks.mean(given) * (walks.strength > 0).unsqueeze(1)
        degree = walks.degree.unsqueeze(1)
        node = torch.cat([degree.log1p() / 2, share, (share * degree).log1p()], 1)
        kind = torch.stack([found.counts.log1p() / 2, found.shares * classes / 3, (found.counts == 0).float()], 1)
        most_common = float(found.counts.max()) / max(labels, 1)
        even = float(torch.special.entr(found.shares).sum()) / math.log(max(classes, 2))
        facts = torch.tensor(
            [
                math.log1p(labels) / 3,
                math.log(classes) / 2,
                math.log(views.nodes) / 5,
                labels / views.nodes,
                math.log1p(labels / classes) / 2,
                even,
                found.countable / max(labels, 1),
                math.log1p(float(degree.mean())) / 2,
                most_common,
                float((found.counts > 0).float().mean()),
            ]
        )
        facts = torch.cat([facts, found.skill.clamp(-2, 3), found.accuracy - most_common, found.present.float()])
        told = (found.counts[y] > 1).nonzero().squeeze(1) if labels else torch.zeros(0, dtype=torch.long)
        if told.numel() > MOST_PAIRS:
            told = told[:: -(-told.numel() // MOST_PAIRS)]
        return cls(context, y, found, facts, node, kind, told)


@dataclass
class Questions(Reading):
    """An episode's problems, ``parts``: the first and last node of each, and what can be seen of it without labels."""

    parts: list[tuple[slice, Views]]

    def ask(self, shown: Tensor) -> list[Question]:
        """A question per problem from the labels ``shown`` [N, C] one-hot."""
        asked = []
        for nodes, views in self.parts:
            table = shown[nodes]
            context = (table.sum(1) > 0).nonzero().squeeze(1)
            asked.append(Question.ask(views, context, table[context].argmax(1), shown.size(1)))
        return asked

    @cached_property
    def from_context(self) -> list[Question]:
        return self.ask(self.episode.shown())


class Universal(LatentModel):
    """Closed-form experts give evidence for every class; a neural process trained on made-up graphs weighs it.

    Context nodes are predicted leave-one-out: their own label has no part in the evidence for them.
    """

    config: UniversalConfig
    any_classes = any_features = True
    leaves_one_out = True

    def __init__(self, config: UniversalConfig) -> None:
        super().__init__(config)
        if not 0 <= config.hedge < 1:
            raise UserError(f"hedge = {config.hedge} was given, a share from 0 up to but not including 1 is expected.")
        self.weigher = Weigher(
            len(EXPERTS), FACTS, EXTRAS, config.width, config.summary, config.z_width, EXPERTS.index("stack")
        )

    def check(self, episode: Episode) -> None:
        """Any graph will do."""

    def standardise_by(self, x: Tensor) -> None:
        """Every graph is standardised by itself."""

    def scored(self, episode: Episode) -> Tensor:
        return episode.unlabelled_targets.nonzero().squeeze(1)

    def read(self, episode: Episode) -> Questions:
        graph = episode.graph
        if self.config.shared:
            parts = [(slice(0, episode.num_nodes), Views.of(graph))]
        else:
            bounds = graph.ptr.tolist()
            parts = [
                (slice(first, last), Views.of(episode.only(number).graph))
                for number, (first, last) in enumerate(pairwise(bounds))
            ]
        return Questions(episode, Neighbours(graph), graph.x, graph.x, parts)

    def latent(self, reading: Reading, shown: Tensor) -> Normal:
        """Over [problems, P, z]."""
        assert isinstance(reading, Questions)
        context = reading.episode.shown()
        sets = [
            reading.from_context if torch.equal(labels, context) else reading.ask(labels) for labels in shown.unbind(1)
        ]
        found = [
            [self.weigher.latent(self.summary(question)) for question in asked] for asked in zip(*sets, strict=True)
        ]
        loc, scale = (
            torch.stack([torch.stack([getattr(q, name) for q in row]) for row in found]) for name in ("loc", "scale")
        )
        return Normal(loc, scale, validate_args=False)

    def summary(self, question: Question) -> Tensor:
        told = question.told
        said = opinions(question.evidence.log_p[question.context[told]])
        return self.weigher.summary(question.facts, said, question.y[told])

    def decode(self, reading: Reading, z: Tensor | None, query: Tensor) -> Tensor:
        assert isinstance(reading, Questions) and z is not None
        scores = []
        for (nodes, _), question, sample in zip(reading.parts, reading.from_context, z, strict=True):
            inside = query[(query >= nodes.start) & (query < nodes.stop)] - nodes.start
            if inside.numel():
                scores.append(self.score(question, sample, inside))
        return torch.cat(scores) if scores else z.new_zeros(0, z.size(1), reading.episode.num_classes)

    def score(self, question: Question, z: Tensor, nodes: Tensor) -> Tensor:
        """Scores of every class [Q, K, C] at ``nodes`` [Q] of one problem, for samples ``z`` [K, z]."""
        summary, countable = self.summary(question), question.evidence.countable
        share = self.config.hedge * countable / (countable + HALF)

        def work(part: slice) -> Tensor:
            rows = nodes[part]
            log_p = question.evidence.log_p[rows]
            scores = self.weigher.score(summary, z, opinions(log_p), question.node[rows], question.kind)
            if self.training or share == 0:
                return scores
            return hedged(scores, log_p[..., EXPERTS.index("stack")], share)

        return in_parts(nodes.numel(), 6 * self.config.width * question.kind.size(0), work)

    def sharing(self) -> "Universal":
        """The same model for graphs whose labels mean the same in all of them: each is answered from the labels of all."""
        if self.config.shared:
            return self
        other = copy(self)
        other.config = replace(self.config, shared=True)
        return other

    def open(self, graph: Data) -> "Session":
        """A graph to ask about again and again: what does not depend on labels is computed once."""
        return Session(self, Views.of(graph))


def hedged(scores: Tensor, stack: Tensor, share: float) -> Tensor:
    """log((1 - share) softmax(scores) + share stack), [Q, K, C] from scores and log-probabilities [Q, C]."""
    return torch.logaddexp(scores.log_softmax(-1) + math.log1p(-share), stack.unsqueeze(1) + math.log(share))


class Session:
    """One graph, any number of questions about it."""

    def __init__(self, model: Universal, views: Views) -> None:
        self.model, self.views = model, views

    @torch.no_grad()
    def ask(self, y: Tensor, classes: int) -> Question:
        """What the experts say with the labels ``y`` [N], -1 where unknown."""
        context = (y != UNLABELLED).nonzero().squeeze(1)
        return Question.ask(self.views, context, y[context], classes)

    @torch.no_grad()
    def predict(self, y: Tensor, classes: int, *, samples: int = SAMPLES, seed: int = 0) -> Prediction:
        """Predict every node, labelled ones leave-one-out."""
        return self.answer(self.ask(y, classes), samples=samples, seed=seed)

    @torch.no_grad()
    def answer(self, question: Question, *, samples: int = SAMPLES, seed: int = 0) -> Prediction:
        model = self.model
        with evaluating(model):
            q = model.weigher.latent(model.summary(question))
            noise = torch.randn(samples, q.loc.size(0), generator=torch.Generator().manual_seed(seed))
            scores = model.score(question, q.loc + q.scale * noise, torch.arange(self.views.nodes))
        temperature = 1.0 if model.calibration is None else model.calibration.temperature
        return Prediction.from_samples(scores.transpose(0, 1).softmax(-1), temperature=temperature)
