"""The batch's clock and seed inside translated expressions.

What Flink computes anew for every record (the time, random numbers) is fixed here per batch, so that a replayed batch
computes the same bytes. The text holds markers; `bind_clock` puts the numbers in when the batch runs.
"""

from __future__ import annotations

CLOCK = "0L /*rowkind:clock*/"
SEED = "0L /*rowkind:seed*/"


def bind_clock(sql: str, clock_micros: int, seed: int) -> str:
    """The expression with the batch's clock (epoch microseconds) and random seed in it.

    >>> bind_clock("timestamp_micros(0L /*rowkind:clock*/)", 5, 7)
    'timestamp_micros(5L)'
    """
    return sql.replace(CLOCK, f"{clock_micros}L").replace(SEED, f"{seed}L")


def depends_on_clock(sql: str) -> bool:
    """Whether the expression's value differs from batch to batch."""
    return CLOCK in sql or SEED in sql
