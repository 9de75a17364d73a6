# Everything a developer runs. `make` alone prints this help.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
SERVE  ?= 1
DEMO_ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help demo test python-test frontend-test lint format build bench clean

help: ## print this help
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

demo: $(VENV)/.runtime ## train the demo for about two minutes and serve the tab (SERVE=0: train only)
	$(BIN)/python -m demo $(if $(filter 0,$(SERVE)),--no-serve) $(DEMO_ARGS)

test: lint frontend-test python-test ## everything: lint, types, frontend, Python, real TensorBoard in a real browser

python-test: $(VENV)/.testing frontend/node_modules/.installed ## Python and browser tests (ARGS=… goes to pytest)
	CHROMIUM="$$(sh scripts/find_browser.sh)" $(BIN)/python -m pytest $(ARGS)

frontend-test: frontend/node_modules/.installed ## types and unit tests of the frontend, and that the bundle is fresh
	cd frontend && npm run --silent check && npm test --silent

lint: $(VENV)/.testing ## ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/.testing ## let ruff rewrite what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

build: frontend/node_modules/.installed ## build the frontend into tb_stepperf/plugin/static
	cd frontend && npm run --silent build

bench: $(VENV)/.testing ## measure what benchmarks/README.md states (peers in an environment of their own)
	sh scripts/bench.sh

clean: ## remove what set-up and tests made (not your runs/)
	rm -rf $(VENV) benchmarks/.venv frontend/node_modules build dist *.egg-info .pytest_cache .ruff_cache .cache

$(VENV)/.runtime: setup.py constraints.txt scripts/make_venv.sh
	PYTHON="$(PYTHON)" sh scripts/make_venv.sh $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[torch]'
	touch $@

$(VENV)/.testing: $(VENV)/.runtime tests/requirements.txt
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --requirement tests/requirements.txt
	touch $@

frontend/node_modules/.installed: frontend/package.json frontend/package-lock.json
	cd frontend && npm ci --no-audit --no-fund --loglevel=error
	touch $@
