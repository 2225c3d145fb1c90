# `make demo` and `make test` need only a machine with Python 3.11 and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# Python 3.13, by name or from pyenv; it has a separate environment.
PYENV_ROOT ?= $(HOME)/.pyenv
PYTHON_313 ?= $(or $(shell python3.13 -c 'import sys; print(sys.executable)' 2>/dev/null),$\
	$(lastword $(sort $(wildcard $(PYENV_ROOT)/versions/3.13.*/bin/python))))
VENV_313 := .venv-313

# For `make bench`: number of nodes, folder of data and results, and further options.
NODES ?= 10000
BENCH_CACHE ?= $(HOME)/.cache/neurogated-bench
BENCH ?=

# A file runs in one process, so that its tests share what they open. Reordered, files with one long test would run last,
# beside idle processes. Where a process crashes, the run ends: after a restart, it might wait for ever.
IN_PARALLEL := -n auto --dist loadfile --no-loadscope-reorder --max-worker-restart 0

# For `make test-fast`: files and folders of tests; all by default.
PART ?=

export HF_HUB_OFFLINE := 1
# Each core has a process that runs tests. Threads of libraries beside it would only wait for each other.
test test-fast test-nightly: export OMP_NUM_THREADS := 1

.DEFAULT_GOAL := help
.PHONY: help install browser servers demo docs test test-fast test-nightly install-313 test-313 bench findings lint format clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(STAMP) ## create .venv and install all packages into it

$(STAMP): pyproject.toml requirements.txt constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -r requirements.txt -e '.[dev]' -c constraints.txt
	touch $(STAMP)

browser: ## install the browser that some tests drive (Debian and derivatives; may ask for root)
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null || { \
		sudo=$$([ $$(id -u) -eq 0 ] || echo sudo); \
		$$sudo apt-get update -qq && $$sudo apt-get install -y -qq --no-install-recommends \
			chromium chromium-driver fonts-dejavu-core; }

servers: ## install the server that some tests start (Debian and derivatives; may ask for root)
	@command -v redis-server >/dev/null || { \
		sudo=$$([ $$(id -u) -eq 0 ] || echo sudo); \
		$$sudo apt-get update -qq && $$sudo apt-get install -y -qq --no-install-recommends redis-server; }

demo: $(STAMP) ## ask two questions about a chat, beside vector search
	$(BIN)/python main.py demo

docs: $(STAMP) ## build the pages of docs and check their links
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --site-dir $(VENV)/site

test: $(STAMP) ## run all tests
	$(BIN)/python -m pytest $(IN_PARALLEL)

test-fast: $(STAMP) ## run the tests without a real model or a long loop
	$(BIN)/python -m pytest $(IN_PARALLEL) -m 'not slow and not nightly' $(PART)

test-nightly: $(STAMP) ## run all tests with long rounds, many random examples and coverage
	$(BIN)/python -m pytest $(IN_PARALLEL) -m '' --hypothesis-profile nightly --cov --cov-report=term --cov-fail-under=90

install-313: ## create the environment of Python 3.13, if there is one
ifneq ($(PYTHON_313),)
	$(MAKE) install PYTHON=$(PYTHON_313) VENV=$(VENV_313)
endif

# Calls, signatures, copies and errors as users see them.
ON_313 := $(addprefix tests/test_,$(addsuffix .py,bad_input end_to_end facade habits interface operations package users))

test-313: ## run what may differ on Python 3.13 if it is installed; CI=true requires it
ifneq ($(PYTHON_313),)
	$(MAKE) test-fast PYTHON=$(PYTHON_313) VENV=$(VENV_313) \
		PART='tests/core tests/storage/test_conformance.py tests/specification tests/retrieval $(ON_313)'
else ifeq ($(CI),true)
	$(error no Python 3.13: neither python3.13 nor a version of pyenv in $(PYENV_ROOT); set PYTHON_313)
else
	@echo "no Python 3.13 found; its tests are skipped; set PYTHON_313"
endif

bench: $(STAMP) ## measure the speed at NODES nodes, and write docs/measurements/speed.md
	mkdir -p $(BENCH_CACHE)/results
	$(BIN)/python -m pytest benchmarks --benchmark-only --nodes $(NODES) --cache $(BENCH_CACHE) $(BENCH) \
		--benchmark-json $(BENCH_CACHE)/results/$(NODES).json
	$(BIN)/python -m benchmarks.report $(BENCH_CACHE)/results/*.json

findings: ## run the findings about other packages, and print those that changed
	@findings/run.sh

lint: $(STAMP) ## check style, spelling, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell *.md docs examples plugins
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP) ## format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## remove .venv and the caches of tools
	rm -rf $(VENV) $(VENV_313) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage
