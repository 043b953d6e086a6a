"""All experts' opinions of every node, and how far each could be trusted on the context."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
import torch.nn.functional as F
from torch import Tensor

from .ridge import LAMBDAS, Fit, kernel_ridge, ridge
from .views import Views

LINEAR = ("x", "ax", "a2x", "pprx", "hx", "h2x")
RADIAL = ("x_rbf", "ax_rbf", "struct", "nbr_rbf", "cat")
SPREAD = {"lp1": 1, "lp2": 2, "lp8": 8, "lp50": 50}
BALANCED = "lp50"
CLUMPS = {"x": "x_clump", "a2x": "a2x_clump", "pprx": "pprx_clump"}
SINGLE = (*LINEAR, *RADIAL, "nbr", "adj", *CLUMPS.values(), *SPREAD)
EXPERTS = (*SINGLE, "stack", "echo1", "echo8")
KEEP = 0.95  # of what a step of diffusion passes on
MOST_LANDMARKS = 512  # context nodes that span a kernel
MOST_COLUMNS = 1e8  # numbers in a block of kernel columns
MOST_WALKED = 1e9  # multiplications for diffusing every context node by itself
FOLDS = 5
MOST_GATHERED = 20_000  # nodes whose clumps are looked for
GATHERINGS = 10  # steps of it
SHARP = 20.0  # how soft the clumps are
TEMPERATURES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
PINCHES = (1e-3, 1e-2, 1e-1, 1.0)  # of the class shares, in mean masses, added to what has arrived
EXPONENTS = (0.5, 1.0, 2.0)
LOWEST = -12.0  # log-probability
CAUTION = 0.2  # of the evidence for an expert, that counts when opinions are averaged
HOLD = 50.0  # precision of the prior on the weights of the stack
NEWTON = 8  # steps
PART = 2**22  # numbers in a block of radial kernel values


@dataclass(frozen=True)
class Evidence:
    """Shapes: ``log_p`` [N, C, E] every expert's log-probabilities, of context nodes leave-one-out; ``present`` [E] which
    experts have anything to go by; ``skill``, ``accuracy`` [E] on the context, leave-one-out, against guessing the class
    shares; ``shares`` [C] of the classes in the context, smoothed; ``counts`` [C] labels per class; ``countable`` [n]: context nodes whose class has another
    label."""

    log_p: Tensor
    present: Tensor
    skill: Tensor
    accuracy: Tensor
    shares: Tensor
    counts: Tensor
    countable: int


class Judge:
    """Turns an expert's raw values into probabilities: the sharpness and the λ that predict the context best, left one out."""

    def __init__(self, y: Tensor, classes: int) -> None:
        self.y, self.classes = y, classes
        self.counts = torch.bincount(y, minlength=classes).double()
        self.shares = (self.counts + 1) / (self.counts.sum() + classes)
        self.one_hot = F.one_hot(y, classes).double()
        self.countable = self.counts[y] > 1 if y.numel() else torch.zeros(0, dtype=torch.bool)

    @property
    def centred(self) -> Tensor:
        return self.one_hot - self.shares

    def nll(self, log_p: Tensor) -> Tensor:
        """Sums over countable context nodes, [..., n, C] → [...]."""
        index = self.y.view(*[1] * (log_p.dim() - 2), -1, 1).expand(*log_p.shape[:-1], 1)
        picked = log_p.gather(-1, index).squeeze(-1).clamp(min=LOWEST)
        return -(picked * self.countable).sum(-1)

    def choose(self, fit: Fit) -> tuple[int, float, Tensor]:
        """λ's place, temperature, and log-probabilities of the context [n, C]."""
        logits = (fit.left_out + self.shares).unsqueeze(1) * torch.tensor(TEMPERATURES).view(1, -1, 1, 1)
        log_p = logits.clamp(-60, 60).log_softmax(-1)
        loss = self.nll(log_p) + _RIDGE_PRIOR
        at = int(loss.argmin())
        lam, temperature = divmod(at, len(TEMPERATURES))
        return lam, TEMPERATURES[temperature], log_p[lam, temperature]

    def sharpen(self, left_out: Tensor) -> tuple[float, Tensor]:
        """The temperature for values between -1 and 1, and log-probabilities of the context [n, C]."""
        log_p = (left_out * torch.tensor(TEMPERATURES).view(-1, 1, 1)).log_softmax(-1)
        loss = self.nll(log_p) + 0.5 * (torch.tensor(TEMPERATURES, dtype=torch.double) / 8).log().square()
        at = int(loss.argmin())
        return TEMPERATURES[at], log_p[at]

    def spread(self, mass: Tensor, mean: Tensor) -> tuple[Tensor, float, float]:
        """Log-probabilities of the context [n, C] from own-label-free ``mass`` [n, C]; the pinch and the exponent."""
        log_p = torch.stack(
            [torch.stack([self.shared_out(mass, mean, pinch, e) for e in EXPONENTS]) for pinch in PINCHES]
        )
        loss = self.nll(log_p) + _SPREAD_PRIOR
        pinch, exponent = divmod(int(loss.argmin()), len(EXPONENTS))
        return log_p[pinch, exponent], PINCHES[pinch], EXPONENTS[exponent]

    def shared_out(self, mass: Tensor, mean: Tensor, pinch: float, exponent: float) -> Tensor:
        filled = mass.double() + pinch * mean * self.shares
        return (filled.clamp(min=1e-30).log() * exponent).log_softmax(-1)


