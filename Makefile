# `make demo` and `make test` are all that is needed on a machine with Python 3.11 and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# Size of the memory that `make bench` measures, where it keeps data and results, and more options.
NODES ?= 10000
BENCH_CACHE ?= $(HOME)/.cache/neurogated-bench
BENCH ?=

export HF_HUB_OFFLINE := 1

.DEFAULT_GOAL := help
.PHONY: help install browser demo test test-fast bench lint format clean

help: ## list what can be made
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

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

demo: $(STAMP) ## run the main job on the bundled sample data set
	$(BIN)/python main.py demo

test: $(STAMP) ## run all tests with coverage
	$(BIN)/python -m pytest -n auto --cov --cov-report=term --cov-fail-under=90

test-fast: $(STAMP) ## run the tests that take no model and no long loop
	$(BIN)/python -m pytest -m 'not slow'

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
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage
