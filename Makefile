# Two commands are enough: `make run` serves on 127.0.0.1:3000, `make test` runs every test.
# Everything is installed into .venv from the pinned, hashed lists in requirements/.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip
# The lists are complete, so pip has nothing to resolve; Python compiles what it imports, which is a small part of what is installed.
INSTALL := install --quiet --disable-pip-version-check --no-compile --no-deps
INSTALL_LIST := $(INSTALL) --require-hashes -r
LOCK := $(BIN)/uv pip compile --universal --generate-hashes --no-emit-index-url --no-header --quiet --upgrade

.DEFAULT_GOAL := help
# The tests start hundreds of processes, which would compile every module again without bytecode on the disk.
unexport PYTHONDONTWRITEBYTECODE
# More than two cores: many tests wait for processes that they start.
TEST_WORKERS ?= 4
REPEAT := echo "Once more, what failed, one after the other:" && $(BIN)/pytest --last-failed --last-failed-no-failures none
WORKLOAD ?= trigger
SYSTEM ?= sqlite
SAMPLE ?= 100
SEED ?= 0

NODE_VENV := $(VENV)/node
NODE_RUNNER := $(NODE_VENV)/bin/python web/node.py
INBOX := src/clarion/web/files/inbox.js
WEB_SOURCES := $(shell find web/api web/build web/dashboard web/demo web/inbox web/ui -type f ! -name schema.d.ts ! -name '*.test.ts')
PUBLISHED := tests/browser/published
GENERATOR := $(VENV)/generator
OLDEST_CLIENT := $(VENV)/oldest-client

.PHONY: help run test browser screenshots chaos faults fuzz hostile simulations languages soak mutants bench profile check install install-dev install-bench format lint types imports docs lock clean \
	web web-or-say web-check web-dev published dist dist-check deploy-check sbom audit install-release install-generator install-oldest-client

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

run: $(BIN)/pip ## serve on 127.0.0.1:3000 with SQLite in ./clarion-data
	@$(MAKE) --no-print-directory --jobs=2 install web-or-say
	@$(BIN)/clarion serve

web-or-say:
	@$(MAKE) --no-print-directory web || echo "The dashboard and the inbox element could not be built, as said above; the API is served without them."

web: $(INBOX) ## build the dashboard and the inbox element; NODE=node uses your own Node.js

test: install-dev install-generator install-oldest-client web-dev web published ## run the tests in parallel, on SQLite and on a real PostgreSQL
	@$(BIN)/pytest -n $(TEST_WORKERS) --ignore tests/browser $(if $(REPEAT_FAILED),|| { $(REPEAT) --ignore tests/browser; })

browser: install-dev web-dev web published ## run the tests in Chromium: the dashboard, the inbox element and the published components
	@$(BIN)/pytest -n $(TEST_WORKERS) tests/browser || { $(REPEAT) tests/browser; }

chaos: install-dev ## kill processes fifty times under load, and let ten thousand events race, on both databases
	@CLARION_CHAOS_KILLS=50 CLARION_EVENT_PAIRS=10000 $(BIN)/pytest tests/chaos

hostile: install-dev ## let a hostile tenant loose on the service for longer, on both databases
	@CLARION_HOSTILE_ROUNDS=20 $(BIN)/pytest tests/hostile

simulations: install-dev ## compare 500 simulations with what then happens, on both databases
	@CLARION_SIMULATE_EXAMPLES=500 $(BIN)/pytest tests/simulate/test_agreement.py

languages: install-dev ## mail 10,000 people of eight languages by one broadcast, each in theirs, on both databases
	@CLARION_LANGUAGE_MAILS=10000 $(BIN)/pytest tests/engine/test_texts.py -k eight_languages

fuzz: install-dev ## try every operation of the API description and every receipts URL 100 times, on both databases
	@CLARION_FUZZ_EXAMPLES=100 $(BIN)/pytest tests/contract tests/receipts/test_garbage.py tests/content/email/test_hostile_values.py

faults: install-dev ## fill the disk, cut PostgreSQL off, and open ten thousand idle connections
	@CLARION_IDLE_CONNECTIONS=10000 $(BIN)/pytest tests/faults tests/hostile/test_connections.py

