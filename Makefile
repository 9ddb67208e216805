# `make test` and `make demo` need nothing but Python 3.10 or newer; both make their own
# virtual environment in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEMO := $(VENV)/demo

.PHONY: install test lint demo bench clean

install: $(STAMP)

$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "okf-catalog needs Python 3.10 or newer")'
	@echo "installing into $(VENV), which takes a minute the first time"
	$(PYTHON) -m venv $(VENV) || { echo "python3-venv is missing (on Debian: apt install python3-venv)"; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $(STAMP)

test: lint
	$(BIN)/python -m pytest

lint: install
	$(BIN)/ruff check .
	$(BIN)/mypy

demo: install
	@sh examples/demo.sh $(BIN)/okf-catalog $(DEMO)

bench: install
	$(BIN)/python benchmarks/run.py

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
