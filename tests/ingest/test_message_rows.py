"""Rows of a table as the messages of its topic: keys, values, tombstones, headers (Y6 to Y9, Y12, Y20, Y35)."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import Any

import pyarrow as pa

from rowkind.connectors.mysql.staged import EVENT_TIME, SEQUENCE
from rowkind.ingest.message_rows import messages
from rowkind.ingest.planned import planned_tables
from rowkind.ingest.table_output import table_output
from rowkind.ingest.topic_schemas import first_topics
from rowkind.kinds import KIND_COLUMN, RowKind
from rowkind.runtime.driver.ingest.tables import JobTables
from rowkind.types import arrow_schema
from tests.ingest.jobs import job, table

ORDERS = table("shop.orders", "item STRING, id INT NOT NULL, part INT NOT NULL, price DECIMAL(8, 2)", "part", "id")
INSERT, OLD, NEW, DELETE = RowKind.INSERT, RowKind.UPDATE_BEFORE, RowKind.UPDATE_AFTER, RowKind.DELETE
Change = tuple[RowKind, int, str | None, int, int, str | None]
"""Kind, number of the change, and the row."""


def written(*changes: Change, **sections: Any) -> list[tuple[str, str | None]]:
    """Keys and values, in order."""
    return [(key.decode(), value and value.decode()) for key, value, _ in _messages(*changes, **sections)]


def _messages(*changes: Change, **sections: Any) -> list[tuple[bytes, bytes | None, Any]]:
    made = JobTables(job(**sections), lambda transform: (), None)
    (planned,) = planned_tables(made.job, [ORDERS]).tables
    output = table_output(planned, made.bind)
    (target,) = made.targets(output, first_topics([output]))
    values = [(item, id, part, price and Decimal(price)) for _, _, item, id, part, price in changes]
    columns = [
        pa.array(c, f.type) for c, f in zip(zip(*values, strict=True), arrow_schema(ORDERS.columns), strict=True)
    ]
    marks = [[0] * len(changes), [number for _, number, *_ in changes]]
    kinds = pa.array([int(kind) for kind, *_ in changes], pa.int8())
    names = [*(c.name for c in ORDERS.columns), EVENT_TIME, SEQUENCE, KIND_COLUMN]
    rows = pa.RecordBatch.from_arrays([*columns, *(pa.array(m, pa.int64()) for m in marks), kinds], names=names)
    found = messages(rows, target, Counter())
    headers = found.column("header-list").to_pylist() if "header-list" in found.schema.names else [()] * found.num_rows
    return list(zip(found.column("key").to_pylist(), found.column("value").to_pylist(), headers, strict=True))


def test_key_in_the_order_of_the_constraint_and_value_of_all_columns() -> None:
    """Nulls are written, also where the column has a default; a decimal keeps its scale."""
    assert written((INSERT, 0, "bolt", 1, 2, "4.00"), (INSERT, 1, None, 3, 2, None)) == [
        ('{"part":2,"id":1}', '{"item":"bolt","id":1,"part":2,"price":4.00}'),
        ('{"part":2,"id":3}', '{"item":null,"id":3,"part":2,"price":null}'),
    ]


def test_an_update_is_one_value_unless_its_key_changes() -> None:
    changes: list[Change] = [
        (OLD, 0, "a", 1, 1, None),
        (NEW, 0, "b", 1, 1, None),
        (OLD, 1, "b", 1, 1, None),
        (NEW, 1, "b", 1, 2, None),
    ]
    assert written(*changes) == [
        ('{"part":1,"id":1}', '{"item":"b","id":1,"part":1,"price":null}'),
        ('{"part":1,"id":1}', None),
        ('{"part":2,"id":1}', '{"item":"b","id":1,"part":2,"price":null}'),
    ]


def test_a_delete_is_a_tombstone() -> None:
    assert written((DELETE, 0, "a", 1, 1, None)) == [('{"part":1,"id":1}', None)]


def test_soft_delete_keeps_the_row() -> None:
    soft = {"transform": [{"source-table": "shop.orders", "converter-after-transform": "SOFT_DELETE"}]}
    assert written((DELETE, 0, "a", 1, 1, None), **soft) == [
        ('{"part":1,"id":1}', '{"item":"a","id":1,"part":1,"price":null}')
    ]


def test_an_update_that_leaves_its_filter_is_a_tombstone() -> None:
    """Y17: of the two rows only the old one came through; one that only came through as new is a value."""
    assert written((OLD, 0, "a", 1, 1, None), (NEW, 1, "b", 2, 1, None)) == [
        ('{"part":1,"id":1}', None),
        ('{"part":1,"id":2}', '{"item":"b","id":2,"part":1,"price":null}'),
    ]


def test_headers_on_tombstones_too() -> None:
    named = {"sink": {"sink.add-tableId-to-header-enabled": "true"}}
    found = _messages((INSERT, 0, "a", 1, 1, None), (DELETE, 1, "a", 1, 1, None), **named)
    wanted = [{"key": "namespace", "value": b""}, {"key": "schemaName", "value": b"shop"}]
    assert [headers for _, _, headers in found] == [[*wanted, {"key": "tableName", "value": b"orders"}]] * 2


def test_a_projection_decides_columns_and_names() -> None:
    rule = {"source-table": "shop.orders", "projection": "part, id, item AS thing"}
    assert written((INSERT, 0, "a", 1, 2, "1"), transform=[rule]) == [
        ('{"part":2,"id":1}', '{"part":2,"id":1,"thing":"a"}')
    ]
