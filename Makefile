# `make demo` shows what Taisai does, `make test` proves it. Both make .venv first; the second time that is instant.
.PHONY: help demo study test prove lint types style layout imports pages components bench pictures docs sbom pins outdated clean run dev
PY := .venv/bin/python
# How long `make prove` searches, as a factor.
PROVE := 1
NPM := $(PY) -I tools/pages.py npm
# Tests start Python hundreds of times: what it compiles is kept, whatever the shell says.
unexport PYTHONDONTWRITEBYTECODE

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

demo: run ## a casino of play money, live: four tables, virtual people, a lobby that leads to every role
	@.venv/bin/taisai demo

study: ## installs the libraries of the study: exact mathematics, simulation, plots
	@tools/setup study
	@echo "for the mathematics: . .venv/bin/activate, then taisai odds --help, or docs/index.md"

test: dev ## all checks and tests, once: style, types, imports, pages, tests; prints its processor time
	@$(PY) -m tools.stages

prove: dev ## the same properties, searched for longer; resumes where it stopped (PARTS="…" PROVE=10 SEED=7)
	@$(PY) -m tools.prove $(PARTS) --length $(PROVE) $(if $(SEED),--seed $(SEED))

lint: dev ## only style, types and imports
	@$(PY) -m tools.stages types pages imports style layout

types style layout imports pages components: dev
	@$(PY) -m tools.stages $@

bench: dev ## speed against the alternatives, in one run
	$(PY) -m bench

pictures: dev ## generates docs, message types and the map from clause to test
	@$(PY) -m tools.pictures
	@$(PY) -m tools.pairs
	@$(PY) -m tools.edges
	@$(PY) -m tools.cards
	@$(PY) -m tools.commands
	@$(PY) -m tools.settings
	@$(PY) -m tools.protocol
	@$(PY) -m tools.access
	@$(PY) -m tools.asvs
	@$(NPM) run --silent messages
	@$(PY) -m tools.clause_map
	@TAISAI_PROVE=1 $(PY) -m pytest -q -n auto tests/pages/test_round.py tests/pages/test_every_page.py
	@$(PY) -m tools.page_pictures

docs: dev ## the API reference, into build/docs/api
	$(PY) -W error tools/api.py build/docs/api

sbom: dev ## the software bill of materials, into build/sbom.cdx.json
	@$(PY) -m tools.sbom

pins: dev ## resolve the dependencies again, into requirements/
	tools/pins

outdated: dev ## what runs and has a newer version in the package index
	@$(PY) -m tools.outdated

clean: ## remove all generated files
	rm -rf .venv .venv.lock build dist .*_cache .hypothesis frontend/node_modules src/taisai/server/http/built
	find . -name __pycache__ -prune -exec rm -rf {} +

run dev:
	@tools/setup $@
