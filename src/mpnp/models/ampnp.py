"""The flagship: roads from a labelled node to an unlabelled one, and one scorer shared by all classes."""

from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor
from torch.distributions import Normal

from ..episode import Episode
from ..errors import UserError
from ..nn.aggregators import group_mean
from ..nn.attention import ClassAttention
from ..nn.diffusion import diffuse
from ..nn.features import Logs, waves
from ..nn.latent import LatentHead
from ..nn.neighbours import Neighbours
from ..nn.regression import RIDGES, Regression, Solution
from .base import LatentModel, ModelConfig, Reading, in_parts


@dataclass
class AmpnpConfig(ModelConfig):
    """Sizes and roads.

    ``latent``, ``attention``, ``local``, ``regression``: the roads, each can be switched off; ``z_width`` 0 keeps the
    prototypes of the latent road and drops their sampling. ``edges`` off makes it ``anp``, which sees a set of nodes.
    ``class_embedding``: labels have a fixed meaning, so a class may be known by its name. ``refine``: steps along the
    edges, per class, after the evidence is weighed. ``octaves``: features are places, seen at so many scales (:func:`~mpnp.nn.features.waves`).
    ``logs``: features are amounts, seen on a logarithmic scale too (:class:`~mpnp.nn.features.Logs`).
    ``whole``: a node is seen with the graph as a whole before it, as a part is with the shape. ``nearby``: features are
    places, and attention goes by how far away a labelled node lies, and where, besides what it resembles. ``smoothing``: steps
    along the edges that smooth what labels are regressed on.
    """

    width: int = 64
    depth: int = 2
    heads: int = 4
    head_width: int = 16
    values: int = 16
    z_width: int = 32
    latent: bool = True
    attention: bool = True
    local: bool = True
    edges: bool = True
    class_embedding: bool = False
    refine: int = 3
    reaches: tuple[int, ...] = (1, 2, 8, 40)
    dropout: float = 0.0
    octaves: int = 0
    logs: bool = False
    whole: bool = False
    nearby: bool = False
    regression: bool = False
    smoothing: int = 10
    kind: str = "ampnp"


class Block(nn.Module):
    r"""A residual step of normalised message passing: :math:`u_i + W_3\,\mathrm{ReLU}(W_1 \bar u_i + W_2\, \mathrm{mean}_j \bar u_j)`,
    :math:`\bar u = \mathrm{LayerNorm}(u)`; without edges the mean is left out. ``whole`` adds the graph as a whole,
    :math:`W_4 [\mathrm{mean}_k \bar u_k \,\|\, \max_k \bar u_k]` over all its nodes. Shapes: [N, h] → [N, h]."""

    def __init__(self, width: int, edges: bool, dropout: float, whole: bool) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.own = nn.Linear(width, width)
        self.around = nn.Linear(width, width, bias=False) if edges else None
        self.out = nn.Linear(width, width)
        self.whole = nn.Linear(2 * width, width, bias=False) if whole else None
        self.dropout = nn.Dropout(dropout)

    def forward(self, u: Tensor, neighbours: Neighbours) -> Tensor:
        v = self.norm(u)
        h = self.own(v)
        if self.around is not None:
            h = h + self.around(neighbours.mean(v))
        if self.whole is not None:
            h = h + self.whole(neighbours.whole(v)).index_select(0, neighbours.graph_of)
        return u + self.out(self.dropout(h.relu()))


