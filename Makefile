# `make demo` shows what Taisai does, `make test` proves it. Both make .venv first; the second time that is instant.
.PHONY: help demo study test lint types style imports pages components collected faults bench pictures docs pins clean run dev
PY := .venv/bin/python
# Two for each core, since browsers, disks and kills are waited for more than anything is computed.
WORKERS = $$($(PY) -c "import os; print(min(8, 2 * (os.cpu_count() or 1)))")
# What runs side by side tells it one after the other, where make can do that.
IN_BLOCKS := $(if $(filter output-sync,$(.FEATURES)),--output-sync)
NPM := $(PY) -I tools/pages.py npm
# Tests start Python hundreds of times: what it compiles is kept, whatever the shell says.
unexport PYTHONDONTWRITEBYTECODE

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

demo: run ## a casino of play money, live: four tables, virtual people, a lobby into every role
	@.venv/bin/taisai demo

study: ## the command with the libraries of the study: exact mathematics, simulation, plots
	@tools/setup study
	@echo "for the mathematics: . .venv/bin/activate, then taisai odds --help, or docs/study"

test: dev ## everything that must hold: style, types, imports, tests
	@$(MAKE) --no-print-directory -j2 $(IN_BLOCKS) lint components collected
	@echo "── pytest: tests, README and docs"
	@$(PY) -m pytest -q -n $(WORKERS) --dist worksteal
	@echo "── passed: ruff, ruff format, mypy, import-linter, svelte-check, vitest, pytest"

lint: types style imports pages ## style, types and imports alone

types: dev
	@echo "── mypy: types";               $(PY) -m mypy

style: dev
	@echo "── ruff: style";               $(PY) -m ruff check .
	@echo "── ruff format: layout";       $(PY) -m ruff format --check .

imports: dev
	@echo "── import-linter: layers";    .venv/bin/lint-imports --no-logo

pages: dev
	@echo "── svelte-check: pages";       $(NPM) run --silent check

components: dev
	@echo "── vitest: components";        $(NPM) run --silent test

# Compiled once, and not by every worker for itself.
collected: dev
	@mkdir -p build; $(PY) -m pytest -q --collect-only > build/collected.txt || { cat build/collected.txt; exit 1; }

faults: dev ## the same tests, searching far longer for a counterexample
	TAISAI_LONG=1 $(PY) -m pytest -q -n $(WORKERS) --dist worksteal

bench: dev ## speed against the alternatives, in one run
	$(PY) -m bench

pictures: dev ## what is made from rulebooks, command, messages and tests: docs, and the map from clause to test
	@$(PY) -m tools.pictures
	@$(PY) -m tools.edges
	@$(PY) -m tools.cards
	@$(PY) -m tools.commands
	@$(PY) -m tools.settings
	@$(PY) -m tools.protocol
	@$(PY) -m tools.access
	@$(NPM) run --silent messages
	@$(PY) -m tools.clause_map
	@$(PY) -m pytest -q -n auto tests/pages/test_round.py tests/pages/test_every_page.py
	@$(PY) -m tools.page_pictures

docs: dev ## the API reference, into build/docs/api
	$(PY) -W error tools/api.py build/docs/api

pins: dev ## resolve the dependencies anew into requirements/
	tools/pins

clean: ## remove everything that is made
	rm -rf .venv .venv.lock build dist .*_cache .hypothesis frontend/node_modules src/taisai/server/http/built
	find . -name __pycache__ -prune -exec rm -rf {} +

run dev:
	@tools/setup $@
