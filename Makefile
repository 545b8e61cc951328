# `make demo` shows what Taisai does, `make test` proves it. Both make .venv first; the second time that is instant.
.PHONY: help demo study test lint faults bench pictures docs pins clean run dev
PY := .venv/bin/python
# Two for each core, since browsers, disks and kills are waited for more than anything is computed.
WORKERS = $$($(PY) -c "import os; print(min(8, 2 * (os.cpu_count() or 1)))")
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

test: lint ## everything that must hold: style, types, imports, tests
	@echo "── vitest: components";        $(NPM) run --silent test
	@echo "── pytest: tests, README and docs"
	@$(PY) -m pytest -q -n $(WORKERS) --dist worksteal
	@echo "── passed: ruff, ruff format, mypy, import-linter, svelte-check, vitest, pytest"

lint: dev ## style, types and imports alone
	@echo "── ruff: style";               $(PY) -m ruff check .
	@echo "── ruff format: layout";       $(PY) -m ruff format --check .
	@echo "── mypy: types";               $(PY) -m mypy
	@echo "── import-linter: storeys";    .venv/bin/lint-imports --no-logo
	@echo "── svelte-check: pages";       $(NPM) run --silent check

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
	@$(PY) -m tools.wire
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
	rm -rf .venv .venv.lock build dist .*_cache .hypothesis frontend/node_modules src/taisai/floor/web/built
	find . -name __pycache__ -prune -exec rm -rf {} +

run dev:
	@tools/setup $@
