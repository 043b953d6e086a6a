"""The paper's appendix on Life-like rules built as weights: a model of the paper's class that knows every one of them.

A Life-like rule is a table of 18 situations: dead or alive, with 0 to 8 living neighbours. The construction, in the paper's layers:

1. message passing sums the living neighbours; with 9 for a living cell, the situation is one number s in 0 … 17;
2. Maxout gives max(j − 1 − s, s − j − 1) = |s − j| − 1 for every situation j: −1 where it is the cell's own, else 0 or more.
   Its negative under a ReLU is the one-hot of the situation;
3. the largest over the context, class by class, says which situations were seen to end dead, which alive: the latent's mean;
4. the decoder makes 2 again, and in the layer that reads z each unit is an AND: the situation is j, and j was seen to end so;
5. the class whose units light up wins.

The latent's standard deviation is 0.1, the least it can be, and the AND has room for five of them on either side.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
import torch.nn as nn

from ..errors import UserError
from .neural_process import NeuralProcess, NeuralProcessConfig

NEIGHBOURS = 8
SITUATIONS = 2 * (NEIGHBOURS + 1)
SURE = 20.0  # how many times the last layer magnifies the answer


def life_like_solution(configuration: NeuralProcessConfig) -> NeuralProcess:
    """The solution in the layers of ``configuration``, that of ``mpnp-c`` on automata by the paper's recipe.

    Its reduction becomes the maximum, as the appendix has it; features are expected as they are: dead, alive.
    """
    observe = ("mp", "linear", "linear", "linear", "maxout")
    kinds = [
        tuple(word.partition(":")[0] for word in words) for words in (configuration.encoder, configuration.decoder)
    ]
    if (
        kinds != [("join", *observe, "linear"), (*observe, "join", "linear", "linear", "linear")]
        or not configuration.by_class
    ):
        raise UserError(
            "The solution is built in the layers that 'mpnp' has on automata by the paper's recipe; "
            "give mpnp.models.configs.config('mpnp', task, 'paper')."
        )
    model = NeuralProcess(replace(configuration, reduction="max", messages="sum", norm=False, spread="deviation"))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        encoder: Any = model.encoder.layers
        decoder: Any = model.decoder.layers
        joined: Any = model.decoder.joiners["5"]
        for layers in (encoder, decoder):
            _observe(layers)
        # Encoder, 2: the one-hot of the situation.
        _diagonal(encoder[5], SITUATIONS, -1.0)
        # 3: what was seen of each class, and as certain of it as the latent can be.
        width = model.encoder.out_width
        for label in range(2):
            rows = torch.arange(SITUATIONS)
            model.latent_head.hidden.weight[label * SITUATIONS + rows, label * width + rows] = 1.0
        _diagonal(model.latent_head.mean, 2 * SITUATIONS, 1.0)
        model.latent_head.scale.bias.fill_(-10.0)
        # 4: the AND, with room for the latent's noise on both sides.
        first = decoder[5]
        for label in range(2):
            rows = label * SITUATIONS + torch.arange(SITUATIONS)
            first.weight[rows, torch.arange(SITUATIONS)] = -1.0
            first.bias[rows] = -1.5
            joined.weight[rows, rows] = 1.0
            # 5: dead or alive.
            decoder[6].weight[label, rows] = 1.0
        _diagonal(decoder[7], 2, 1.0)
        _diagonal(model.head, 2, SURE)
    return model


def _observe(layers: Any) -> None:
    """Features and edges to |s − j| − 1 for every situation j; s goes through the linear layers as it is."""
    counting, maxout = layers[0], layers[4].pieces
    counting.message.weight[0, 1] = 1.0
    counting.skip.weight[0, 1] = NEIGHBOURS + 1
    for layer in layers[1:4]:
        layer.weight[0, 0] = 1.0
    half = maxout.out_features // 2
    situation = torch.arange(SITUATIONS)
    for start, slope in ((0, -1.0), (half, 1.0)):
        maxout.weight[start + situation, 0] = slope
        maxout.bias[start + situation] = -slope * situation - 1.0


def _diagonal(layer: nn.Linear, size: int, value: float) -> None:
    layer.weight[torch.arange(size), torch.arange(size)] = value
