# `make test` and `make demo` need nothing but Python 3.10 or newer; both make their own
# virtual environment in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEMO := $(VENV)/demo

NEXT := .venv-datasette1
NEXT_STAMP := $(NEXT)/.installed

.PHONY: install test suite lint docs-check browser site-next demo bench clean

install: $(STAMP)

$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "okf-catalog needs Python 3.10 or newer")'
	@echo "installing into $(VENV), which takes one to three minutes the first time"
	$(PYTHON) -m venv $(VENV) || { echo "python3-venv is missing (on Debian: apt install python3-venv)"; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $(STAMP)

test: lint browser
	$(MAKE) -j2 install $(NEXT_STAMP)
	$(MAKE) suite site-next

suite: install
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

# The tests of the site need Chromium; without it and without the rights to install it they are skipped.
browser:
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing Chromium for the tests of the site" && apt-get update -q >/dev/null && \
	  apt-get install -qy chromium chromium-driver >/dev/null; \
	else echo "no Chromium: the tests of the site in a browser are skipped (Debian: apt install chromium chromium-driver)"; fi

# The same pages under the newest Datasette that is not released yet.
site-next: $(NEXT_STAMP)
	$(NEXT)/bin/python -m pytest -n auto --dist loadfile --no-loadscope-reorder tests/test_site.py tests/test_site_facets.py

$(NEXT_STAMP): pyproject.toml
	$(PYTHON) -m venv $(NEXT)
	$(NEXT)/bin/python -m pip install --quiet --disable-pip-version-check --editable . 'datasette>=1.0a41' pytest pytest-xdist hypothesis
	touch $(NEXT_STAMP)

lint: install
	$(BIN)/ruff check .
	$(BIN)/mypy

# Pages that are made from the code; `python docs/commands.py` writes this one anew.
docs-check: install
	$(BIN)/python docs/commands.py --check

demo: install
	@sh examples/demo.sh $(BIN)/okf-catalog $(DEMO)

bench: install
	$(BIN)/python benchmarks/run.py

clean:
	rm -rf $(VENV) $(NEXT) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
