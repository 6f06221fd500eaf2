"""Which INSERT is which when a script is started again, perhaps changed: by its sink, not by its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rowkind.connectors.contract import Table
from rowkind.plan import nodes as n


def insert_names(sinks: Iterable[n.Sink]) -> dict[n.Sink, str]:
    """The sink, and the number among the INSERTs into it: other INSERTs may come, go and change places."""
    seen: Counter[str] = Counter()
    names = {}
    for sink in sinks:
        target = _target(sink.table)
        seen[target] += 1
        names[sink] = f"{target}.{seen[target]}"
    return names


def _target(table: Table) -> str:
    """A table under its name and its place, such as a topic; the same is not said twice."""
    return table.name if table.place in ("", table.name) else f"{table.name}@{table.place}"
