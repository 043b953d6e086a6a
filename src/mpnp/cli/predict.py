"""``mpnp predict``."""

from __future__ import annotations

from pathlib import Path

from jsonargparse import ArgumentParser, Namespace

from ..defaults import COVERAGE, SAMPLES
from .common import add_model_and_graph, at_least, model_and_graph

HELP = "predict the unlabelled nodes of your graphs: label, probabilities, uncertainty"


def arguments(parser: ArgumentParser) -> None:
    add_model_and_graph(parser)
    parser.add_argument("--out", type=str, default="predictions.csv")
    parser.add_argument("--coverage", type=float, default=COVERAGE, help="how often a set has to hold the true label")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="latent samples")
    parser.add_argument("--seed", type=int, default=0)


def run(options: Namespace) -> None:
    at_least(options, samples=1, seed=0)
    name, graph = model_and_graph(options)

    from ..models import find_predictor
    from ..models.calibration import check_coverage
    from ..own.export import write_csv
    from ..own.predict import episode_of, label_sets, predict_episode
    from ..tasks.own import load_graphs

    check_coverage(options.coverage)
    predictor, _ = find_predictor(name)
    own = load_graphs(graph, getattr(getattr(predictor, "config", None), "class_names", None) or None)
    episode = episode_of(predictor, own, len(own.class_names))
    prediction = predict_episode(predictor, episode, samples=options.samples, seed=options.seed)
    out = Path(options.out)
    sets = label_sets(predictor, episode, prediction, options.coverage)
    write_csv(out, own, episode, prediction, None if sets is None else sets[0])
    shown = int(episode.context.sum())
    print(
        f"{episode.num_nodes} nodes of {episode.num_graphs} graph(s), {shown} of them labelled, predicted: see {out}."
    )
    for note in own.notes:
        print(note)
    if sets is not None:
        print(sets[1])