soak: install-dev ## twenty minutes of mixed load on each database, by a clock that makes them four days
	@CLARION_SOAK_SECONDS=$${CLARION_SOAK_SECONDS:-1200} $(BIN)/pytest -s tests/soak

mutants: install-dev ## put SAMPLE=100 small faults into the code, one at a time, and list those that no test notices
	@$(BIN)/python -m tests.mutants --sample $(SAMPLE) --seed $(SEED)

bench: install-bench ## measure everything in one run of at most 48 minutes; rewrites docs/performance.md
	@$(BIN)/python -m bench run && $(BIN)/python -m bench report

profile: install-bench ## flame graphs and SQL of WORKLOAD=trigger on SYSTEM=sqlite or postgres
	@$(BIN)/python -m bench profile $(WORKLOAD) $(SYSTEM)

check: install-dev ## what CI runs: format, lint, types, imports, tests
	@$(MAKE) --no-print-directory -j2 --output-sync lint types imports web-check
	@$(MAKE) --no-print-directory test browser

dist: install-dev web ## wheel and sdist, with the files for browsers, in dist/
	@rm -rf dist && $(BIN)/hatchling build -d dist

dist-check: dist ## install what `make dist` built into an empty environment, and run it there as the deployment files do
	@$(BIN)/python -m tests.deploy.smoke dist

screenshots: install-dev web ## make the pictures of the dashboard for README and docs/ again, from the data of `clarion demo`
	@$(BIN)/python -m tests.browser.screenshots docs/images

deploy-check: install-dev install-release ## lint deploy/ with hadolint, kubernetes-validate, check-jsonschema, yamllint and systemd-analyze
	@$(BIN)/python -m tests.deploy.lint

sbom: install-release dist ## list everything that is installed at run time, as CycloneDX, in dist/
	@$(BIN)/python -m tests.deploy.sbom dist

audit: install-release ## ask the advisory database of PyPI about the packages of requirements/run.txt
	@$(BIN)/pip-audit --strict --disable-pip --require-hashes -r requirements/run.txt

web-check: web-dev ## types, format, lint and tests of web/, and the sizes of what browsers load first
	@$(NODE_RUNNER) npm run --silent types && $(NODE_RUNNER) npm run --silent lint
	@$(NODE_RUNNER) npm run --silent test
	@$(NODE_RUNNER) node build.mjs --sizes

install: $(VENV)/installed ## install .venv/bin/clarion

install-dev: $(VENV)/installed-dev

install-bench: $(VENV)/installed-bench

install-release: $(VENV)/installed-release

install-generator: $(GENERATOR)/installed

install-oldest-client: $(OLDEST_CLIENT)/installed

web-dev: web/node_modules/.installed-dev

published: $(PUBLISHED)/dist/headless.js

format: install-dev web-dev ## format the code and fix what ruff can fix
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .
	@$(NODE_RUNNER) npm run --silent format

lint: install-dev
	@$(BIN)/ruff format --check . && $(BIN)/ruff check .

types: install-dev
	@$(BIN)/mypy

imports: install-dev
	@$(BIN)/lint-imports

docs: install-dev ## regenerate docs/reference and the README's configuration table
	@$(BIN)/python -m clarion.cli.reference

lock: install-dev ## update requirements/*.txt from pyproject.toml
	@$(BIN)/pip install --quiet uv
	@$(LOCK) pyproject.toml -o requirements/run.txt
	@$(LOCK) --group pip -o requirements/pip.txt
	@$(LOCK) --group build -o requirements/build.txt
	@$(LOCK) pyproject.toml --group dev -c requirements/run.txt -o requirements/dev.txt
	@$(LOCK) --group web -o requirements/web.txt
	@$(LOCK) --group generator -o requirements/generator.txt
	@$(LOCK) --group oldest-client --no-deps -o requirements/oldest-client.txt
	@$(LOCK) --group bench -c requirements/run.txt -c requirements/dev.txt -o requirements/bench.txt
	@$(LOCK) --group release -c requirements/run.txt -c requirements/dev.txt -o requirements/release.txt

clean: ## remove the virtual environment and caches (never data)
	@rm -rf $(VENV) dist web/node_modules web/api/schema.d.ts $(dir $(INBOX)) $(PUBLISHED)/node_modules $(PUBLISHED)/dist .mutants .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# The pip that comes with older versions of Python takes twice as long. An existing pip installs this one in a third of the time that
