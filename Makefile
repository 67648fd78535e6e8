# Two commands matter: `make run` starts the app, `make test` runs every test.
# Both build .venv the first time and start at once after that.

PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3.13 || command -v python3)
BIN := .venv/bin

.PHONY: run test check format bench docs fuzz clean

run: .venv/.installed
	$(BIN)/streamlit run app/Home.py

# Two at a time, a file each; files come in their order, so that the long ones of the app start first. Browsers draw brains
# without a graphics card and need all cores: they come alone.
test: .venv/.installed-dev .venv/.browser
	$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder --ignore=tests/browser
	$(BIN)/pytest tests/browser

check: .venv/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: .venv/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/.installed-dev
	$(BIN)/python -m benchmarks

# The documentation, into site/: draws the gallery, and ends at the first broken link. Nothing comes from the network.
docs: .venv/.installed-dev
	$(BIN)/python -m docs.tools.gallery build/gallery
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	$(BIN)/python -m docs.tools.offline site

# Damaged files of every format, about an hour: whatever is not a sentence is a finding, and there are none.
fuzz: .venv/.installed-dev
	$(BIN)/python -m tests.fuzz --cases 100000

clean:
	rm -rf .venv

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || { \
	  echo "BioBGT Explorer needs Python 3.11, 3.12 or 3.13, and '$(PYTHON)' is another. Install one, or say 'make PYTHON=/path/to/python3.11 ...'." >&2; exit 1; }
	$(PYTHON) -m venv .venv

.venv/.installed: requirements.txt pyproject.toml | $(BIN)/python
	$(BIN)/pip install --disable-pip-version-check -q -r requirements.txt
	@touch $@

.venv/.installed-dev: requirements-dev.txt requirements-docs.txt .venv/.installed
	$(BIN)/pip install --disable-pip-version-check -q -r requirements-dev.txt
	@touch $@

# The browser tests drive Debian's Chromium; nothing is downloaded from elsewhere.
.venv/.browser: | .venv/.installed-dev
	@if command -v chromium >/dev/null 2>&1; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
	  apt-get update -q && apt-get install -y -q --no-install-recommends chromium; \
	else \
	  echo "The browser tests need Chromium. Install it with: sudo apt-get install chromium" >&2; exit 1; \
	fi
	@touch $@
