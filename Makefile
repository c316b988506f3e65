PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
NODE := .venv-node/node_modules/.bin
SAMPLES ?= samples
PORT ?= 8000

.PHONY: setup test-crewai test-n8n test-openclaw serve test lint types imports docs bench pins clean

setup: $(READY)

$(READY): requirements.txt pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python -r requirements.txt \
	  || $(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	touch $@

serve: setup
	$(BIN)/aion-adk serve $(SAMPLES) --port $(PORT)

test: setup
	$(BIN)/python -m pytest -n 2 --dist loadfile --cov --cov-report=term:skip-covered -q

# crewai is large and pins other packages down: it has an environment of its own.
.venv-crewai/.ready: pyproject.toml | setup
	test -x .venv-crewai/bin/python || $(BIN)/uv venv --quiet --python $(BIN)/python .venv-crewai
	$(BIN)/uv pip install --quiet --python .venv-crewai/bin/python --editable '.[crewai]' \
	  pytest pytest-asyncio pytest-timeout
	touch $@

test-crewai: .venv-crewai/.ready
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
	  $(BIN)/python -m pytest -q tests/drivers/test_real_$*.py

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

pins: setup
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --extra all --group dev \
	  --no-emit-index-url --no-annotate --no-header --output-file requirements.txt pyproject.toml

clean:
	rm -rf .venv* site .pytest_cache .ruff_cache .import_linter_cache .hypothesis .coverage*