# `venv` needs for its own; where there is none, or one older than 22.3, `venv` brings it.
$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Clarion needs Python 3.11 or newer; $(PYTHON) is older. Name another: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -m venv --without-pip $(VENV)
	@$(PYTHON) -m pip --python $(BIN)/python $(INSTALL_LIST) requirements/pip.txt 2>/dev/null || \
		{ $(PYTHON) -m venv $(VENV) && $(PIP) $(INSTALL_LIST) requirements/pip.txt; }

$(VENV)/installed: requirements/run.txt requirements/build.txt pyproject.toml | $(BIN)/pip
	@echo "Installing Clarion into $(VENV) ..."
	@$(PIP) $(INSTALL_LIST) requirements/run.txt -r requirements/build.txt
	@$(PIP) $(INSTALL) --no-build-isolation --editable .
	@touch $@

$(VENV)/installed-dev: requirements/dev.txt $(VENV)/installed
	@echo "Installing the development tools ..."
	@$(PIP) $(INSTALL_LIST) requirements/dev.txt
	@touch $@

$(VENV)/installed-bench: requirements/bench.txt $(VENV)/installed-dev
	@echo "Installing the benchmark tools ..."
	@$(PIP) $(INSTALL_LIST) requirements/bench.txt
	@touch $@

$(VENV)/installed-release: requirements/release.txt $(VENV)/installed-dev
	@echo "Installing the tools of a release ..."
	@$(PIP) $(INSTALL_LIST) requirements/release.txt
	@touch $@

# It needs an older typer than Clarion, so it has an environment of its own.
$(GENERATOR)/installed: requirements/generator.txt | $(BIN)/pip
	@echo "Installing the generator of clients ..."
	@$(BIN)/python -m venv --without-pip $(GENERATOR)
	@$(PIP) --python $(GENERATOR)/bin/python $(INSTALL_LIST) requirements/generator.txt
	@touch $@

# The oldest published client that is supported, beside the newest one in .venv; it works with the dependencies of that one.
$(OLDEST_CLIENT)/installed: requirements/oldest-client.txt $(VENV)/installed-dev
	@echo "Installing the oldest supported client ..."
	@$(PIP) $(INSTALL_LIST) requirements/oldest-client.txt --upgrade --target $(OLDEST_CLIENT) 2>/dev/null
	@touch $@

# Installed at the same time as Clarion, so it has an environment of its own.
$(NODE_VENV)/installed: requirements/web.txt | $(BIN)/pip
	@$(BIN)/python -m venv --without-pip $(NODE_VENV)
	@if [ -z "$(NODE)" ]; then echo "Installing Node.js into $(NODE_VENV) ..." && \
		$(PIP) --python $(NODE_VENV)/bin/python $(INSTALL_LIST) requirements/web.txt; fi
	@touch $@

# The packages that a build needs; the tools of web-check come with the next one.
web/node_modules/.installed: web/package.json web/package-lock.json $(NODE_VENV)/installed
	@$(NODE_RUNNER) npm ci --omit=dev --loglevel=error >/dev/null
	@touch $@

web/node_modules/.installed-dev: web/package.json web/package-lock.json $(NODE_VENV)/installed
	@$(NODE_RUNNER) npm ci --loglevel=error >/dev/null
	@touch web/node_modules/.installed $@

# The published components that the browser tests run.
$(PUBLISHED)/node_modules/.installed: $(PUBLISHED)/package.json $(PUBLISHED)/package-lock.json $(NODE_VENV)/installed
	@$(NODE_RUNNER) npm --prefix ../$(PUBLISHED) ci --silent
	@touch $@

$(PUBLISHED)/dist/headless.js: $(PUBLISHED)/node_modules/.installed $(PUBLISHED)/build.mjs $(PUBLISHED)/page.jsx $(PUBLISHED)/headless.js $(PUBLISHED)/chats.js
	@$(NODE_RUNNER) node ../$(PUBLISHED)/build.mjs

$(INBOX): web/node_modules/.installed web/build.mjs $(WEB_SOURCES)
	@$(NODE_RUNNER) node build.mjs
