"""Which INSERT is which when a script is started again, perhaps changed: by its table, not by its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rowkind.plan import nodes as n


def insert_names(sinks: Iterable[n.Sink]) -> dict[n.Sink, str]:
    """The table, and the number among the INSERTs into it: other INSERTs may come, go and change places."""
    seen: Counter[str] = Counter()
    names = {}
    for sink in sinks:
        seen[sink.table.name] += 1
        names[sink] = f"{sink.table.name}.{seen[sink.table.name]}"
    return names