_RIDGE_PRIOR = 0.5 * (
    torch.tensor(LAMBDAS, dtype=torch.double).log10().add(1).square().unsqueeze(1)
    + (torch.tensor(TEMPERATURES, dtype=torch.double) / 8).log().square().unsqueeze(0)
)
_SPREAD_PRIOR = 0.5 * (
    torch.tensor(PINCHES, dtype=torch.double).log10().add(1).square().unsqueeze(1)
    + torch.tensor(EXPONENTS, dtype=torch.double).log().square().unsqueeze(0)
)


@torch.no_grad()
def evidence(views: Views, context: Tensor, y: Tensor, classes: int) -> Evidence:
    """Ask every expert. ``context`` [n] node numbers, ``y`` [n] their labels."""
    judge = Judge(y, classes)
    shape = (views.nodes, classes)
    opinions: dict[str, Tensor] = {}
    if y.numel():
        asking = _Asking(views, context, judge)
        opinions = asking.all()
        opinions["stack"] = stacked(list(opinions.values()), context, judge, asking.fold)
        opinions |= echoes(views, opinions["stack"], context, judge)
    flat = judge.shares.log().expand(shape)
    log_p = torch.stack([opinions.get(name, flat).float() for name in EXPERTS], -1).clamp(min=LOWEST)
    left_out = log_p[context].double()
    guess = judge.nll(flat[context])
    countable = int(judge.countable.sum())
    losses = torch.stack([judge.nll(left_out[..., e]) for e in range(len(EXPERTS))])
    right = (left_out.argmax(1) == y.unsqueeze(1)) & judge.countable.unsqueeze(1)
    return Evidence(
        log_p,
        torch.tensor([name in opinions for name in EXPERTS]),
        ((guess - losses) / max(countable, 1)).float(),
        right.double().sum(0).div(max(countable, 1)).float(),
        judge.shares.float(),
        judge.counts.float(),
        countable,
    )


def stacked(opinions: list[Tensor], context: Tensor, judge: Judge, fold: Tensor) -> Tensor:
    r"""All opinions as one: :math:`p \propto \prod_k p_k^{w_k}`, w the likeliest weights on the context, left one out.

    Context nodes are judged with weights that the other folds' nodes chose: ``fold`` [n].
    """
    log_p = torch.stack(opinions, -1).clamp(min=LOWEST)
    inside = log_p[context].double()
    together = (log_p @ stack_weights(inside, judge, judge.countable).float()).log_softmax(-1)
    for number in range(FOLDS):
        mine = fold == number
        weights = stack_weights(inside, judge, judge.countable & ~mine)
        together[context[mine]] = (inside[mine] @ weights).log_softmax(-1).float()
    return together


