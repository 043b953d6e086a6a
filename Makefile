# make demo   install, then train on automata and show the result
# make test   install, then lint, type-check and run all tests
# make lint   ruff and mypy alone
# make bench  measure speed; results go to results/bench

PYTHON ?= python3
BIN := .venv/bin
export MPNP_DATA ?= $(abspath $(wildcard ../shared/data))

.PHONY: demo test lint bench install

install: .venv/installed

.venv/installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

demo: install
	$(BIN)/mpnp demo

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint
	$(BIN)/python -m pytest -q

bench: install
	$(BIN)/python -m benchmarks
