"""Java's heap follows the memory that there is."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rowkind.runtime.heap import heap_of, machine_memory, usual_heap

GB = 1024**3


@pytest.mark.parametrize(("text", "wanted"), [("2147483648\n", 2 * GB), ("1073741824", GB)])
def test_a_container_has_less_than_its_machine(tmp_path: Path, text: str, wanted: int) -> None:
    limit = tmp_path / "memory.max"
    limit.write_text(text)
    assert machine_memory([str(limit), str(tmp_path / "missing")]) == wanted


def test_without_a_limit_it_is_the_machine(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.limit_in_bytes").write_text("9223372036854771712\n")
    alone = machine_memory([])
    assert machine_memory(map(str, tmp_path.iterdir())) == alone > 0


def test_a_third_of_a_small_machine_is_heap() -> None:
    assert [usual_heap(memory * GB) for memory in (3, 6, 64)] == [GB, 2 * GB, 2 * GB]


@pytest.mark.spark
def test_a_local_spark_tells_its_heap(spark: SparkSession) -> None:
    assert 0.9 * GB < heap_of(spark) <= GB
