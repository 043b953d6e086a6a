"""``universal``: one model for any graph, any features and any number of classes, trained on made-up graphs alone."""

import math
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import torch
from torch import Tensor
from torch.distributions import Normal
from torch_geometric.data import Data

from ..defaults import SAMPLES
from ..episode import Episode
from ..errors import UserError, unknown_name
from ..experts.columns import Columns
from ..experts.evidence import EXPERTS, Evidence, evidence
from ..experts.views import Views
from ..graphs import UNLABELLED
from ..nn.neighbours import Neighbours
from ..nn.weighing import Weigher, opinions
from ..prediction import Prediction
from ..progress import counted
from .base import PART, LatentModel, ModelConfig, Reading, evaluating, in_parts

PLAIN = 10  # facts of a problem; besides, there are three of every expert
FACTS = PLAIN + 3 * len(EXPERTS)
STACK = EXPERTS.index("stack")
EXTRAS = 3
HALF = 10  # labels that can be left out with which the stack has three quarters of its share; with one, about half
MOST_PAIRS = 1000  # labelled nodes whose opinions are read into the summary


@dataclass
class UniversalConfig(ModelConfig):
    """``num_features`` and ``num_classes`` are 0: any. ``shared``: the graphs of an episode are parts of one problem, whose
    labels mean the same in all of them; else each is answered from its own labels alone. ``hedge``: the share of the stack,
    which no made-up graph has taught, in what is answered once training is over, with many labels: real graphs differ from
    made-up ones. With few labels the stack knows little, and its share is down to half of that; it
    has none where no label can be left out, since nothing has weighed the experts then. ``experts``: whose opinions the network
    reads; those that came after it was trained are heard through the stack, which weighs all of them."""

    num_features: int = 0
    num_classes: int = 0
    name: str = "universal"
    width: int = 64
    summary: int = 128
    z_width: int = 16
    shared: bool = False
    hedge: float = 0.5
    experts: list[str] = field(default_factory=lambda: list(EXPERTS))
    kind: str = "universal"


