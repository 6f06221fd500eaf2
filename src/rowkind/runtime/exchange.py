"""The exchange before a state operator: every row to the state partition of its key, and a tick row to each of them.

The number of a state partition must come with the rows. Spark's own number of a task will not do: in a union of two
operators it counts through both. And without an explicit exchange by key, as in a groupBy on a one-partition input,
keys would land in the wrong partition and results be silently wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession

from rowkind.catalog.types import quote
from rowkind.runtime.steps import ADDRESS, TICK


def addresses(spark: SparkSession, partitions: int) -> tuple[int, ...]:
    """For each partition a number that Spark's hash partitioning sends there."""
    found: dict[int, int] = {}
    tried = 0
    while len(found) < partitions:
        rows = spark.range(tried, tried + 64 * partitions).selectExpr(
            "CAST(id AS INT) AS n", f"pmod(hash(CAST(id AS INT)), {partitions}) AS p"
        )
        for row in rows.collect():
            found.setdefault(row.p, row.n)
        tried += 64 * partitions
    return tuple(found[p] for p in range(partitions))


def exchanged(rows: DataFrame, key: Sequence[str], to: tuple[int, ...]) -> DataFrame:
    """The rows by the hash of their key, in as many tasks as there are addresses, none of them without a row."""
    spark, count = rows.sparkSession, len(to)
    table = f"array({', '.join(map(str, to))})"
    place = f"pmod(hash({', '.join(map(quote, key))}), {count})" if key else "0"
    parted = rows.selectExpr("*", f"{table}[{place}] AS {ADDRESS}", f"false AS {TICK}")
    nothing = [f"CAST(NULL AS {f.dataType.simpleString()}) AS {quote(f.name)}" for f in rows.schema.fields]
    numbers = spark.range(0, count, 1, 1)
    ticks = numbers.selectExpr(*nothing, f"{table}[CAST(id AS INT)] AS {ADDRESS}", f"true AS {TICK}")
    return parted.union(ticks).repartition(count, ADDRESS)
