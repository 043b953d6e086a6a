#!/usr/bin/env bash
# Trains and scores everything in results/cellular-automata; finished runs are not repeated. About an hour on two cores.
#   bash results/cellular-automata/run.sh            all five families
#   bash results/cellular-automata/run.sh voronoi    one of them
set -euo pipefail
cd "$(dirname "$0")/../.."
results=results/cellular-automata
mpnp=.venv/bin/mpnp
families=${*:-small-world scale-free voronoi spherical-voronoi life-like}

score() { # score PREDICTOR TASK FILE [options]
    if [ ! -s "$3" ]; then
        "$mpnp" evaluate "$1" --task "$2" --rates 0.1 0.3 1.0 --draws 3 --json "${@:4}" >"$3.tmp"
        mv "$3.tmp" "$3"
    fi
}

for family in $families; do
    task=ca/$family
    mkdir -p "$results/$family"
    for baseline in mode state-mode rule-table; do
        score "$baseline" "$task" "$results/$family/$baseline.json"
    done
    if [ "$family" != life-like ]; then
        score rule-posterior "$task" "$results/$family/rule-posterior.json"
    fi
    for model in ampnp mpnp-c np-c; do
        "$mpnp" train "$task" --model "$model" --out "runs/ca-$family-$model" --resume
        score "runs/ca-$family-$model" "$task" "$results/$family/$model.json"
    done
    if [ "$family" = small-world ]; then # the paper's own model, its own way: Gaussian, mean aggregation, 200 epochs of Adam
        "$mpnp" train "$task" --model mpnp --recipe paper --out "runs/ca-$family-mpnp-paper" --resume
        score "runs/ca-$family-mpnp-paper" "$task" "$results/$family/mpnp-paper.json"
    fi
done
.venv/bin/python "$results/table.py"
