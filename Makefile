# make demo   install, then train on automata and show the result
# make test   install, then lint, type-check and run all tests
# make studio  install, then label a graph in the browser
# make lint   ruff and mypy alone
# make bench  measure speed; results go to results/bench
# make bench-rivals  the same against peers that live in an environment of their own

PYTHON ?= python3
BIN := .venv/bin
export MPNP_DATA ?= $(abspath $(wildcard ../shared/data))

.PHONY: demo studio test lint bench bench-rivals install

install: .venv/installed

.venv/installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

demo: install
	$(BIN)/mpnp demo

studio: install
	$(BIN)/mpnp studio

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint
	$(BIN)/python -m pytest -q

bench: install
	$(BIN)/python -m benchmarks steps trainer automata scale studio

RIVALS := .venv-rivals/bin
PIP_RIVALS := $(RIVALS)/pip install --quiet --disable-pip-version-check -c constraints.txt
bench-rivals:
	test -x $(RIVALS)/python || $(PYTHON) -m venv .venv-rivals
	$(PIP_RIVALS) torch
	$(PIP_RIVALS) -e .
	$(PIP_RIVALS) neuralprocesses==0.2.7 scikit-learn==1.9.1 scikit-network==0.33.5
	$(RIVALS)/python -m benchmarks rival propagation
