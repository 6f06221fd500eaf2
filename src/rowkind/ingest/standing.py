"""How far an ingestion job is, in lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

TABLES = 5
"""That are shown with their rows: the largest of them."""


def standing_lines(names: str, standing: Mapping[str, Any], counts: Mapping[str, int]) -> Iterator[str]:
    """The lines below that of the job; `counts` are those of its progress."""
    if names:
        yield f"  {names}"
    if standing:
        if standing["copying"]:
            yield f"  {_copying(standing)}"
        else:
            yield f"  all {standing['tables']:,} tables are copied"
        yield f"  binlog: {standing['log']}, {standing['seconds-behind']:,.1f} s behind"
    yield from (f"  {line}" for line in _tables(counts))


def _copying(standing: Mapping[str, Any]) -> str:
    done = f"copied {standing['copied']:,} of {standing['tables']:,} tables"
    now = f"{standing['copying']}: {standing['chunks']:,} of about {standing['chunks-about']:,} chunks"
    speed = f"{standing['rows-per-second']:,.0f} rows/s" if standing["rows-per-second"] else ""
    left = "" if standing["seconds-left"] is None else f"about {duration(standing['seconds-left'])} left"
    return ", ".join(part for part in (done, now, speed, left) if part)


def _tables(counts: Mapping[str, int]) -> Iterator[str]:
    read = {name.removesuffix(".rows-read"): count for name, count in counts.items() if name.endswith(".rows-read")}
    shown = sorted((table for table in read if read[table]), key=lambda table: -read[table])
    for table in shown[:TABLES]:
        yield f"{table}: {read[table]:,} rows in, {counts.get(f'{table}.rows-written', 0):,} out"
    if len(shown) > TABLES:
        yield f"and {len(shown) - TABLES:,} more tables"


def duration(seconds: float) -> str:
    """
    >>> duration(42.4), duration(200), duration(9000)
    ('42 s', '3 min', '2.5 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
