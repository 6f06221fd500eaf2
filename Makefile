.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

help:
	@echo "make demo   start a local Kafka, run the first example on local Spark, show the result changing, clean up"
	@echo "make test   install what the tests need and run them"
	@echo "make lint   ruff and mypy"

$(VENV)/.installed: pyproject.toml uv.lock
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "rowkind needs Python 3.11 or newer; $(PYTHON) is " + sys.version.split()[0])'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet uv
	$(BIN)/uv sync --frozen --quiet
	@touch $@

install: $(VENV)/.installed

lint: install
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

test: install lint
	$(BIN)/pytest

demo: install
	$(BIN)/rowkind demo

.PHONY: help install lint test demo
