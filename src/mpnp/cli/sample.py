"""``mpnp sample``."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from jsonargparse import ArgumentParser, Namespace

from ..errors import UserError
from .common import (
    add_computing,
    add_model_and_graph,
    add_reading,
    at_least,
    model_and_graph,
    notes_on,
    predictor_on,
    read_for,
    set_up,
)

HELP = "whole labellings of your graphs that hang together, drawn from what a model believes"


def arguments(parser: ArgumentParser) -> None:
    add_model_and_graph(parser)
    parser.add_argument("--count", type=int, default=16, help="labellings per graph")
    parser.add_argument(
        "--blocks", type=int, default=32, help="draw nodes in at most so many blocks, each given those before"
    )
    parser.add_argument(
        "--latent",
        action="store_true",
        help="vary the latent variable alone: the likeliest labels under each sample of it",
    )
    parser.add_argument("--out", type=str, default="samples.csv", help="a row per node, a column per labelling")
    parser.add_argument(
        "--picture", type=str, default=None, help="draw the labellings of the first graph: .png or .svg"
    )
    add_reading(parser)
    add_computing(parser, samples=True)


def run(options: Namespace) -> None:
    at_least(options, count=1, blocks=1, samples=1, threads=1, seed=0)
    name, graph = model_and_graph(options)

    import torch

    from ..active.sampling import sample, vary_latent
    from ..files import replacing
    from ..own.predict import episode_of
    from ..tasks.formats.cells import safe

    if options.picture is not None:
        from .. import plots

        plots.check_ending(Path(options.picture))
    predictor, _ = predictor_on(set_up(options), name)
    own = read_for(graph, options, predictor)
    if not own.class_names:
        raise UserError(
            f"No node of {own.where} has a label, so there are no classes to draw; label at least one node."
        )
    classes = len(own.class_names)
    episode = episode_of(predictor, own, classes)
    if options.latent:
        varied = vary_latent(predictor, own, options.count, num_classes=classes, seed=options.seed)
        labels = torch.where(episode.context, episode.y, varied.argmax(-1))
    else:
        found = sample(
            predictor,
            own,
            options.count,
            num_classes=classes,
            blocks=options.blocks,
            samples=options.samples,
            seed=options.seed,
        )
        labels = torch.cat([one.labels for one in found], 1)
    names = [safe(name) for name in own.class_names]
    nodes = [(number, node) for number, graph_names in enumerate(own.node_names) for node in graph_names]
    out = Path(options.out)
    with replacing(out) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["graph", "node", "given", *(f"sample_{i + 1}" for i in range(options.count))])
        for at, (number, node) in enumerate(nodes):
            given = names[int(episode.y[at])] if bool(episode.context[at]) else ""
            table.writerow([number, safe(node), given, *(names[c] for c in labels[:, at].tolist())])
    told: dict[str, object] = {"labellings": options.count, "nodes": episode.num_nodes, "out": str(out)}
    if options.latent:
        share = float((labels != labels.mode(0).values).any(0).float().mean())
        told["varies"] = share
        words = f"The likeliest class of {100 * share:.1f} % of the nodes varies with the latent variable."
    else:
        each = torch.stack([one.log_likelihood for one in found]).sum(0)
        told["log_likelihood"] = each.tolist()
        words = (
            f"Log-likelihood of what was drawn, in nats: {float(each.mean()):.1f} on average, "
            f"{float(each.min()):.1f} to {float(each.max()):.1f}."
        )
    notes = notes_on(own, predictor)
    if options.json:
        print(json.dumps({**told, "notes": notes}))
    else:
        print("\n".join([f"{options.count} labellings of {episode.num_nodes} nodes: see {out}.", words, *notes]))
    if options.picture is not None:
        first = episode.only(0)
        title = f"{predictor.name}: {'what varies with z' if options.latent else 'ways this graph could go on'}"
        size = first.num_nodes
        if options.latent:
            figure = plots.latent_figure(first, varied[:, :size], title, own.class_names)
        else:
            notes = [f"log p {float(value):.1f}" for value in found[0].log_likelihood]
            figure = plots.samples_figure(first, labels[:, :size], title, own.class_names, notes)
        picture = plots.save(figure, Path(options.picture))
        if not options.json:
            print(f"Picture: {picture}.")
