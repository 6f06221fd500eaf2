"""Messages into rows: keys, values, metadata, deletes, and messages that are bad."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

from rowkind.connectors.kafka.messages import MessageDecoder, shown
from rowkind.connectors.kafka.table import KafkaTable
from rowkind.errors import RowkindError
from rowkind.kinds import RowKind
from tests.runtime.tables import APPEND, KEYED, UPSERT, table

I, D = RowKind.INSERT, RowKind.DELETE  # noqa: E741
Payload = str | bytes | None


def raw(decoder: MessageDecoder, *messages: tuple[Payload, Payload], **metadata: list[Any]) -> pa.RecordBatch:
    """Messages as the reader hands them on; offsets start at 100."""
    keys, values = ([p.encode() if isinstance(p, str) else p for p in half] for half in zip(*messages, strict=True))
    columns: dict[str, Any] = {"key": keys, "value": values, "offset": range(100, 100 + len(keys)), **metadata}
    schema = decoder.fields.schema
    return pa.RecordBatch.from_arrays([pa.array(columns[f.name], f.type) for f in schema], schema=schema)


def decoded(kafka: KafkaTable, *messages: tuple[Payload, Payload], **metadata: list[Any]) -> list[tuple[Any, ...]]:
    decoder = MessageDecoder(kafka)
    rows = decoder.decode(raw(decoder, *messages, **metadata), "t", 3)
    assert rows.schema == kafka.row_schema
    return [tuple(row.values()) for row in rows.to_pylist()]


def counted(kafka: KafkaTable, *messages: tuple[Payload, Payload]) -> dict[str, int]:
    decoder = MessageDecoder(kafka)
    decoder.decode(raw(decoder, *messages), "t", 3)
    return dict(+decoder.counts)


EVENTS = table("id INT, name STRING", APPEND)
STATE = table("id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED", UPSERT)


def test_a_table_without_key_reads_values_only() -> None:
    assert MessageDecoder(EVENTS).fields.key is False
    assert decoded(EVENTS, (None, '{"id":1,"name":"a"}'), ("k", '{"id":2}')) == [(1, "a", I), (2, None, I)]


def test_null_and_empty_values_of_an_append_table_give_no_row_and_are_counted() -> None:
    messages = [(None, None), (None, ""), (None, '{"id":3}')]
    assert decoded(EVENTS, *messages) == [(3, None, I)]
    assert counted(EVENTS, *messages) == {"rows-read": 3, "messages-without-row": 2}


def test_a_null_value_of_an_upsert_table_is_a_delete_that_has_the_key_only() -> None:
    messages = [('{"id":1}', '{"id":1,"name":"a"}'), ('{"id":2}', None), ('{"id":1}', None)]
    assert decoded(STATE, *messages) == [(1, "a", I), (2, None, D), (1, None, D)]
    assert counted(STATE, *messages) == {"rows-read": 3, "tombstones-read": 2}


def test_deletes_alone_and_no_messages_at_all() -> None:
    assert decoded(STATE, ('{"id":2}', None)) == [(2, None, D)]
    decoder = MessageDecoder(STATE)
    empty = decoder.fields.schema.empty_table().combine_chunks().to_batches()
    assert decoder.decode(empty[0] if empty else raw(decoder, ("{}", "{}")).slice(0, 0), "t", 0).num_rows == 0


def test_an_empty_value_of_an_upsert_table_is_not_a_delete() -> None:
    assert decoded(STATE, ('{"id":1}', "")) == []
    assert counted(STATE, ('{"id":1}', "")) == {"rows-read": 1, "messages-without-row": 1}


def test_a_null_key_leaves_the_message_out_and_is_counted_even_for_a_delete() -> None:
    messages = [(None, '{"id":1}'), (None, None), ('{"id":2}', '{"id":2}')]
    assert decoded(STATE, *messages) == [(2, None, I)]
    assert counted(STATE, *messages) == {"rows-read": 3, "tombstones-read": 1, "messages-without-key": 2}


def test_rows_of_a_value_are_crossed_with_rows_of_its_key() -> None:
    kafka = table("k INT, v STRING", KEYED, key_fields="k", value_format="json", value_fields__include="EXCEPT_KEY")
    rows = decoded(
        kafka,
        ('[{"k":1},{"k":2}]', '[{"v":"a"},{"v":"b"}]'),
        ("[]", '{"v":"lost"}'),
        ('{"k":3}', '[{"v":"c"},{"v":"d"}]'),
        ('[{"k":4},{"k":5}]', "[]"),
        ('[{"k":6},{"k":7}]', '{"v":"e"}'),
    )
    assert [row[:2] for row in rows] == [
        (1, "a"), (2, "a"), (1, "b"), (2, "b"), (3, "c"), (3, "d"), (6, "e"), (7, "e"),
    ]  # fmt: skip


def test_a_delete_by_several_keys() -> None:
    assert decoded(STATE, ('[{"id":1},{"id":2}]', None)) == [(1, None, D), (2, None, D)]


def test_the_values_copy_of_a_key_column_wins_unless_it_is_missing() -> None:
    rows = decoded(STATE, ('{"id":1}', '{"id":9,"name":"a"}'), ('{"id":2}', '{"name":"b"}'))
    assert rows == [(9, "a", I), (2, "b", I)]


def test_a_nested_key_column_is_kept_too() -> None:
    kafka = table(
        "k ROW<a INT>, v INT", KEYED, key_fields="k", value_format="json", value_fields__include="ALL"
    )  # fmt: skip
    rows = decoded(kafka, ('{"k":{"a":1}}', '{"v":1}'), ('{"k":{"a":2}}', '{"k":{"a":3},"v":2}'))
    assert rows == [({"a": 1}, 1, I), ({"a": 3}, 2, I)]


def test_the_prefix_is_not_part_of_the_key() -> None:
    kafka = table(
        "k_id INT, k_no INT, id INT, PRIMARY KEY (k_no, k_id) NOT ENFORCED",
        {**UPSERT, "key.fields-prefix": "k_", "value.fields-include": "EXCEPT_KEY"},
    )
    assert decoded(kafka, ('{"no":2,"id":1}', '{"id":7}'), ('{"no":3,"id":4}', None)) == [(1, 2, 7, I), (4, 3, None, D)]


def test_a_table_of_key_columns_alone() -> None:
    kafka = table("id INT, PRIMARY KEY (id) NOT ENFORCED", {**UPSERT, "value.fields-include": "EXCEPT_KEY"})
    rows = decoded(kafka, ('{"id":1}', "{}"), ('{"id":2}', None), ('{"id":3}', '{"x":1}'))
    assert rows == [(1, I), (2, D), (3, I)]


def test_metadata_goes_with_every_row_of_a_message_deletes_too() -> None:
    kafka = table(
        "id INT, name STRING, p INT METADATA FROM 'partition', `offset` BIGINT METADATA VIRTUAL, "
        "`timestamp` TIMESTAMP_LTZ(3) METADATA, h MAP<STRING, BYTES> METADATA FROM 'headers', "
        "PRIMARY KEY (id) NOT ENFORCED",
        UPSERT,
    )
    at = [datetime(2024, 1, day, tzinfo=UTC) for day in (1, 2)]
    rows = decoded(
        kafka,
        ('[{"id":1},{"id":2}]', '{"name":"a"}'),
        ('{"id":1}', None),
        partition=[3, 3],
        timestamp=at,
        headers=[[("x", b"1")], []],
    )
    assert rows == [
        (1, "a", 3, 100, at[0], [("x", b"1")], I),
        (2, "a", 3, 100, at[0], [("x", b"1")], I),
        (1, None, 3, 101, at[1], [], D),
    ]


@pytest.mark.parametrize(
    ("kafka", "message", "role", "payload"),
    [
        (EVENTS, (None, '{"id": "x"'), "value", '{"id": "x"'),
        (STATE, ('{"id": oops}', '{"id": 1}'), "key", '{"id": oops}'),
        (STATE, ('{"id": 1}', "\x00bad"), "value", r"b'\x00bad'"),
        (STATE, ("nonsense", None), "key", "nonsense"),
    ],
)
def test_a_bad_message_is_named_by_its_place_and_shown(
    kafka: KafkaTable, message: tuple[Payload, Payload], role: str, payload: str
) -> None:
    with pytest.raises(RowkindError) as failed:
        decoded(kafka, ('{"id":1}', None), ('{"id":1}', '{"id":1}'), message)
    assert failed.value.condition == "UNDECODABLE_MESSAGE"
    params = failed.value.params
    assert (params["topic"], params["partition"], params["offset"]) == ("t", 3, 102)
    assert (params["role"], params["payload"]) == (role, payload)


def test_ignored_parse_errors_are_counted() -> None:
    kafka = table("id INT, name STRING", APPEND, json_ignore__parse__errors="true")
    messages = [(None, "{"), (None, '{"id":"x","name":"b"}'), (None, '{"id":1}')]
    assert decoded(kafka, *messages) == [(None, "b", I), (1, None, I)]
    assert counted(kafka, *messages)["parse-errors-ignored"] == 2


def test_payloads_are_shown_as_text_where_they_are_text() -> None:
    assert shown(b"caf\xc3\xa9") == "café"
    assert shown(None) == "null"
    assert shown(b"\xff\xfe") == r"\xff\xfe"
    assert shown(b"a" * 500) == "a" * 400 + "… (500 bytes)"