def stack_weights(inside: Tensor, judge: Judge, counted: Tensor) -> Tensor:
    """The weight of every opinion [K], by what was said ``inside`` the context [n, C, K] of the nodes ``counted`` [n].

    A normal prior holds them near the weights of model averaging, so that with few labels the best opinions count and with
    many the context decides. Newton's method on a convex function of a few weights.
    """
    inside, label = inside[counted], judge.y[counted]
    picked = inside[torch.arange(label.numel()), label]  # [n, K]
    gain = picked.sum(0)
    weights = start = torch.softmax(CAUTION * (gain - gain.max()), 0)
    hold = HOLD * torch.eye(weights.numel(), dtype=torch.double)
    for _ in range(NEWTON if label.numel() else 0):
        p = (inside @ weights).softmax(1).unsqueeze(-1)
        mean = (p * inside).sum(1)
        gradient = (picked - mean).sum(0) - HOLD * (weights - start)
        spread = inside - mean.unsqueeze(1)
        step = torch.linalg.solve(torch.einsum("nck,ncl->kl", p * spread, spread) + hold, gradient)
        weights = weights + step * min(1.0, 1.0 / float(step.abs().max().clamp(min=1e-9)))
    return weights


def echoes(views: Views, stack: Tensor, context: Tensor, judge: Judge) -> dict[str, Tensor]:
    """What the neighbours are believed to be, after one and after eight steps; given labels are believed as given.

    A context node's neighbours have heard of its own label, so it hears no echo: it keeps the opinion of the stack.
    """
    start = stack.exp()
    start[context] = judge.one_hot.float()
    once = views.walks.mean(start)
    flow = start
    for _ in range(8):
        flow = 0.8 * views.walks.mean(flow) + 0.2 * start
        flow[context] = start[context]
    heard = {"echo1": once, "echo8": flow}
    for echo in heard.values():
        echo.clamp_(min=1e-5).log_()
        echo[context] = stack[context]
    return heard


