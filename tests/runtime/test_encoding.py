"""Rows into messages: keys, values, tombstones, NOT NULL, and the topics a row may name."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pytest

from rowkind.connectors.kafka.encoding import MessageEncoder
from rowkind.connectors.kafka.table import KafkaTable
from rowkind.connectors.settings import Side
from rowkind.errors import RowkindError
from rowkind.kinds import KIND_COLUMN, RowKind
from rowkind.options.constraints import USUAL, Constraints
from rowkind.options.session_options import LengthEnforcer, NestedEnforcer, NotNullEnforcer
from rowkind.runtime.worker.enforcing import Enforcer
from rowkind.types import arrow_type
from tests.runtime.tables import APPEND, KEYED, UPSERT, table

I, UB, U, D = RowKind  # noqa: E741

STATE = table("id INT, name STRING NOT NULL, n INT, PRIMARY KEY (id) NOT ENFORCED", UPSERT, Side.SINK)


def batch(kafka: KafkaTable, *rows: tuple[Any, ...]) -> pa.RecordBatch:
    """Rows as a sink gets them: physical columns, written metadata, kind."""
    fields = [pa.field(c.name, arrow_type(c.type)) for c in kafka.physical]
    fields += [pa.field(m.name, arrow_type(m.message_type)) for m in kafka.metadata]
    schema = pa.schema([*fields, pa.field(KIND_COLUMN, pa.int8())])
    columns = [pa.array(list(column), f.type) for column, f in zip(zip(*rows, strict=True), schema, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def encoded(kafka: KafkaTable, *rows: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    messages = MessageEncoder(kafka).encode(batch(kafka, *rows))
    return [tuple(message.values()) for message in messages.to_pylist()]


def enforced(kafka: KafkaTable, rows: pa.RecordBatch, constraints: Constraints = USUAL) -> pa.RecordBatch:
    return Enforcer(kafka, constraints).enforced(rows, Counter())


def test_rows_that_stay_are_values_and_rows_that_go_are_tombstones() -> None:
    assert encoded(STATE, (1, "a", 5, I), (1, "b", 5, U), (1, "b", 5, D), (2, None, None, UB)) == [
        (b'{"id":1}', b'{"id":1,"name":"a","n":5}'),
        (b'{"id":1}', b'{"id":1,"name":"b","n":5}'),
        (b'{"id":1}', None),
        (b'{"id":2}', None),
    ]


def test_tombstones_alone() -> None:
    encoder = MessageEncoder(STATE)
    assert encoder.encode(batch(STATE, (1, None, None, D))).to_pylist() == [{"key": b'{"id":1}', "value": None}]
    assert encoder.counts == {"rows-written": 1, "tombstones-written": 1}


def test_without_key_format_there_is_no_key() -> None:
    kafka = table("id INT", APPEND, Side.SINK)
    assert MessageEncoder(kafka).encode(batch(kafka, (1, I))).to_pylist() == [{"value": b'{"id":1}'}]


def test_keys_follow_key_fields_and_values_follow_the_table() -> None:
    kafka = table("a INT, b INT, c INT", KEYED, Side.SINK, key_fields="c;a", value_format="json")
    assert encoded(kafka, (1, 2, 3, I)) == [(b'{"c":3,"a":1}', b'{"a":1,"b":2,"c":3}')]
    kafka = table(
        "a INT, b INT, c INT",
        KEYED,
        Side.SINK,
        key_fields="c;a",
        value_format="json",
        value_fields__include="EXCEPT_KEY",
    )
    assert encoded(kafka, (1, 2, 3, I)) == [(b'{"c":3,"a":1}', b'{"b":2}')]


def test_the_prefix_is_cut_off() -> None:
    options = {**UPSERT, "key.fields-prefix": "k_", "value.fields-include": "EXCEPT_KEY"}
    kafka = table("k_id INT, k_v INT, PRIMARY KEY (k_id) NOT ENFORCED", options, Side.SINK)
    assert encoded(kafka, (1, 2, I)) == [(b'{"id":1}', b'{"k_v":2}')]


def test_a_table_of_key_columns_alone() -> None:
    kafka = table(
        "id INT, PRIMARY KEY (id) NOT ENFORCED", {**UPSERT, "value.fields-include": "EXCEPT_KEY"}, Side.SINK
    )  # fmt: skip
    assert encoded(kafka, (1, I), (2, D)) == [(b'{"id":1}', b"{}"), (b'{"id":2}', None)]


def test_not_null_names_the_column() -> None:
    with pytest.raises(RowkindError) as failed:
        enforced(STATE, batch(STATE, (1, "a", 1, I), (2, None, 1, U)))
    assert (failed.value.condition, failed.value.params["column"]) == ("NULL_IN_NOT_NULL_COLUMN", "name")


def test_not_null_does_not_hold_for_the_rest_of_a_delete_but_for_its_key() -> None:
    assert enforced(STATE, batch(STATE, (1, None, None, D))).num_rows == 1
    with pytest.raises(RowkindError) as failed:
        enforced(STATE, batch(STATE, (None, None, None, D)))
    assert failed.value.params["column"] == "id"


def test_dropping_nulls_is_counted() -> None:
    counts: Counter[str] = Counter()
    rows = batch(STATE, (1, None, 1, I), (None, "a", 1, I), (None, None, 1, I), (4, "d", None, I), (5, None, None, D))
    kept = Enforcer(STATE, Constraints(NotNullEnforcer.DROP)).enforced(rows, counts)
    assert (kept.column("id").to_pylist(), counts) == ([4, 5], {"null-rows-dropped": 3})


def test_a_row_must_name_a_topic_where_there_is_a_choice() -> None:
    columns = "id INT, `topic` STRING METADATA"
    listed = table(columns, {**APPEND, "topic": "a;b"}, Side.SINK)
    pattern = {key: value for key, value in APPEND.items() if key != "topic"} | {"topic-pattern": "a[0-9]"}
    matched = table(columns, pattern, Side.SINK)
    assert encoded(listed, (1, "b", I)) == [(b'{"id":1}', "b")]
    assert encoded(matched, (1, "a7", I)) == [(b'{"id":1}', "a7")]
    for kafka, topic, condition in (
        (listed, None, "NO_TOPIC_FOR_ROW"),
        (listed, "c", "TOPIC_NOT_ALLOWED"),
        (matched, "a77", "TOPIC_NOT_ALLOWED"),
        (matched, None, "NO_TOPIC_FOR_ROW"),
    ):
        with pytest.raises(RowkindError) as failed:
            encoded(kafka, (1, topic, I))
        assert failed.value.condition == condition


def test_metadata_is_written_on_tombstones_too() -> None:
    kafka = table(
        "id INT, h MAP<STRING, BYTES> METADATA FROM 'headers', v INT METADATA FROM 'partition' VIRTUAL, "
        "PRIMARY KEY (id) NOT ENFORCED",
        UPSERT,
        Side.SINK,
    )
    rows = encoded(kafka, (1, [("a", b"x")], D))
    assert rows == [(b'{"id":1}', None, [("a", b"x")])]


NAMED = "k STRING, c CHAR(3), v VARCHAR(2), b VARBINARY(1), PRIMARY KEY (k) NOT ENFORCED"


@pytest.mark.parametrize(
    ("row", "fits"),
    [
        (("a", "xyz", "äö", b"1", I), True),
        (("a", None, None, None, I), True),
        (("a", "xy", "ä", b"", I), False),
        (("a", "xyz", "äöü", b"", I), False),
        (("a", "xyz", "", b"12", I), False),
        (("a", "toolong", "toolong", b"12", D), True),
    ],
)
def test_lengths_are_checked_when_asked(row: tuple[Any, ...], fits: bool) -> None:
    kafka = table(NAMED, UPSERT, Side.SINK)
    assert enforced(kafka, batch(kafka, row)).num_rows == 1
    asked = Constraints(lengths=LengthEnforcer.ERROR)
    if fits:
        assert enforced(kafka, batch(kafka, row), asked).num_rows == 1
        return
    with pytest.raises(RowkindError, match="LENGTH_OF_COLUMN"):
        enforced(kafka, batch(kafka, row), asked)


@pytest.mark.parametrize(
    ("value", "member"),
    [
        ({"a": 1, "m": [("x", 1)], "l": [1, 2]}, None),
        (None, None),
        ({"a": 1, "m": None, "l": None}, None),
        ({"a": None, "m": [], "l": []}, "r.a"),
        ({"a": 1, "m": [("x", None)], "l": []}, "r.m (value)"),
        ({"a": 1, "m": [], "l": [1, None]}, "r.l[]"),
    ],
)
def test_members_are_checked_when_asked(value: Any, member: str | None) -> None:
    kafka = table("r ROW<a INT NOT NULL, m MAP<STRING, INT NOT NULL>, l ARRAY<INT NOT NULL>>", APPEND, Side.SINK)
    rows = batch(kafka, ({"a": 2, "m": [], "l": []}, I), (value, I))
    assert enforced(kafka, rows).num_rows == 2
    asked = Constraints(nested=NestedEnforcer.ERROR)
    if member is None:
        assert enforced(kafka, rows, asked).num_rows == 2
        return
    with pytest.raises(RowkindError, match="NULL_IN_NOT_NULL_MEMBER") as caught:
        enforced(kafka, rows, asked)
    assert caught.value.params["member"] == member
