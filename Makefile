PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
SAMPLES ?= samples
PORT ?= 8000

.PHONY: setup serve test lint types imports docs bench pins clean

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
	$(BIN)/python -m benchmarks

pins: setup
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --extra all --group dev \
	  --no-emit-index-url --no-annotate --no-header --output-file requirements.txt pyproject.toml

clean:
	rm -rf .venv* site .pytest_cache .ruff_cache .import_linter_cache .hypothesis .coverage*
