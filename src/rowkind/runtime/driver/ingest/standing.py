"""How far an ingestion job is, as metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rowkind.metrics import declarations as d
from rowkind.metrics.declarations import Metric

Gauges = dict[tuple[Metric, tuple[str, ...]], float]


def gauges(standing: Mapping[str, Any]) -> Gauges:
    """By metric and labels."""
    if not standing:
        return {}
    found: Gauges = {
        (d.TABLES_COPIED, ()): standing["copied"],
        (d.TABLES_LEFT, ()): standing["tables"] - standing["copied"],
    }
    for table, (done, left) in standing["by-table"].items():
        found |= {
            (d.SNAPSHOTTING, (table,)): int(left > 0),
            (d.STREAM_READING, (table,)): int(left == 0),
            (d.SPLITS_DONE, (table,)): done,
            (d.SPLITS_LEFT, (table,)): left,
        }
    return found
