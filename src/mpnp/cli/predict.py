"""``mpnp predict``."""

from __future__ import annotations

from pathlib import Path

from jsonargparse import ArgumentParser, Namespace

from ..defaults import SAMPLES
from .common import at_least

HELP = "predict the unlabelled nodes of your graphs: label, probabilities, uncertainty"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("model", type=str, help="the folder of a trained model")
    parser.add_argument("graph", type=str, help="your graphs: {files}")
    parser.add_argument("--out", type=str, default="predictions.csv")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="latent samples")
    parser.add_argument("--seed", type=int, default=0)


def run(options: Namespace) -> None:
    from ..models import from_pretrained
    from ..own.export import write_csv
    from ..own.predict import episode_of, label_sets, predict_episode
    from ..tasks.own import load_graphs

    at_least(options, samples=1, seed=0)
    model = from_pretrained(options.model)
    own = load_graphs(options.graph, model.config.class_names or None)
    episode = episode_of(model, own.graphs, len(own.class_names))
    prediction = predict_episode(model, episode, samples=options.samples, seed=options.seed)
    out = Path(options.out)
    write_csv(out, own, episode, prediction, label_sets(model, episode, prediction))
    shown = int(episode.context.sum())
    print(
        f"{episode.num_nodes} nodes of {episode.num_graphs} graph(s), {shown} of them labelled, predicted: see {out}."
    )
