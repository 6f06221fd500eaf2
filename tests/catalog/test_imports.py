"""The catalog does without Spark."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import importlib, pkgutil, sys
sys.modules["pyspark"] = None
import rowkind.catalog
for module in pkgutil.walk_packages(rowkind.catalog.__path__, "rowkind.catalog."):
    importlib.import_module(module.name)
assert "confluent_kafka" not in sys.modules
"""


def test_catalog_imports_without_spark_and_without_a_kafka_client() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)
