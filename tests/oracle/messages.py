"""Changes of the corpus' sources as messages, and the messages of its sinks as rows."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from rowkind.kinds import RowKind
from tests.oracle.sources import Change, Row, comparable

Pair = tuple[bytes | None, bytes | None]
_NO_FRACTION = re.compile(r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\.0+$")


def written(table: str, changes: Iterable[Change]) -> Iterator[Pair]:
    """Keys and values: upserts and tombstones, appended rows, or the events of Debezium."""
    if table == "d":
        yield from ((None, event) for event in _events(changes))
        return
    for kind, row in changes:
        key = None if table == "c" else _json({"id": row["id"]})
        yield key, _json(row) if kind.adds else None


def _events(changes: Iterable[Change]) -> Iterator[bytes]:
    old: Row | None = None
    for kind, row in changes:
        match kind:
            case RowKind.INSERT:
                yield _json({"before": None, "after": row, "op": "c"})
            case RowKind.DELETE:
                yield _json({"before": row, "after": None, "op": "d"})
            case RowKind.UPDATE_BEFORE:
                old = row
            case RowKind.UPDATE_AFTER:
                yield _json({"before": old, "after": row, "op": "u"})


def _json(value: Row) -> bytes:
    return json.dumps(value, default=lambda v: f"{v:%Y-%m-%d %H:%M:%S}" if isinstance(v, datetime) else str(v)).encode()


def upserted(pairs: Iterable[Pair]) -> Counter[tuple[Any, ...]]:
    """The table that upserts and tombstones amount to."""
    rows: dict[bytes | None, tuple[Any, ...]] = {}
    for key, value in pairs:
        if value is None:
            rows.pop(key, None)
        else:
            rows[key] = _row(json.loads(value))
    return Counter(rows.values())


def weighed(pairs: Iterable[Pair]) -> Counter[tuple[Any, ...]]:
    """The rows that Debezium's events leave behind, and how often each is there."""
    rows = Counter[tuple[Any, ...]]()
    for _, value in pairs:
        event = json.loads(value or b"")
        for image, weight in (("before", -1), ("after", 1)):
            if event[image] is not None:
                rows[_row(event[image])] += weight
    return Counter({row: number for row, number in rows.items() if number})


def _row(values: Row) -> tuple[Any, ...]:
    return tuple(_NO_FRACTION.sub(r"\1", v) if isinstance(v, str) else comparable(v) for v in values.values())
