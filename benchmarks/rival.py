"""Our set-only neural process beside the package ``neuralprocesses``, step for step.

A step is forward, loss and backward on 64 sets of 150 points (2 features, 2 outputs), half of them context and all of them
targets: a latent neural process with h = 64, r = 128, z = 256, the evidence lower bound, one sample. Theirs is built from
the package's own parts, as ``construct_gnp`` always adds a deterministic path, layer by layer like ours, with the mean in
place of its sum. What still differs:

- theirs reads equal sets [b, c, n], ours graphs of any size (without edges here) with node-wise masks;
- theirs repeats z for every point and multiplies it there, ours multiplies it once per set;
- theirs encodes the context and all points in two passes, ours both in one;
- theirs has the outputs' mean as it is and softplus variances, ours softmax, sigmoid and softplus with a floor of 0.1;
- theirs evaluates densities in float64 unless told otherwise: both are timed;
- ours has r = 128 more parameters, the stand-in for an empty context.
"""

from __future__ import annotations

from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor
from torch_geometric.data import Data

from mpnp.episode import Episode
from mpnp.models.neural_process import NeuralProcess, NeuralProcessConfig
from mpnp.training.objectives import elbo

from .timing import race

SETS, POINTS, CONTEXT = 64, 150, 75
FEATURES, OUTPUTS = 2, 2
H, R, Z = 64, 128, 256
PEERS = ("neuralprocesses", "torch", "numpy")


def our_model() -> NeuralProcess:
    """The preset ``np`` of the recipe ``paper``."""
    layers = ("join", f"linear:{H}", f"linear:{H}")
    encoder, decoder = (*layers, f"out:{R}"), (*layers, f"linear:{H}")
    return NeuralProcess(
        NeuralProcessConfig(
            FEATURES, OUTPUTS, encoder=encoder, decoder=decoder, r_width=R, z_width=Z, likelihood="gaussian"
        )
    )


def their_model() -> nn.Module:
    """The same layers in the parts of ``neuralprocesses``."""
    import neuralprocesses.torch as nps

    def mean(r: Tensor) -> Tensor:
        return r.mean(-1, keepdim=True)

    latent = nps.Chain(
        nps.DeepSet(nps.MLP(in_dim=FEATURES + OUTPUTS, layers=(H, H), out_dim=R), agg=mean),
        nps.MLP(in_dim=R, layers=(R,), out_dim=2 * Z),
        nps.HeterogeneousGaussianLikelihood(),
    )
    inputs = nps.Chain(nps.InputsCoder(), nps.DeterministicLikelihood())
    decoder = nps.Chain(
        nps.Concatenate(),
        nps.MLP(in_dim=FEATURES + Z, layers=(H, H, H), out_dim=2 * OUTPUTS),
        nps.HeterogeneousGaussianLikelihood(),
    )
    return nps.Model(nps.Chain(nps.Copy(2), nps.Parallel(inputs, latent)), decoder)


def bench() -> dict[str, Any]:
    """Milliseconds per step, the number of parameters, and the versions of what was raced."""
    if not find_spec("neuralprocesses"):
        raise SystemExit(
            "The package 'neuralprocesses' is not installed here; 'make bench-rivals' makes its environment."
        )
    import neuralprocesses.torch as nps

    torch.manual_seed(0)
    x, label = torch.randn(SETS, POINTS, FEATURES), torch.randint(OUTPUTS, (SETS, POINTS))
    no_edges = torch.empty(2, 0, dtype=torch.long)
    graphs = [Data(x=own_x, edge_index=no_edges, y=own_y) for own_x, own_y in zip(x, label, strict=True)]
    episode = Episode.from_graphs(graphs, (torch.arange(POINTS) < CONTEXT).repeat(SETS))
    inputs, outputs = (t.transpose(1, 2).contiguous() for t in (x, F.one_hot(label, OUTPUTS).float()))
    (xc, xt), (yc, yt) = (t.split([CONTEXT, POINTS - CONTEXT], -1) for t in (inputs, outputs))
    ours, theirs = our_model(), their_model()

    def our_step() -> None:
        ours.zero_grad()
        elbo(ours, episode).loss.backward()

    def their_step(precision: torch.dtype) -> None:
        theirs.zero_grad()
        options = {"num_samples": 1, "normalise": True, "subsume_context": True, "dtype_lik": precision}
        (-nps.elbo(theirs, xc, yc, xt, yt, **options).mean()).backward()

    step = race(
        {
            "mpnp": our_step,
            "neuralprocesses": lambda: their_step(torch.float64),
            "neuralprocesses, all in float32": lambda: their_step(torch.float32),
        },
        rounds=25,
    )
    counts = {
        name: sum(p.numel() for p in m.parameters()) for name, m in zip(step, (ours, theirs, theirs), strict=True)
    }
    return {"step_ms": step, "parameters": counts, "peers": {name: version(name) for name in PEERS}}


def lines(result: dict[str, Any]) -> list[str]:
    step, parameters, peers = result["step_ms"], result["parameters"], result["peers"]
    text = [
        "## A set-only neural process: one training step, 64 sets of 150 points",
        "",
        "The same layers in both; what differs is said in `benchmarks/rival.py`.",
        "",
        "| package | parameters | ms | ratio |",
        "|---|---|---|---|",
    ]
    text += [f"| {name} | {parameters[name]:,} | {ms:.1f} | {ms / step['mpnp']:.2f} × |" for name, ms in step.items()]
    return [*text, "", "With " + ", ".join(f"{name} {number}" for name, number in peers.items()) + "."]
