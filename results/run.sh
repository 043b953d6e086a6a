#!/usr/bin/env bash
# Trains and scores models on tasks; finished runs are not repeated, interrupted ones go on where they were.
#   bash results/run.sh tud                        a family: tud, ppisp, shapenet, cora
#   bash results/run.sh tud/dhfr shapenet/bag      single tasks
#   MODELS="ampnp gnn" THREADS=1 bash results/run.sh tud   some models; with one thread two such calls share two cores
set -euo pipefail
cd "$(dirname "$0")/.."
mpnp=.venv/bin/mpnp
threads=${THREADS:-$(nproc)}

tasks_of() {
    case $1 in
    tud) echo tud/enzymes tud/dhfr tud/proteins tud/cox2 tud/bzr ;;
    shapenet) for c in bag cap earphone rocket motorbike mug pistol skateboard laptop knife guitar car airplane lamp chair table; do echo "shapenet/$c"; done ;;
    shapenet-mixed) echo shapenet/mixed-2 shapenet/mixed-3 shapenet/mixed-4 ;;
    cora) for n in 2 3 7 11; do echo "cora/transductive-$n"; done; for n in 2 3 5 11; do echo "cora/few-shot-$n"; done ;;
    *) echo "$1" ;;
    esac
}

models_of() {
    case $1 in
    tud/*) echo ampnp gnn unimp mpnp-c np-c label-propagation mode ;;
    ppisp) echo ampnp gnn r-gcn unimp mpnp r-mpnp np label-propagation mode ;;
    shapenet/mixed-*) echo ampnp mpnp-c np-c label-propagation mode ;;
    shapenet/*) echo ampnp gnn unimp mpnp np label-propagation mode ;;
    cora/*) echo ampnp mpnp-c np-c label-propagation mode ;;
    cora-graph/*) echo label-propagation mode ;;
    *) echo ampnp label-propagation mode ;;
    esac
}

# Large test sets need no repeated draws of the context.
draws_of() {
    case $1 in
    shapenet/airplane | shapenet/car | shapenet/chair | shapenet/guitar | shapenet/knife | shapenet/lamp | shapenet/laptop | shapenet/table | shapenet/mixed-*) echo 1 ;;
    *) echo 3 ;;
    esac
}

for name in "$@"; do
    for task in $(tasks_of "$name"); do
        for model in ${MODELS:-$(models_of "$task")}; do
            file=results/$task/$model.json folder=runs/${task//\//-}-$model predictor=$model
            [ ! -s "$file" ] || continue
            mkdir -p "$(dirname "$file")"
            case $model in
            mode | state-mode | label-propagation) ;;
            *)
                "$mpnp" train "$task" --model "$model" --out "$folder" --threads "$threads" --resume
                predictor=$folder
                ;;
            esac
            "$mpnp" evaluate "$predictor" --task "$task" --draws "$(draws_of "$task")" --threads "$threads" --json >"$file.tmp"
            mv "$file.tmp" "$file"
        done
    done
done
