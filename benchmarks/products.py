"""The matrix products of a piece of work, recorded from a real run and run again without anything around them: the limit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

aten = torch.ops.aten
Shapes = list[tuple[tuple[int, ...], tuple[int, ...]]]


class Recorder(TorchDispatchMode):
    """Notes the shapes of all dense matrix products, those inside PyTorch's fused attention included."""

    def __init__(self) -> None:
        super().__init__()
        self.shapes: Shapes = []

    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kind = op.overloadpacket
        if kind in (aten.mm, aten.bmm):
            self._note(*args[:2])
        elif kind in (aten.addmm, aten.baddbmm):
            self._note(*args[1:3])
        elif kind is aten._scaled_dot_product_flash_attention_for_cpu:
            q, k, v = (_narrow(t) for t in args[:3])
            p = (*q[:2], k[1])
            self.shapes += [(q, _turned(k)), (p, v)]
        elif kind is aten._scaled_dot_product_flash_attention_for_cpu_backward:
            q, k, v = (_narrow(t) for t in args[1:4])
            p = (*q[:2], k[1])
            out = (*q[:2], v[2])
            self.shapes += [(_turned(p), out), (out, _turned(v)), (p, k), (_turned(p), q)]
        return op(*args, **(kwargs or {}))

    def _note(self, a: Tensor, b: Tensor) -> None:
        if a.layout is torch.strided and b.layout is torch.strided:
            self.shapes.append((tuple(a.shape), tuple(b.shape)))


def _narrow(t: Tensor) -> tuple[int, int, int]:
    return t.size(0) * t.size(1), t.size(2), t.size(3)


def _turned(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (*shape[:-2], shape[-1], shape[-2])


def products(work: Callable[[], object]) -> Callable[[], None]:
    """The matrix products of ``work``, ready to be run again on random operands."""
    with Recorder() as recorder:
        work()
    operands: dict[tuple[int, ...], Tensor] = {}
    for pair in recorder.shapes:
        for shape in pair:
            operands.setdefault(shape, torch.randn(shape))
    pairs = [(operands[a], operands[b]) for a, b in recorder.shapes]

    def run() -> None:
        for a, b in pairs:
            a @ b

    return run
