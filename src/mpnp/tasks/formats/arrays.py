"""Graphs as arrays, without names of their own: PyG's ``Data``, and dicts and matrices that hold the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.edge_index import EdgeIndex

from ...errors import UserError
from ...graphs import UNLABELLED
from .own_graphs import MAX_CLASSES, Choices, Edges, OwnGraphs, lacks_reverse

READ = ("x", "edge_index", "y", "edge_weight", "edge_type", "train_mask")
# Splits of benchmarks and bookkeeping of PyG; nothing is lost by not reading them.
PASSED_OVER = ("val_mask", "test_mask", "batch", "ptr", "num_nodes")


def from_items(items: Sequence[Any], where: str, choices: Choices, most: int | None = None) -> OwnGraphs:
    """Graphs from ``Data`` or dicts with ``x``, ``edge_index``, ``y``; ``most``: how many numbers they may hold in all."""
    if most is not None:
        _check_numbers(items, where, most)
    notes: list[str] = []
    graphs = [
        _from_item(item, where if len(items) == 1 else f"item {i} of {where}", notes) for i, item in enumerate(items)
    ]
    classes = max(int(graph.y.max()) if graph.y.numel() else UNLABELLED for graph in graphs) + 1
    known = choices.class_names
    bound = MAX_CLASSES if known is None or choices.more_classes else len(known)
    if classes > bound:
        knows = "renumber" if known is None else "'ampnp' and 'universal' answer other numbers of classes"
        raise UserError(f"In {where}: the label {classes - 1} was given, 0 to {bound - 1} are expected; {knows}.")
    if choices.directed is False:
        for graph in graphs:
            _undirect(graph)
    names = [*(known or ()), *(str(i) for i in range(len(known or ()), classes))]
    columns = graphs[0].x.size(1) if graphs[0].x is not None and graphs[0].x.dim() == 2 else 0
    types = [int(g.edge_type.max()) + 1 for g in graphs if g.get("edge_type") is not None and g.edge_type.numel()]
    return OwnGraphs(
        graphs,
        [[str(n) for n in range(graph.y.numel())] for graph in graphs],
        names,
        position_names(columns, choices, where, notes),
        edge_type_names=[str(i) for i in range(max(types, default=0))],
        directed=_one_way(graphs),
        notes=list(dict.fromkeys(notes)),
        where=where,
    )


def position_names(columns: int, choices: Choices, where: str, notes: list[str]) -> list[str]:
    """Names of features that have none: their numbers, or those that a model knows, if there are as many."""
    known = choices.feature_names
    if known is None:
        return [str(i) for i in range(columns)]
    if len(known) != max(columns, 1):
        raise UserError(f"In {where}: nodes have {columns} features, the model was trained with {len(known)}.")
    if any(name != str(i) for i, name in enumerate(known)) and list(known) != ["constant"]:
        notes.append("The features have no names; they are taken in the order of those the model was trained with.")
    return list(known)


def training_only(y: Tensor, mask: Tensor, where: str, notes: list[str]) -> Tensor:
    """``y`` [N] with the labels outside a training mask [N] hidden; of several masks [N, S] or [S, N] the first counts."""
    if mask.dim() == 2 and y.numel() in mask.shape:
        mask = mask[:, 0] if mask.size(0) == y.numel() else mask[0]
        notes.append("Of several training masks the first is used.")
    if mask.dtype != torch.bool or mask.shape != y.shape:
        raise UserError(
            f"In {where}: train_mask is a {mask.dtype} tensor of shape {list(mask.shape)}, one truth value per node "
            f"([{y.numel()}]) is expected."
        )
    hidden = int(((y != UNLABELLED) & ~mask).sum())
    notes.append(f"{hidden} label{'s' * (hidden != 1)} outside of train_mask {'are' if hidden != 1 else 'is'} hidden.")
    return torch.where(mask, y, UNLABELLED)


def _fields(item: Any, where: str) -> Mapping[str, Any]:
    try:
        fields = item.to_dict() if isinstance(item, Data) else item
    except Exception as error:  # a Data with its insides missing
        raise UserError(f"In {where}: the PyG Data is damaged; save it again.") from error
    if not isinstance(fields, Mapping):
        raise UserError(f"In {where}: a {type(item).__name__} was given, a PyG Data is expected.")
    return fields


def _from_item(item: Any, where: str, notes: list[str]) -> Data:
    """A plain ``Data`` with every tensor of the kind the rest of the library relies on."""
    fields = _fields(item, where)
    x, edge_index, y, weight, kind, mask = (_tensor(fields.get(name), name, where) for name in READ)
    unread = [str(name) for name, value in fields.items() if value is not None and name not in READ + PASSED_OVER]
    if unread:
        notes.append(f"Ignored: {', '.join(unread)}; {', '.join(READ)} are read.")
    for name, tensor in (("edge_index", edge_index), ("edge_type", kind)):
        if tensor is not None and tensor.numel() and (tensor.is_floating_point() or tensor.dtype == torch.bool):
            raise UserError(f"In {where}: {name} is of type {tensor.dtype}, torch.long is expected.")
    if y is not None and y.is_floating_point():
        raise UserError(
            f"In {where}: y is of type {y.dtype}, classes as whole numbers (torch.long) are expected; measurements are not "
            "predicted: cut them into classes, such as low and high."
        )
    if y is not None and y.dim() == 2 and y.size(1) == 1:
        y = y[:, 0]
    if y is not None and y.dim() == 2:
        raise UserError(
            f"In {where}: y of shape {list(y.shape)} holds several labels per node, one is expected; predict one after the "
            "other, as y = data.y[:, 0], then y = data.y[:, 1]."
        )
    if x is None and y is not None:
        x = torch.ones(y.numel(), 1)
    if y is None:
        y = torch.full((0 if x is None or x.dim() == 0 else x.size(0),), UNLABELLED)
    elif mask is not None:
        y = training_only(y.long(), mask, where, notes)
    graph = Data(x=None if x is None else x.float(), y=y.long())
    graph.edge_index = None if edge_index is None else edge_index.long()
    if weight is not None:
        graph.edge_weight = weight.float()
    if kind is not None:
        graph.edge_type = kind.long()
    return graph


def _tensor(value: Any, name: str, where: str) -> Tensor | None:
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        value = torch.from_numpy(np.ascontiguousarray(value))
    if value is None:
        return None
    if not isinstance(value, Tensor):
        raise UserError(f"In {where}: {name} is a {type(value).__name__}, a tensor is expected.")
    dense = value.layout is torch.strided and value.device.type != "meta"
    if not dense or value.is_complex() or value.is_quantized or value.is_nested:
        raise UserError(f"In {where}: {name} is a {value.layout} {value.dtype} tensor, a dense real one is expected.")
    return (value.as_tensor() if isinstance(value, EdgeIndex) else value.detach()).cpu()


def _check_numbers(items: Sequence[Any], where: str, most: int) -> None:
    """Refuse tensors that hold more numbers than the file can: repeated ones, which would be written out in memory."""
    numbers = 0
    for item in items:
        tensors = [t for t in _fields(item, where).values() if isinstance(t, Tensor)]
        numbers += sum(tensor.numel() for tensor in tensors if tensor.layout is torch.strided)
    if numbers > most:
        raise UserError(
            f"The file {where} stands for {numbers:,} numbers, far more than it holds; save tensors without repeats, "
            "as x.contiguous() makes them."
        )


def _undirect(graph: Data) -> None:
    weight, kind = graph.get("edge_weight"), graph.get("edge_type")
    if graph.edge_index is None or graph.edge_index.dim() != 2 or graph.edge_index.size(0) != 2:
        return  # which check_graph tells
    nodes = max(graph.y.numel(), 1 + int(graph.edge_index.max()) if graph.edge_index.numel() else 0)
    edges = Edges(
        graph.edge_index.numpy(),
        None if weight is None else weight.double().numpy(),
        None if kind is None else kind.numpy(),
        [] if kind is None else [str(i) for i in range(int(kind.max()) + 1 if kind.numel() else 1)],
    )
    edges = edges.both_ways(nodes).merged(nodes)
    graph.edge_index = torch.from_numpy(edges.ends)
    if edges.weight is not None:
        graph.edge_weight = torch.from_numpy(edges.weight).float()
    if edges.kind is not None:
        graph.edge_type = torch.from_numpy(edges.kind)


def _one_way(graphs: Sequence[Data]) -> bool:
    sound = [g for g in graphs if g.edge_index is not None and g.edge_index.dim() == 2 and g.edge_index.size(0) == 2]
    return lacks_reverse(sound)
