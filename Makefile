# make demo   install, then train on automata and show the result
# make test   install, then lint, type-check and run all tests
# make studio  install, then label a graph in the browser
# make docs   install, then build the documentation into site/
# make lint   ruff and mypy alone
# make dist   wheel and sdist, in dist/
# make fuzz   10,000 malformed inputs; counts go to results/reliability
# make chaos  kills, full disks, races; longer, goes on where it was stopped
# make test-oldest  some of the tests with the lowest versions that pyproject.toml promises
# make test-python PYTHON=python3.13  what needs no torch with another Python; every file compiled, warnings being errors
# make bench  measure speed; results go to results/bench
# make bench-rivals  the same against peers that live in an environment of their own

PYTHON ?= python3
BIN := .venv/bin
export MPNP_DATA ?= $(abspath $(wildcard ../shared/data))

.PHONY: demo docs studio dist test lint fuzz chaos test-oldest test-python bench bench-rivals install

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

docs: install
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "The documentation is in site/index.html."

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# A process per core, up to four, each with one thread: small tensors gain nothing by two.
test: lint
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n auto --maxprocesses 4

dist: install
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist

fuzz: install
	$(BIN)/python -m campaigns fuzz

chaos: install
	$(BIN)/python -m campaigns chaos

OLDEST := .venv-oldest/bin
test-oldest: install
	test -x $(OLDEST)/python || $(PYTHON) -m venv .venv-oldest
	$(BIN)/python -m campaigns dependencies --oldest > .venv-oldest/lowest.txt
	$(OLDEST)/pip install --quiet --disable-pip-version-check -c constraints.txt torch pytest
	$(OLDEST)/pip install --quiet --disable-pip-version-check -c .venv-oldest/lowest.txt -e '.[all]'
	OMP_NUM_THREADS=1 $(OLDEST)/python -m pytest -q tests/test_files.py tests/test_graphs.py tests/test_episode.py \
	    tests/tasks/formats tests/models/test_pretrained.py tests/own/test_predict.py tests/training/test_interruption.py \
	    tests/cli/test_predict.py tests/studio/test_journal.py tests/studio/test_messages.py

OTHER := .venv-other/bin
test-python:
	rm -rf .venv-other
	$(PYTHON) -m venv .venv-other
	$(OTHER)/pip install --quiet --disable-pip-version-check -c constraints.txt filelock jinja2 jsonargparse networkx numpy \
	    pytest pyyaml safetensors scipy tqdm
	$(OTHER)/python -W error -m compileall -q -f -j 2 src tests campaigns studies benchmarks docs
	PYTHONPATH=src $(OTHER)/python -W error::DeprecationWarning:mpnp -m pytest --noconftest -q -p no:cacheprovider \
	    tests/test_errors.py tests/test_files.py tests/test_layout.py tests/test_progress.py tests/campaigns/test_page.py \
	    tests/cli/test_config_files.py tests/cli/test_harmless.py tests/evaluation/test_rates.py \
	    tests/reproduce/test_processes.py tests/studio/test_messages.py

bench: install
	$(BIN)/python -m benchmarks steps trainer automata scale one-graph studio asking startup

RIVALS := .venv-rivals/bin
PIP_RIVALS := $(RIVALS)/pip install --quiet --disable-pip-version-check -c constraints.txt
bench-rivals:
	test -x $(RIVALS)/python || $(PYTHON) -m venv .venv-rivals
	$(PIP_RIVALS) torch
	$(PIP_RIVALS) -e '.[train,plot]'
	$(PIP_RIVALS) neuralprocesses==0.2.7 scikit-learn==1.9.1 scikit-network==0.33.5
	$(RIVALS)/python -m benchmarks rival propagation