@dataclass
class Question:
    """One problem as the network reads it: everything but the weights has been said.

    Shapes: ``context`` [n] and ``y`` [n] labelled nodes, ``facts`` [FACTS] of the problem and of every expert,
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
    def ask(cls, views: Views, context: Tensor, y: Tensor, classes: int, columns: Columns | None = None) -> "Question":
        """Ask the experts. ``context`` [n] node numbers, ``y`` [n] their labels; ``columns``: kept between questions."""
        found = evidence(views, context, y, classes, columns)
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

    def to(self, device: torch.device) -> "Question":
        """For a network on ``device``; experts are asked on the processor, in double precision."""
        if self.facts.device == device:
            return self
        said = replace(self.evidence, log_p=self.evidence.log_p.to(device))
        moved = (tensor.to(device) for tensor in (self.facts, self.node, self.kind, self.told))
        return Question(self.context.to(device), self.y.to(device), said, *moved)


@dataclass
class Questions(Reading):
    """An episode's problems, ``parts``: the first and last node of each, and what can be seen of it without labels."""

    parts: list[tuple[slice, Views]]

    def ask(self, shown: Tensor) -> list[Question]:
        """A question per problem from the labels ``shown`` [N, C] one-hot."""
        asked = []
        for nodes, views in self.parts:
            table = shown[nodes].cpu()
            context = (table.sum(1) > 0).nonzero().squeeze(1)
            asked.append(Question.ask(views, context, table[context].argmax(1), shown.size(1)).to(shown.device))
        return asked

    @cached_property
    def from_context(self) -> list[Question]:
        return self.ask(self.episode.shown())

    def asked(self, z: Tensor, query: Tensor) -> Iterator[tuple[Question, Tensor, Tensor]]:
        """Every problem with its own samples of ``z`` [B, K, z], and its own numbers for those of ``query`` [Q] that are in it;
        ``query`` rises."""
        bounds = torch.tensor([nodes.start for nodes, _ in self.parts] + [self.episode.num_nodes], device=query.device)
        places = torch.searchsorted(query, bounds).tolist()
        found = zip(self.parts, self.from_context, z, pairwise(places), strict=True)
        for (nodes, _), question, sample, (first, last) in found:
            if first < last:
                yield question, sample, query[first:last] - nodes.start


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
        for name in config.experts:
            if name not in EXPERTS:
                raise unknown_name("expert", name, EXPERTS)
        if "stack" not in config.experts:
            raise UserError(
                "The experts given have no 'stack' among them, which is believed before anything is learned; add it."
            )
        self.heard = torch.tensor([EXPERTS.index(name) for name in config.experts])
        self.weigher = Weigher(
            len(config.experts),
            PLAIN + 3 * len(config.experts),
            EXTRAS,
            config.width,
            config.summary,
            config.z_width,
            config.experts.index("stack"),
        )

    def check(self, episode: Episode) -> None:
        """Any graph will do."""

    def standardise_by(self, x: Tensor) -> None:
        """Every graph is standardised by itself."""

    def scored(self, episode: Episode) -> Tensor:
        return episode.unlabelled_targets.nonzero().squeeze(1)

    def read(self, episode: Episode) -> Questions:
        graph, here = episode.graph, episode.to("cpu")
        if self.config.shared:
            parts = [(slice(0, episode.num_nodes), Views.of(here.graph))]
        else:
            bounds = graph.ptr.tolist()
            parts = [
                (slice(first, last), Views.of(here.only(number).graph))
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
        said = opinions(question.evidence.log_p[question.context[told]][..., self.heard])
        of_experts = question.facts[PLAIN:].view(3, -1)[:, self.heard]
        facts = torch.cat([question.facts[:PLAIN], of_experts.flatten()])
        return self.weigher.summary(facts, said, question.y[told])

    def decode(self, reading: Reading, z: Tensor | None, query: Tensor) -> Tensor:
        assert isinstance(reading, Questions) and z is not None
        scores = [self.score(question, sample, nodes) for question, sample, nodes in reading.asked(z, query)]
        return torch.cat(scores) if scores else z.new_zeros(0, z.size(1), reading.episode.num_classes)

    def answers(self, reading: Reading, query: Tensor, samples: int, seed: int) -> Prediction:
        assert isinstance(reading, Questions)
        asked = reading.asked(self.drawn(reading, samples, seed), query)
        return Prediction.join([self.believed(*one) for one in asked], reading.episode.num_classes)

    def score(self, question: Question, z: Tensor, nodes: Tensor) -> Tensor:
        """Scores of every class [Q, K, C] at ``nodes`` [Q] of one problem, for samples ``z`` [K, z]."""
        summary, share = self.summary(question), 0.0 if self.training else self.share(question)

        def work(part: slice) -> Tensor:
            scores, log_p = self._scores(question, summary, z, nodes[part])
            return hedged(scores, log_p[..., STACK], share) if share > 0 else scores

        return in_parts(nodes.numel(), self._width(question), work)

    def believed(self, question: Question, z: Tensor, nodes: Tensor | None = None) -> Prediction:
        """What follows from :meth:`score`, of all nodes for ``None``, part by part and never as logarithms: a third of the time."""
        summary, share = self.summary(question), self.share(question)
        size, count = max(1, PART // self._width(question)), question.node.size(0) if nodes is None else nodes.numel()
        slices = [slice(start, start + size) for start in range(0, count, size)]
        parts = []
        for part in counted(slices, len(slices)):
            scores, log_p = self._scores(question, summary, z, part if nodes is None else nodes[part])
            p = scores.transpose(1, 2).softmax(1)  # [Q, C, K]: classes are not last in memory, which is fast
            if share > 0:
                stack = log_p[..., STACK].exp()  # whose sum is above one, as no opinion is below LOWEST
                whole = 1 - share + share * stack.sum(1, keepdim=True)
                p = p.mul_(((1 - share) / whole).unsqueeze(-1)).add_((stack / whole).unsqueeze(-1), alpha=share)
            parts.append(Prediction.from_samples(p.permute(2, 0, 1), temperature=self.temperature))
        return Prediction.join(parts, question.kind.size(0))

    def _scores(self, question: Question, summary: Tensor, z: Tensor, nodes: Tensor | slice) -> tuple[Tensor, Tensor]:
        """Scores [Q, K, C] before any hedge, and what the experts say, [Q, C, E]."""
        log_p = question.evidence.log_p[nodes]
        said = opinions(log_p[..., self.heard])
        return self.weigher.score(summary, z, said, question.node[nodes], question.kind), log_p

    def share(self, question: Question) -> float:
        """Of the stack in what is answered."""
        countable = question.evidence.countable
        return self.config.hedge * (countable + HALF / 2) / (countable + HALF) if countable else 0.0

    def _width(self, question: Question) -> int:
        return 6 * self.config.width * question.kind.size(0)

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
    """One graph, any number of questions about it: what belongs to a labelled node is computed when it gets its label."""

    def __init__(self, model: Universal, views: Views) -> None:
        self.model, self.views, self.columns = model, views, Columns(views.nodes)

    @torch.no_grad()
    def ask(self, y: Tensor, classes: int) -> Question:
        """What the experts say with the labels ``y`` [N], -1 where unknown."""
        context = (y != UNLABELLED).nonzero().squeeze(1)
        return Question.ask(self.views, context, y[context], classes, self.columns)

    @torch.no_grad()
    def predict(self, y: Tensor, classes: int, *, samples: int = SAMPLES, seed: int = 0) -> Prediction:
        """Predict every node, labelled ones leave-one-out."""
        return self.answer(self.ask(y, classes), samples=samples, seed=seed)

    @torch.no_grad()
    def answer(self, question: Question, *, samples: int = SAMPLES, seed: int = 0) -> Prediction:
        model = self.model
        question = question.to(model.x_mean.device)
        with evaluating(model):
            q = model.weigher.latent(model.summary(question))
            noise = torch.randn(samples, q.loc.size(0), generator=torch.Generator().manual_seed(seed), device="cpu")
            return model.believed(question, q.loc + q.scale * noise.to(q.loc)).to("cpu")
