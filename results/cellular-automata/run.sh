#!/usr/bin/env bash
# Trains and scores everything in results/cellular-automata; finished runs are not repeated. About an hour on two cores.
#   bash results/cellular-automata/run.sh                          everything, one run after the other
#   bash results/cellular-automata/run.sh voronoi                  one family
#   MODELS=ampnp THREADS=1 bash results/cellular-automata/run.sh   one model, one thread: two such calls share two cores
set -euo pipefail
cd "$(dirname "$0")/../.."
results=results/cellular-automata
mpnp=.venv/bin/mpnp
families=${*:-small-world scale-free voronoi spherical-voronoi life-like}
models=${MODELS:-baselines ampnp mpnp-c np-c mpnp-paper}
threads=${THREADS:-$(nproc)}

score() { # score PREDICTOR TASK FILE [options]
    if [ ! -s "$3" ]; then
        "$mpnp" evaluate "$1" --task "$2" --rates 0.1 0.3 1.0 --draws 3 --json "${@:4}" >"$3.tmp"
        mv "$3.tmp" "$3"
    fi
}

for model in $models; do
    for family in $families; do
        task=ca/$family
        folder=runs/ca-$family-$model
        mkdir -p "$results/$family"
        [ ! -s "$results/$family/$model.json" ] || continue
        case $model in
        baselines)
            for baseline in mode state-mode rule-table rule-posterior; do
                [ "$family-$baseline" = life-like-rule-posterior ] || score "$baseline" "$task" "$results/$family/$baseline.json"
            done
            continue
            ;;
        mpnp-paper) # the paper's own model its own way: Gaussian likelihood, mean aggregation, 200 epochs of Adam
            [ "$family" = small-world ] || continue
            "$mpnp" train "$task" --model mpnp --recipe paper --out "$folder" --threads "$threads" --resume
            ;;
        *)
            "$mpnp" train "$task" --model "$model" --out "$folder" --threads "$threads" --resume
            ;;
        esac
        score "$folder" "$task" "$results/$family/$model.json" --threads "$threads"
    done
done
.venv/bin/python "$results/table.py"
.venv/bin/python "$results/figures.py"