class Refine(nn.Module):
    """One step along the edges for every class at once: g_c + ReLU(W_7 g_c + W_8 Â g_c). Shapes: [N, C, h] → [N, C, h]."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.own = nn.Linear(width, width)
        self.around = nn.Linear(width, width, bias=False)

    def forward(self, g: Tensor, neighbours: Neighbours) -> Tensor:
        return g + (self.own(g) + self.around(neighbours.normalised(g))).relu()


@dataclass
class Seen(Reading):
    """``directions`` [N, h]: what labels are regressed on; none where they are not."""

    directions: Tensor | None = None


class AttentiveMPNP(LatentModel):
    r"""``ampnp``, and without edges ``anp``.

    1. *latent*: per class c a prototype :math:`p_c = \mathrm{mean}_{i \in C, y_i = c} W u_i` and, beside it, a latent
       :math:`z_c \sim \mathcal N(\mu(r_c), \sigma(r_c))`: which rule, which labelling.
    2. *attention*: each node looks at the context nodes that resemble it, and with ``nearby`` lie near
       (:class:`~mpnp.nn.attention.ClassAttention`).
    3. *local*: context labels diffused along the edges (:func:`~mpnp.nn.diffusion.diffuse`).
    4. *regression*: context labels regressed on the representations, in closed form (:class:`~mpnp.nn.regression.Regression`).

    The logit of class c at a node is the same function of the node's representation u and c's own evidence for every c,

    .. math::
        g_c &= \mathrm{ReLU}(W_1 u + W_2 p_c + W_3 (\hat u \odot \hat p_c) + W_4 e_c) \\
        g_c &\leftarrow \mathrm{ReLU}(\mathrm{LayerNorm}(W_5 g_c + W_6\, \mathrm{mean}_{c'} g_{c'})) \\
        \mathrm{logit}_c &= w \cdot \mathrm{ReLU}(W_7 g_c + W_8 z_c)

    so that relabelling the classes relabels the output and any number of classes can be answered. z enters last: all
    before it is computed once for any number of latent samples.

    A node in the context would see its own label, so the training loss is taken on the others, and evaluation cross-fits.
    """

    config: AmpnpConfig
    sees_own_label = True
    any_classes = True

    def __init__(self, config: AmpnpConfig) -> None:
        super().__init__(config)
        if config.local and config.edges and not config.reaches:
            raise UserError(
                "The local road is open, but no reaches were given; give some, as [1, 2, 8], or local=false."
            )
        if config.local and (min(config.reaches, default=1) < 1 or len({*config.reaches}) < len(config.reaches)):
            raise UserError(
                f"reaches = {list(config.reaches)} was given, whole numbers from 1 on, each once, are expected."
            )
        if not 0 <= config.dropout < 1:
            raise UserError(
                f"dropout = {config.dropout} was given, a share from 0 up to but not including 1 is expected."
            )
        if config.smoothing < 0:
            raise UserError(f"smoothing = {config.smoothing} was given, a whole number from 0 on is expected.")
        h = config.width
        self.logs = Logs(config.num_features) if config.logs else None
        columns = config.num_features * (1 + config.logs) * (1 + 2 * config.octaves)
        self.enter = nn.Linear(columns + config.edges, h)
        self.blocks = nn.ModuleList(Block(h, config.edges, config.dropout, config.whole) for _ in range(config.depth))
        self.norm = nn.LayerNorm(h)

        self.from_node = nn.Linear(h, h)
        self.from_counts = nn.Linear(2, h, bias=False)
        if config.latent:
            self.prototype = nn.Linear(h, h)
            # Not zeros: it is normalised, and the gradient at the zero vector is 1e12 times the one around it.
            self.absent = nn.Parameter(torch.full((h,), 0.1))
            self.from_prototype = nn.Linear(h, h, bias=False)
            self.from_match = nn.Linear(h, h, bias=False)
        if self.has_latent:
            self.summarise = nn.Sequential(nn.Linear(h, h), nn.ReLU(), nn.Linear(h, h))
            self.latent_head = LatentHead(2 * h + 2, h, config.z_width)
            self.from_z = nn.Linear(config.z_width, h, bias=False)
        if config.attention:
            places = config.num_features if config.nearby else 0
            self.attend = ClassAttention(h, config.heads, config.head_width, config.values, places=places)
            self.from_votes = nn.Linear(self.attend.out_width, h, bias=False)
        if config.local and config.edges:
            self.from_local = nn.Linear(len(config.reaches), h, bias=False)
            self.from_mass = nn.Linear(len(config.reaches), h, bias=False)
        if config.regression:
            self.regress = Regression(h, h, config.smoothing)
            self.from_evidence = nn.Linear(len(RIDGES), h, bias=False)
            self.from_doubt = nn.Linear(len(RIDGES), h, bias=False)
        if config.class_embedding:
            self.class_bias = nn.Parameter(torch.randn(config.num_classes, h) * 0.1)
            self.class_gate = nn.Parameter(torch.randn(config.num_classes, h) * 0.1)

        self.weigh = nn.Linear(h, h)
        self.compare = nn.Linear(h, h, bias=False)
        self.weigh_norm = nn.LayerNorm(h)
        self.refine = nn.ModuleList(Refine(h) for _ in range(config.refine if config.edges else 0))
        self.dropout = nn.Dropout(config.dropout)
        self.conclude = nn.Linear(h, h)
        self.logit = nn.Linear(h, 1, bias=False)  # the softmax over classes would cancel it

    @property
    def has_latent(self) -> bool:  # type: ignore[override]
        return self.config.latent and self.config.z_width > 0

    def standardise_by(self, x: Tensor) -> None:
        super().standardise_by(x)
        if self.logs is not None:
            self.logs.standardise_by(x, self.x_mean, self.x_scale)

    def seen(self, x: Tensor) -> Tensor:
        """Standardised features as the first layer reads them, [N, F] → [N, F'], the node's degree still missing."""
        if self.logs is not None:
            x = torch.cat([x, self.logs(x)], -1)
        return waves(x, self.config.octaves)

    def read(self, episode: Episode) -> Seen:
        reading = super().read(episode)
        around = reading.neighbours if self.config.edges else None
        directions = self.regress.directions(reading.nodes, around) if self.config.regression else None
        return Seen(**vars(reading), directions=directions)

    def represent(self, x: Tensor, neighbours: Neighbours) -> Tensor:
        x = self.seen(x)
        if self.config.edges:
            x = torch.cat([x, neighbours.degree.log1p().unsqueeze(-1)], -1)
        u = self.enter(x).relu()
        for block in self.blocks:
            u = block(u, neighbours)
        return self.norm(u)

    def latent(self, reading: Reading, shown: Tensor) -> Normal:
        episode = reading.episode
        graphs = episode.num_graphs
        sets = []
        for p in range(shown.size(1)):
            rows = shown[:, p].sum(-1).nonzero().squeeze(1)
            groups = ContextGroups(episode.batch[rows], shown[rows, p])
            # The last linear map comes after the mean: that gives the same, on far fewer rows.
            r = groups.mean(self.summarise[:-1](reading.nodes.index_select(0, rows)), graphs)
            r = self.summarise[-1](r) * (groups.size(graphs) > 0).unsqueeze(-1)
            r_all = r.mean(1, keepdim=True).expand_as(r)
            sets.append(self.latent_head(torch.cat([r, r_all, groups.counts(graphs)], -1)))
        return Normal(
            torch.stack([q.loc for q in sets], 1), torch.stack([q.scale for q in sets], 1), validate_args=False
        )

    def decode(self, reading: Reading, z: Tensor | None, query: Tensor) -> Tensor:
        assert isinstance(reading, Seen)
        episode, width = reading.episode, reading.episode.num_classes * self.config.width
        # A step along the edges needs the neighbours' evidence too.
        asked = torch.arange(episode.num_nodes, device=query.device) if len(self.refine) else query
        heard = self._listen(reading)
        g = in_parts(asked.numel(), 4 * width, lambda part: self._weigh(reading, heard, asked[part]))
        for step in self.refine:
            g = step(g, reading.neighbours)
        if asked is not query:
            g = g.index_select(0, query)
        graph_of = episode.batch[query]
        from_z = None if z is None else self.from_z(z)
        samples = 1 if z is None else z.size(1)
        return in_parts(query.numel(), samples * width, lambda part: self._conclude(g[part], from_z, graph_of[part]))

    def _listen(self, reading: Seen) -> "Heard":
        """What the context says before any node is asked."""
        episode, config = reading.episode, self.config
        graphs, shown = episode.num_graphs, episode.shown()
        rows = shown.sum(-1).nonzero().squeeze(1)  # a context node without a label shows nothing
        groups = ContextGroups(episode.batch[rows], shown[rows])
        # index_select: its backward pass is several times faster than that of [] indexing.
        context = reading.nodes.index_select(0, rows)
        per_class, match = self.from_counts(groups.counts(graphs)), None
        if config.latent:
            filled = groups.size(graphs).unsqueeze(-1) > 0
            p = torch.where(filled, self.prototype(groups.mean(context, graphs)), self.absent)
            per_class = per_class + self.from_prototype(p)
            match = F.normalize(p, dim=-1) * config.width**0.5
        near = diffuse(reading.neighbours, shown, config.reaches) if config.local and config.edges else None
        directions, explained = reading.directions, None
        if directions is not None:
            explained = self.regress.solve(directions.index_select(0, rows), shown[rows], episode.batch[rows], graphs)
        return Heard(
            context,
            shown[rows],
            torch.bincount(episode.batch[rows], minlength=graphs),
            reading.x[rows],
            per_class,
            match,
            near,
            explained,
        )

    def _weigh(self, reading: Seen, heard: "Heard", query: Tensor) -> Tensor:
        """What each class has to say for itself at each queried node, [Q, C, h]."""
        episode, config = reading.episode, self.config
        node = reading.nodes.index_select(0, query) if query.numel() < episode.num_nodes else reading.nodes
        graph_of = episode.batch[query]
        g = self.from_node(node).unsqueeze(1) + heard.per_class.index_select(0, graph_of)
        if heard.match is not None:
            g = g + self.from_match(F.normalize(node, dim=-1).unsqueeze(1) * heard.match.index_select(0, graph_of))
        if config.attention:
            votes = self.attend(node, *heard.by(graph_of), query_place=reading.x[query] if config.nearby else None)
            g = g + self.from_votes(votes)
        if reading.directions is not None and heard.explained is not None:
            evidence, doubt = self.regress(reading.directions.index_select(0, query), graph_of, heard.explained)
            g = g + self.from_evidence(evidence) + self.from_doubt(doubt).unsqueeze(1)
        if heard.near is not None:
            shares, masses = heard.near
            g = g + self.from_local(shares[query]) + self.from_mass(masses[query]).unsqueeze(1)
        if config.class_embedding:
            known = min(episode.num_classes, config.num_classes)
            named = self.class_bias[:known] + node.unsqueeze(1) * self.class_gate[:known]
            g = g + F.pad(named, (0, 0, 0, episode.num_classes - known))
        g = self.dropout(g.relu())
        return self.weigh_norm(self.weigh(g) + self.compare(g.mean(1, keepdim=True))).relu()

    def _conclude(self, g: Tensor, from_z: Tensor | None, graph_of: Tensor) -> Tensor:
        """Logits [Q, K, C] from the evidence [Q, C, h] and what the latent samples add to it, [B, K, C, h]."""
        h = self.conclude(g).unsqueeze(1)
        if from_z is not None:
            h = h + from_z.index_select(0, graph_of)
        return self.logit(h.relu()).squeeze(-1)


@dataclass
class Heard:
    """The context's side of the evidence, for M context nodes.

    Shapes: ``context`` [M, h], ``label`` [M, C] one-hot, ``count`` [B], ``x`` [M, F]; ``per_class``, ``match`` [B, C, h];
    ``near`` the shares [N, C, R] and log-masses [N, R] of diffused labels; ``explained`` the regression's solution.
    """

    context: Tensor
    label: Tensor
    count: Tensor
    x: Tensor
    per_class: Tensor
    match: Tensor | None
    near: tuple[Tensor, Tensor] | None
    explained: Solution | None

    def by(self, graph_of: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """What queries of the graphs ``graph_of`` [Q], in rising order, attend to: the context nodes from the first to the
        last of these graphs, their labels, queries and context nodes per graph, and the context nodes' features."""
        queries = torch.bincount(graph_of, minlength=self.count.numel())
        asked = queries.nonzero().squeeze(1)
        if asked.numel() in (0, self.count.numel()):
            return self.context, self.label, queries, self.count, self.x
        graphs = slice(int(asked[0]), int(asked[-1]) + 1)
        start = int(self.count[: graphs.start].sum())
        rows = slice(start, start + int(self.count[graphs].sum()))
        return self.context[rows], self.label[rows], queries[graphs], self.count[graphs], self.x[rows]


class ContextGroups:
    """The context nodes sorted into (graph, class) groups. ``batch`` [M], ``label`` [M, C] one-hot."""

    def __init__(self, batch: Tensor, label: Tensor) -> None:
        self.classes = label.size(1)
        self.group = batch * self.classes + label.argmax(-1)

    def size(self, graphs: int) -> Tensor:
        """Context nodes of each class, [B, C]."""
        return torch.bincount(self.group, minlength=graphs * self.classes).view(graphs, self.classes)

    def counts(self, graphs: int) -> Tensor:
        """Share of each class in the context and logarithm of its number, [B, C, 2]."""
        size = self.size(graphs).float()
        return torch.stack([size / size.sum(1, keepdim=True).clamp(min=1), size.log1p()], -1)

    def mean(self, values: Tensor, graphs: int) -> Tensor:
        """Mean per graph and class, zeros where there is none: [M, h] → [B, C, h]."""
        return group_mean(values, self.group, graphs * self.classes).view(graphs, self.classes, -1)
