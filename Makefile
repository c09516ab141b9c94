# The commands of Lodestar. `make help` lists them.
SHELL := /bin/bash
PYTHON ?= python3
# Exported, so that whatever a directive contains reaches the program as it is.
export PYTHON EXTRAS DIRECTIVE SEED WORLD KIND OUT DATA QUESTION PERCEPTION CONSOLE

# Of `make setup`: torch, ultralytics, or none; what was chosen last is kept where it is empty.
EXTRAS ?=
DIRECTIVE ?=
# Not ?=, which takes an empty variable of the shell for a value.
SEED := $(or $(SEED),1)
WORLD := $(or $(WORLD),apartment)
KIND ?=
PERCEPTION ?=
CONSOLE ?=
OUT := $(or $(OUT),out/demo)
DATA ?=
QUESTION ?=
BENCH ?= all
TESTS ?=

ENVIRONMENT := . ./env.sh

.PHONY: help setup demo ask replay detector console pictures test test-torch lint unit bench clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: ## make the environment and build the workspace; EXTRAS=torch|ultralytics|signs|none (quick when nothing changed)
	@$(PYTHON) scripts/setup_workspace.py $${EXTRAS:+--extras "$$EXTRAS"}

demo: setup ## find something: DIRECTIVE="find the red chair" SEED=7 WORLD=office|warehouse|apartment|file PERCEPTION=nanodet CONSOLE=off
	@$(ENVIRONMENT) && exec python -m lodestar_eval.demo --world "$$WORLD" --seed "$$SEED" --out "$$OUT" \
		$${KIND:+--kind "$$KIND"} $${PERCEPTION:+--perception "$$PERCEPTION"} $${CONSOLE:+--console "$$CONSOLE"} $${DIRECTIVE:+--directive "$$DIRECTIVE"}

ask: setup ## ask the memory of the last demo: QUESTION="when did you last see the chair?"
	@test -n "$$QUESTION" || { echo 'make ask: say what to ask, such as QUESTION="where is the chair?"' >&2; exit 2; }
	@$(ENVIRONMENT) && { python -m lodestar_eval.demo.ask "$$QUESTION" --memory "$$OUT/memory" || test $$? = 1; } # 1: it does not know

pictures: ## make the film of the last demo the README's (OUT=its folder)
	@cp "$$OUT/run.gif" docs/images/demo.gif

test: setup ## lint and every test (TESTS=path narrows it); lint runs beside the tests
	@nice $(MAKE) --no-print-directory lint & linted=$$!; $(MAKE) --no-print-directory unit; tested=$$?; \
	wait $$linted || { echo "== lint: FAILED, see above" >&2; tested=1; }; exit $$tested

test-torch: setup ## the comparisons with PyTorch, in an environment of their own
	@$(ENVIRONMENT) && exec python scripts/run_torch_tests.py $(TESTS)

lint: setup ## ruff (rules and layout), and mypy on every package
	@$(ENVIRONMENT) && python -m ruff check . && python -m ruff format --check . && python -m mypy

unit: setup ## every test, without lint (TESTS=path narrows it)
	@$(ENVIRONMENT) && exec python scripts/run_tests.py $(TESTS)

replay: setup ## play a recording through the running nodes: DATA=folder or bag
	@test -n "$$DATA" || { echo "make replay: say which recording, such as DATA=path/to/folder" >&2; exit 2; }
	@$(ENVIRONMENT) && exec python -m lodestar_eval.demo.replay "$$DATA" $${PERCEPTION:+--perception "$$PERCEPTION"}

detector: setup ## put the detectors NanoDet and Objectron (Apache-2.0) into models/
	@$(ENVIRONMENT) && exec python scripts/fetch_detector.py

console: ## rebuild the console's page from src/lodestar_console/page (npm packages of its lock file)
	@$(PYTHON) scripts/build_console.py

bench: setup ## run every benchmark (hours), or one: BENCH="episodes --world apartment --seeds 1-30"
	@$(ENVIRONMENT) && exec python -m lodestar_eval $(BENCH)

clean: ## remove what setup, tests and runs have made
	rm -rf .venv .venv-torch build install log out .cache .setup.lock .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests scripts launch -name __pycache__ -type d -prune -exec rm -rf {} +
	find src -maxdepth 2 \( -name '*.egg-info' -o -name build \) -prune -exec rm -rf {} +
