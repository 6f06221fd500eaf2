.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# what Python has compiled is kept: the many short processes of the tests would compile all of it again
unexport PYTHONDONTWRITEBYTECODE

help:
	@echo "make demo     start a local Kafka, run the first example on local Spark, show the result changing, clean up"
	@echo "make demo-ingest  the same with MariaDB: its tables into topics, which change as the tables do"
	@echo "make check    ruff, mypy and the fast tests: no Kafka, no Spark, nothing random; two minutes"
	@echo "make test     install what the tests need, check the code, run all tests; fourteen minutes"
	@echo "make faults   do harm to running jobs, scenario by scenario, and say what was survived"
	@echo "make soak     one job for BATCHES=300 batches under churn and kills: nothing may grow"
	@echo "make fuzz     random changelogs, queries, messages and calls with fresh seeds, for SECONDS=300"
	@echo "make install  create .venv with the rowkind command"
	@echo "make warm     write down Java's classes of Spark and Kafka: they start in half the time from then on"
	@echo "make lint     ruff and mypy"
	@echo "make docs     write the pages of options, functions, errors and metrics again, from their declarations"
	@echo "make bench    measure rowkind beside Flink on the same topics"
	@echo "make bench-ingest  measure ingestion beside Flink CDC on the same MySQL"
	@echo "make flink    install Flink beside rowkind: benchmarks and recorders compare with it"

$(VENV)/.installed: pyproject.toml uv.lock
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "rowkind needs Python 3.11 or newer; $(PYTHON) is " + sys.version.split()[0])'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet uv
	$(BIN)/uv sync --frozen --quiet --compile-bytecode
	@touch $@

$(VENV)/.warm: $(VENV)/.installed
	$(BIN)/rowkind warm-up --broker
	@touch $@

install: $(VENV)/.installed

warm: $(VENV)/.warm

lint: install
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

check: install lint
	$(BIN)/pytest -q -n 2 -m "not spark and not kafka and not database and not fault and not matrix and not random"

test: install
	$(MAKE) --no-print-directory -j 2 lint warm
	$(BIN)/pytest -q -n 2 --dist loadscope -m "not matrix"

faults: install warm
	$(BIN)/pytest -v -m "matrix or fault"

BATCHES ?= 300
soak: install warm
	$(BIN)/python -m tests.faults.soak --batches $(BATCHES)

SECONDS ?= 300
fuzz: install flink
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS)

demo: install
	$(BIN)/rowkind demo

demo-ingest: install
	$(BIN)/rowkind demo-ingest

docs: install
	$(BIN)/python -m rowkind.catalog.document
	$(BIN)/python -m rowkind.ingest.document
	$(BIN)/python -m rowkind.plan.expressions.functions.document
	$(BIN)/python -m rowkind.formats.document
	$(BIN)/python -m rowkind.conditions.document
	$(BIN)/python -m rowkind.metrics.document

bench: install flink
	$(BIN)/python -m benchmarks.compare

tools/flink/.venv/.installed: tools/flink/requirements.txt | install
	$(BIN)/uv venv --quiet --clear --python 3.11 tools/flink/.venv
	$(BIN)/uv pip install --quiet --python tools/flink/.venv/bin/python -r tools/flink/requirements.txt
	$(BIN)/python -m tools.flink.client
	@touch $@

flink: tools/flink/.venv/.installed

tools/flink_cdc/.venv/.installed: tools/flink_cdc/requirements.txt | install
	$(BIN)/uv venv --quiet --clear --python 3.11 tools/flink_cdc/.venv
	$(BIN)/uv pip install --quiet --python tools/flink_cdc/.venv/bin/python -r tools/flink_cdc/requirements.txt
	@touch $@

bench-ingest: install tools/flink_cdc/.venv/.installed
	$(BIN)/python -m benchmarks.ingest

.PHONY: help install warm lint check test faults soak fuzz demo demo-ingest docs bench bench-ingest flink