class _Asking:
    """One question to all experts: label-free views on one side, a context on the other."""

    def __init__(self, views: Views, context: Tensor, judge: Judge) -> None:
        self.views, self.context, self.judge = views, context, judge
        most = int(min(MOST_LANDMARKS, max(32, MOST_COLUMNS // views.nodes)))
        self.landmarks = context if context.numel() <= most else self.typical(most)
        self.exact = self.landmarks is context

    def all(self) -> dict[str, Tensor]:
        views, opinions = self.views, {}
        for name, basis in views.linear.items():
            opinions[name] = self.linear(basis)
            if name in CLUMPS:
                opinions[CLUMPS[name]] = self.clumps(basis)
        for name, places in views.radial.items():
            opinions[name] = self.radial(places)
        if views.walks.matrix.values().numel():
            around = self.around()
            opinions["nbr"] = self.linear(around)
            opinions["nbr_rbf"] = self.radial(around)
            opinions["cat"] = self.radial(self.everything(around))
            opinions["adj"] = self.spanned(self.two_steps())
            opinions |= self.diffusions()
        return opinions

    def linear(self, basis: Tensor) -> Tensor:
        fit = ridge(basis[self.context], self.judge.centred)
        lam, temperature, left_out = self.judge.choose(fit)
        values = basis @ fit.weights[lam].float() + self.judge.shares.float()
        return self.with_left_out((values * temperature).clamp(-60, 60).log_softmax(-1), left_out)

    def clumps(self, basis: Tensor) -> Tensor:
        r"""Nodes gather around the classes: soft k-means on the sphere, seeded by the labels, which stay where they are.

        Fitted once with all labels and once without those of each fold, on a part of the nodes where there are very many.
        """
        judge, context = self.judge, self.context
        place = F.normalize(basis - basis.mean(0), dim=1)
        labels = judge.one_hot.float()
        given = labels.repeat(FOLDS + 1, 1, 1)  # [folds + 1, n, C]
        given[self.fold, torch.arange(context.numel())] = 0
        known = given.sum(2, keepdim=True)
        seen = place if place.size(0) <= MOST_GATHERED else place[:: -(-place.size(0) // MOST_GATHERED)]
        mine, seeds = place[context], given.transpose(1, 2) @ place[context]  # [folds + 1, C, d]
        middle = F.normalize(seeds, dim=2)
        for _ in range(GATHERINGS):
            near = (SHARP * (seen @ middle.transpose(1, 2))).softmax(2)
            lent = (SHARP * (mine @ middle.transpose(1, 2))).softmax(2) * known  # those whose label is told apart
            middle = F.normalize(near.transpose(1, 2) @ seen - (lent - given).transpose(1, 2) @ mine, dim=2)
        middle = torch.where(judge.counts.view(1, -1, 1) > 0, middle, torch.zeros_like(middle))
        left_out = (mine.unsqueeze(1) @ middle[self.fold].transpose(1, 2)).squeeze(1).double()
        temperature, log_p = judge.sharpen(left_out)
        return self.with_left_out((temperature * (place @ middle[FOLDS].t())).log_softmax(-1), log_p)

    def with_left_out(self, log_p: Tensor, left_out: Tensor) -> Tensor:
        log_p = log_p.clone()
        log_p[self.context] = left_out.to(log_p)
        return log_p

    def radial(self, places: Tensor) -> Tensor:
        r"""The kernel :math:`\exp(-\|a - b\|^2 / \overline{d^2})` with the mean squared distance of two nodes."""
        centred = places - places.mean(0)
        width = 2 * centred.square().sum(1).mean().clamp(min=1e-12)
        marks = centred[self.landmarks]

        def kernel(rows: Tensor) -> Tensor:
            return torch.exp(-torch.cdist(rows, marks).square() / width)

        size = max(1, PART // max(marks.size(0), 1))
        return self.kernel_expert(
            kernel(marks),
            lambda weights: torch.cat([kernel(rows) @ weights for rows in centred.split(size)]),
            lambda: kernel(centred[self.context]),
        )

    def spanned(self, columns: Tensor) -> Tensor:
        """A kernel whose columns [N, m] at the landmarks are given."""
        return self.kernel_expert(
            columns[self.landmarks], lambda weights: columns @ weights, lambda: columns[self.context]
        )

    def kernel_expert(
        self, among: Tensor, everywhere: Callable[[Tensor], Tensor], at_context: Callable[[], Tensor]
    ) -> Tensor:
        """``among`` [m, m] the landmarks; ``everywhere``: all nodes' kernel values times weights [m, C]; ``at_context`` [n, m]."""
        judge = self.judge
        if self.exact:
            fit = kernel_ridge(among, judge.centred)
            lam, temperature, left_out = judge.choose(fit)
            weights = fit.weights[lam]
        else:  # Nyström: the landmarks span a space in which regression is linear
            values, vectors = torch.linalg.eigh(among.double())
            half = vectors / values.clamp(min=1e-6 * float(values.max())).sqrt()
            fit = ridge(at_context().double() @ half, judge.centred)
            lam, temperature, left_out = judge.choose(fit)
            weights = half @ fit.weights[lam]
        values = everywhere(weights.float()) + judge.shares.float()
        return self.with_left_out((values * temperature).clamp(-60, 60).log_softmax(-1), left_out)

    def shown(self) -> Tensor:
        table = torch.zeros(self.views.nodes, self.judge.classes)
        table[self.context] = self.judge.one_hot.float()
        return table

    def around(self) -> Tensor:
        """Class shares among the labelled neighbours at one and two hops, own label taken out, [N, 2 (C + 1) or more]."""
        walks, shown, prior = self.views.walks, self.shown(), self.judge.shares.float()
        once = walks.mean(shown) * (walks.strength > 0).unsqueeze(1)
        twice = walks.mean(once) - walks.returns.unsqueeze(1) * shown
        reads = [once, twice.clamp(min=0)]
        if walks.directed:
            reads += [walks.outgoing(shown), walks.incoming(shown)]
        columns = []
        for read in reads:
            mass = read.sum(1, keepdim=True)
            known = mass > 1e-9
            columns += [
                torch.where(known, read / mass.clamp(min=1e-9) - prior, torch.zeros_like(read)),
                known.float() - known.float().mean(),
            ]
        return torch.cat(columns, 1)

    def everything(self, around: Tensor) -> Tensor:
        """Features, their neighbours' mean, structure and the labels around side by side, each block of weight one."""
        blocks = [self.views.structure, around]
        if self.views.x is not None:
            blocks += [self.views.x, self.views.linear["ax"]]
        scaled = []
        for block in blocks:
            centred = block - block.mean(0)
            scaled.append(centred / centred.square().sum(1).mean().sqrt().clamp(min=1e-6))
        return torch.cat(scaled, 1)

    def two_steps(self) -> Tensor:
        """Shared neighbours, [N, m]: D^-1/2 A D^-1 A D^-1/2 at the landmarks."""
        walks = self.views.walks
        root = walks.strength.clamp(min=1e-30).rsqrt().unsqueeze(1) * (walks.strength > 0).unsqueeze(1)
        start = torch.zeros(self.views.nodes, self.landmarks.numel())
        start[self.landmarks, torch.arange(self.landmarks.numel())] = 1
        return root * walks.sum(root.square() * walks.sum(root * start))

    def diffusions(self) -> dict[str, Tensor]:
        """Label diffusion after a few and after many steps, and the kernel of the whole diffusion."""
        walks, judge = self.views.walks, self.judge
        edges = walks.matrix.values().numel()
        longest = max(SPREAD.values())
        opinions = {}
        if not self.exact or self.context.numel() * edges * longest > MOST_WALKED:
            return self.folded()
        start = torch.zeros(self.views.nodes, self.landmarks.numel())
        start[self.landmarks, torch.arange(self.landmarks.numel())] = 1
        flow, total = start, torch.zeros_like(start)
        labels = judge.one_hot.float()
        for step in range(1, longest + 1):
            flow = KEEP * walks.normalised(flow)
            total = total + flow
            for name, at in SPREAD.items():
                if step == at:
                    mass = total @ labels
                    own = total[self.context, torch.arange(self.context.numel())].unsqueeze(1) * labels
                    opinions[name] = self.masses(mass, (mass[self.context] - own).clamp(min=0), name == BALANCED)
        return opinions

    def masses(self, mass: Tensor, left_out: Tensor, balanced: bool) -> Tensor:
        """From what has arrived everywhere [N, C], and at context nodes from others [n, C]; ``balanced``: where a class has
        more than its share of all nodes, each of them counts less."""
        if balanced:
            faint = 1e-6 * mass.sum(1).mean() * self.judge.shares.float()
            filled = mass + faint
            taken = (filled / filled.sum(1, keepdim=True)).mean(0) / self.judge.shares.float()
            mass, left_out = mass / taken, left_out / taken
        mean = mass.sum(1).mean().double()
        log_p, pinch, exponent = self.judge.spread(left_out, mean)
        return self.with_left_out(self.judge.shared_out(mass, mean, pinch, exponent).float(), log_p)

    def folded(self) -> dict[str, Tensor]:
        """Label diffusion with the context predicted in folds, each from the others."""
        nodes, classes = self.views.nodes, self.judge.classes
        shown = torch.zeros(nodes, FOLDS + 1, classes)
        labels = self.judge.one_hot.float()
        shown[self.context] = labels.unsqueeze(1)
        shown[self.context, self.fold] = 0
        flow, total, opinions = shown.flatten(1), torch.zeros(nodes, (FOLDS + 1) * classes), {}
        for step in range(1, max(SPREAD.values()) + 1):
            flow = KEEP * self.views.walks.normalised(flow)
            total = total + flow
            for name, at in SPREAD.items():
                if step == at:
                    table = total.view(nodes, FOLDS + 1, classes)
                    left_out = table[self.context, self.fold] * FOLDS / (FOLDS - 1)
                    opinions[name] = self.masses(table[:, FOLDS], left_out, name == BALANCED)
        return opinions

    @cached_property
    def order(self) -> Tensor:
        """The context by class and by place in the graph, [n]: an order that does not depend on how nodes are numbered."""
        score = self.views.structure[self.context].double().sum(1)
        return (self.judge.y.double() * 1e3 + score).argsort()

    @cached_property
    def fold(self) -> Tensor:
        """Folds of the context, [n], labels of a class in as many of them as may be."""
        fold = torch.empty_like(self.order)
        fold[self.order] = torch.arange(self.order.numel()) % FOLDS
        return fold

    def typical(self, count: int) -> Tensor:
        """Landmarks: context nodes of every class and place."""
        return self.context[self.order[torch.linspace(0, self.order.numel() - 1, count).long()]]
