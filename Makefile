# `make demo` and `make test` are all that is needed on a machine with Python 3.11 and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# Python 3.13 by name or among those of pyenv; it has an environment of its own.
PYENV_ROOT ?= $(HOME)/.pyenv
PYTHON_313 ?= $(or $(shell python3.13 -c 'import sys; print(sys.executable)' 2>/dev/null),$\
	$(lastword $(sort $(wildcard $(PYENV_ROOT)/versions/3.13.*/bin/python))))
VENV_313 := .venv-313

# Size of the memory that `make bench` measures, where it keeps data and results, and more options.
NODES ?= 10000
BENCH_CACHE ?= $(HOME)/.cache/neurogated-bench
BENCH ?=

export HF_HUB_OFFLINE := 1

.DEFAULT_GOAL := help
.PHONY: help install browser demo docs test test-fast test-313 bench lint format clean

help: ## list what can be made
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(STAMP) ## make .venv and install everything into it

$(STAMP): pyproject.toml requirements.txt constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -r requirements.txt -e '.[dev]' -c constraints.txt
	touch $(STAMP)

browser: ## install the browser that some tests drive (Debian and its kin; asks for root where need be)
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null || { \
		sudo=$$([ $$(id -u) -eq 0 ] || echo sudo); \
		$$sudo apt-get update -qq && $$sudo apt-get install -y -qq --no-install-recommends \
			chromium chromium-driver fonts-dejavu-core; }

demo: $(STAMP) ## answer a question on the bundled sample data set
	$(BIN)/python main.py demo

docs: $(STAMP) ## build the pages of docs and check their links
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --site-dir $(VENV)/site

test: $(STAMP) ## run all tests with coverage
	$(BIN)/python -m pytest -n auto --cov --cov-report=term --cov-fail-under=90

test-fast: $(STAMP) ## run the tests that take no model and no long loop
	$(BIN)/python -m pytest -n auto -m 'not slow'

test-313: ## run the fast tests on Python 3.13, where there is one; with CI=true there has to be
ifneq ($(PYTHON_313),)
	$(MAKE) test-fast PYTHON=$(PYTHON_313) VENV=$(VENV_313)
else ifeq ($(CI),true)
	$(error no Python 3.13: neither python3.13 nor a version of pyenv in $(PYENV_ROOT); name it in PYTHON_313)
else
	@echo "no Python 3.13 found, so its tests are left out; name it in PYTHON_313"
endif

bench: $(STAMP) ## measure speed at NODES nodes against the bars and others, into docs/performance.md
	mkdir -p $(BENCH_CACHE)/results
	$(BIN)/python -m pytest benchmarks --benchmark-only --nodes $(NODES) --cache $(BENCH_CACHE) $(BENCH) \
		--benchmark-json $(BENCH_CACHE)/results/$(NODES).json
	$(BIN)/python -m benchmarks.report $(BENCH_CACHE)/results/*.json

lint: $(STAMP) ## check style, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP) ## put the code into its standard form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## remove .venv and what tools leave behind
	rm -rf $(VENV) $(VENV_313) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage
