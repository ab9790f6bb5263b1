# Two commands do everything on a machine with Python 3.10 or later: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv

.PHONY: demo test lint clean

demo: $(VENV)/demo-is-installed
	$(VENV)/bin/python samples/01_if_and_while.py
	$(VENV)/bin/python samples/02_mnist.py

test: $(VENV)/tests-are-installed lint
	$(VENV)/bin/python -m pytest

lint: $(VENV)/tests-are-installed
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/demo-is-installed: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/tests-are-installed: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache *.egg-info
