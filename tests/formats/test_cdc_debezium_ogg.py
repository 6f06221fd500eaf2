"""debezium-json and ogg-json: every operation, every odd envelope, metadata, and what is written."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from rowkind import types as t
from rowkind.errors import RowkindError
from rowkind.formats.registry import format_named
from rowkind.formats.temporal import TimestampStandard
from rowkind.kinds import ChangelogMode, RowKind
from rowkind.types import Field
from tests.formats.changes import PRODUCTS, choice, decode, encode, reasons, rows

HAMMER = {"id": 106, "name": "hammer", "description": "16oz", "weight": 1.0}
BIG_HAMMER = {**HAMMER, "description": "18oz"}
OLD, NEW = (106, "hammer", "16oz", 1.0), (106, "hammer", "18oz", 1.0)
TOOLS = ["debezium-json", "ogg-json"]
NAMES = {"debezium-json": ("op", "c", "u", "d"), "ogg-json": ("op_type", "I", "U", "D")}


def event(tool: str, operation: str, before: Any = None, after: Any = None, **more: Any) -> dict[str, Any]:
    """Operations are called insert, update and delete here; any other name is used as it is."""
    field, *letters = NAMES[tool]
    letter = dict(zip(("insert", "update", "delete"), letters, strict=True)).get(operation, operation)
    return {"before": before, "after": after, field: letter, **more}


@pytest.mark.parametrize("tool", TOOLS)
def test_every_operation(tool: str) -> None:
    decoded = decode(
        tool,
        event(tool, "insert", None, HAMMER),
        event(tool, "update", HAMMER, BIG_HAMMER),
        event(tool, "delete", BIG_HAMMER, None),
    )
    assert rows(decoded) == [("+I", OLD), ("-U", OLD), ("+U", NEW), ("-D", NEW)]
    assert decoded.message is not None
    assert decoded.message.to_pylist() == [0, 1, 1, 2]
    assert not decoded.bad


def test_a_snapshot_of_debezium_is_an_insert() -> None:
    assert rows(decode("debezium-json", event("debezium-json", "r", None, HAMMER))) == [("+I", OLD)]


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("batch", [1, 200], ids=["exact", "fast"])
def test_tombstones_and_order_in_small_and_large_batches(tool: str, batch: int) -> None:
    one = [event(tool, "update", HAMMER, BIG_HAMMER), None, b"", event(tool, "delete", BIG_HAMMER)]
    decoded = decode(tool, *(one * batch))
    assert rows(decoded) == [("-U", OLD), ("+U", NEW), ("-D", NEW)] * batch
    assert decoded.message is not None
    assert decoded.message.to_pylist() == [i for n in range(batch) for i in (4 * n, 4 * n, 4 * n + 3)]
    assert (decoded.bad, decoded.ignored) == ((), 0)


@pytest.mark.parametrize("tool", TOOLS)
def test_images_may_be_absent_where_they_are_not_needed(tool: str) -> None:
    insert = event(tool, "insert", None, HAMMER)
    del insert["before"]
    delete = event(tool, "delete", HAMMER)
    del delete["after"]
    assert rows(decode(tool, insert, delete)) == [("+I", OLD), ("-D", OLD)]


CORRUPT = {
    "not json": "{",
    "blank": " ",
    "null": "null",
    "an array": "[]",
    "a number": "5",
    "not text": b"\xff\xfe\xfd",
    "no operation": {"before": None, "after": HAMMER},
    "nothing": {},
}


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("message", CORRUPT.values(), ids=CORRUPT)
@pytest.mark.parametrize("copies", [1, 200], ids=["exact", "fast"])
def test_a_corrupt_message_fails_or_is_dropped(tool: str, message: Any, copies: int) -> None:
    good = event(tool, "insert", None, HAMMER)
    decoded = decode(tool, *[good] * copies, message)
    assert rows(decoded) == [("+I", OLD)] * copies
    assert list(reasons(decoded)) == [copies]
    title = "Debezium" if tool == "debezium-json" else "Ogg"
    assert reasons(decoded)[copies].startswith(f"Corrupt {title} JSON message: ")
    lenient = decode(tool, *[good] * copies, message, ignore_parse_errors=True)
    assert rows(lenient) == [("+I", OLD)] * copies
    assert (lenient.bad, lenient.ignored) == ((), 1)


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(
    ("operation", "before", "after", "words"),
    [
        ("update", None, HAMMER, ("UPDATE", "REPLICA IDENTITY")),
        ("delete", None, None, ("DELETE", "REPLICA IDENTITY")),
        ("insert", HAMMER, None, ('"after"',)),
        ("update", HAMMER, None, ('"after"',)),
        ("t", None, None, ('Unknown "', 'value "t"')),
        ("T", None, None, ('Unknown "', 'value "T"')),
        ("m", None, HAMMER, ('Unknown "', 'value "m"')),
    ],
)
@pytest.mark.parametrize("copies", [0, 200], ids=["exact", "fast"])
def test_an_event_that_makes_no_sense(
    tool: str, operation: str, before: Any, after: Any, words: tuple[str, ...], copies: int
) -> None:
    good = [event(tool, "insert", None, HAMMER)] * copies
    message = event(tool, operation, before, after)
    decoded = decode(tool, *good, message)
    assert decoded.rows.num_rows == copies
    assert all(word in reasons(decoded)[copies] for word in words)
    lenient = decode(tool, *good, message, ignore_parse_errors=True)
    assert (lenient.rows.num_rows, lenient.bad, lenient.ignored) == (copies, (), 1)


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("side", ["before", "after"])
def test_a_bad_field_takes_both_rows_along_or_is_null(tool: str, side: str) -> None:
    images = {"before": HAMMER, "after": HAMMER, side: {**HAMMER, "id": "one"}}
    message = event(tool, "update", images["before"], images["after"])
    decoded = decode(tool, message)
    assert decoded.rows.num_rows == 0
    assert f"field '{side}'" in reasons(decoded)[0]
    assert "field 'id'" in reasons(decoded)[0]
    lenient = decode(tool, message, ignore_parse_errors=True)
    null = (None, *OLD[1:])
    wanted = [("-U", null), ("+U", OLD)] if side == "before" else [("-U", OLD), ("+U", null)]
    assert rows(lenient) == wanted
    assert lenient.ignored == 1


@pytest.mark.parametrize("tool", TOOLS)
def test_an_image_that_is_no_object(tool: str) -> None:
    message = event(tool, "insert", 5, HAMMER)
    assert "'before'" in reasons(decode(tool, message))[0]
    lenient = decode(tool, message, ignore_parse_errors=True)
    assert (rows(lenient), lenient.ignored) == ([("+I", OLD)], 1)


@pytest.mark.parametrize("tool", TOOLS)
def test_missing_extra_and_null_fields_and_decimals_too_large(tool: str) -> None:
    columns = (Field("id", t.INT.not_null()), Field("price", t.decimal(4, 2)), Field("at", t.timestamp(3)))
    images = [{"id": 1}, {"id": 2, "price": "12345.6", "extra": {"x": [1]}}, {"id": None, "price": 1.005}]
    decoded = decode(tool, *(event(tool, "insert", None, image) for image in images), columns=columns)
    assert [(r[0], None if r[1] is None else str(r[1])) for _, r in rows(decoded)] == [
        (1, None), (2, None), (None, "1.01"),
    ]  # fmt: skip


def test_a_key_only_image_of_postgres_is_not_noticed() -> None:
    decoded = decode("debezium-json", event("debezium-json", "delete", {"id": 1}))
    assert rows(decoded) == [("-D", (1, None, None, None))]


@pytest.mark.parametrize("tool", TOOLS)
def test_timestamps_follow_the_standard(tool: str) -> None:
    columns = (Field("at", t.timestamp(3)),)
    iso, sql = {"at": "2020-12-30T12:13:14"}, {"at": "2020-12-30 12:13:14"}
    options = {"timestamp_format__standard": TimestampStandard.ISO_8601}
    assert decode(tool, event(tool, "insert", None, sql), columns=columns).rows.num_rows == 1
    assert reasons(decode(tool, event(tool, "insert", None, iso), columns=columns))
    assert decode(tool, event(tool, "insert", None, iso), columns=columns, **options).rows.num_rows == 1
    instant = datetime(2020, 12, 30, 12, 13, 14)
    (written,) = encode(tool, (RowKind.INSERT, (instant,)), columns=columns, **options)
    assert '"at":"2020-12-30T12:13:14"' in written


# -- schema-include --------------------------------------------------------------------------------------------------


def test_the_schema_around_an_event() -> None:
    wrapped = {"schema": {"type": "struct"}, "payload": event("debezium-json", "update", HAMMER, BIG_HAMMER)}
    decoded = decode("debezium-json", wrapped, schema_include=True)
    assert rows(decoded) == [("-U", OLD), ("+U", NEW)]
    assert "op" in reasons(decode("debezium-json", wrapped))[0]
    for payload in ({"payload": None}, {}, event("debezium-json", "insert", None, HAMMER)):
        assert reasons(decode("debezium-json", payload, schema_include=True))


def test_the_schema_is_not_written() -> None:
    format = format_named("debezium-json")
    format.validate(PRODUCTS, choice("debezium-json", schema_include=True))
    with pytest.raises(RowkindError) as failed:
        format.validate(PRODUCTS, choice("debezium-json", sink=True, schema_include=True))
    assert failed.value.condition == "DEBEZIUM_SCHEMA_NOT_WRITTEN"


# -- metadata --------------------------------------------------------------------------------------------------------

SOURCE = {"version": "2.7", "ts_ms": 1589355606100, "snapshot": "true", "db": "shop", "schema": "public",
          "table": "products", "row": 0, "gtid": None, "nested": {"a": 1.5}}  # fmt: skip
DEBEZIUM_KEYS = tuple(format_named("debezium-json").metadata)


@pytest.mark.parametrize("wrapped", [False, True], ids=["bare", "with schema"])
def test_metadata_of_debezium(wrapped: bool) -> None:
    message = event("debezium-json", "update", HAMMER, BIG_HAMMER, source=SOURCE, ts_ms=1589355606200)
    given = {"schema": {"type": "struct", "fields": [1, 2]}, "payload": message} if wrapped else message
    decoded = decode("debezium-json", given, metadata=DEBEZIUM_KEYS, schema_include=wrapped)
    assert decoded.rows.schema.names[4:] == [f"value.{key}" for key in DEBEZIUM_KEYS]
    for _, row in rows(decoded):
        found = dict(zip(DEBEZIUM_KEYS, row[4:], strict=True))
        assert found["schema"] == ('{"type":"struct","fields":[1,2]}' if wrapped else None)
        assert found["ingestion-timestamp"] == datetime(2020, 5, 13, 7, 40, 6, 200_000, tzinfo=UTC)
        assert found["source.timestamp"] == datetime(2020, 5, 13, 7, 40, 6, 100_000, tzinfo=UTC)
        places = [found[f"source.{name}"] for name in ("database", "schema", "table")]
        assert places == ["shop", "public", "products"]
        assert dict(found["source.properties"]) == {
            "version": "2.7", "ts_ms": "1589355606100", "snapshot": "true", "db": "shop", "schema": "public",
            "table": "products", "row": "0", "gtid": None, "nested": '{"a":1.5}',
        }  # fmt: skip


def test_metadata_in_a_large_batch_and_without_source() -> None:
    flat = {key: value for key, value in SOURCE.items() if key != "nested"}
    messages = [
        event("debezium-json", "insert", None, HAMMER, **({"source": flat, "ts_ms": 1000 + i} if i % 2 else {}))
        for i in range(300)
    ]
    keys = ("source.timestamp", "source.table", "ingestion-timestamp")
    decoded = decode("debezium-json", *messages, metadata=keys)
    assert not decoded.bad
    assert decoded.rows.column("value.source.table").to_pylist() == [None, "products"] * 150
    assert decoded.rows.column("value.ingestion-timestamp").to_pylist()[:2] == [
        None,
        datetime(1970, 1, 1, 0, 0, 1, 1000, UTC),
    ]
    assert decoded.rows.column("value.source.timestamp").null_count == 150


def test_a_collection_is_a_table() -> None:
    message = event("debezium-json", "insert", None, HAMMER, source={"collection": "carts"})
    assert rows(decode("debezium-json", message, metadata=("source.table",)))[0][1][4] == "carts"


@pytest.mark.parametrize("instant", ["soon", "1.5", 1.5, "", 2**63, 10**17])
def test_an_instant_that_is_none(instant: Any) -> None:
    message = event("debezium-json", "insert", None, HAMMER, source={"ts_ms": instant})
    assert rows(decode("debezium-json", message)) == [("+I", OLD)]
    assert "value.source.timestamp" in reasons(decode("debezium-json", message, metadata=("source.timestamp",)))[0]
    lenient = decode("debezium-json", message, metadata=("source.timestamp",), ignore_parse_errors=True)
    assert (lenient.rows.num_rows, lenient.ignored) == (0, 1)


def test_metadata_that_nobody_asks_for_is_not_read() -> None:
    message = event("debezium-json", "insert", None, HAMMER, source=5, ts_ms="x")
    assert rows(decode("debezium-json", message)) == [("+I", OLD)]
    assert reasons(decode("debezium-json", message, metadata=("source.table",)))
    assert reasons(decode("debezium-json", message, metadata=("ingestion-timestamp",)))


def test_metadata_of_ogg() -> None:
    keys = tuple(format_named("ogg-json").metadata)
    more = {"table": "OGG.PRODUCTS", "primary_keys": ["id"], "op_ts": "2020-05-13 15:40:06.000000",
            "current_ts": "2020-05-13T13:39:35.766000"}  # fmt: skip
    decoded = decode("ogg-json", event("ogg-json", "update", HAMMER, HAMMER, **more), metadata=keys)
    found = (
        "OGG.PRODUCTS", ["id"], datetime(2020, 5, 13, 13, 39, 35, 766_000, UTC),
        datetime(2020, 5, 13, 15, 40, 6, tzinfo=UTC),
    )  # fmt: skip
    assert [row[4:] for _, row in rows(decoded)] == [found, found]
    absent = decode("ogg-json", event("ogg-json", "insert", None, HAMMER), metadata=keys)
    assert [row[4:] for _, row in rows(absent)] == [(None,) * 4]


@pytest.mark.parametrize("text", ["yesterday", "2020-05-13", "2020-13-13 00:00:00", "", "tausend Jahre T", "ä" * 20])
def test_a_clock_of_ogg_that_cannot_be_read(text: str) -> None:
    good = event("ogg-json", "insert", None, HAMMER, op_ts="+12020-05-13 15:40:06")
    decoded = decode("ogg-json", good, {**good, "op_ts": text}, metadata=("event-timestamp",))
    assert decoded.rows.num_rows == 1
    assert "value.event-timestamp" in reasons(decoded)[1]


# -- writing ---------------------------------------------------------------------------------------------------------

SCOOTER = (101, "scooter", None, 3.14)
ROW = '{"id":101,"name":"scooter","description":null,"weight":3.14}'
SHORT = '{"id":101,"name":"scooter","weight":3.14}'


@pytest.mark.parametrize("tool", TOOLS)
def test_every_kind_is_written(tool: str) -> None:
    field, insert, _, delete = NAMES[tool]
    came = f'{{"before":null,"after":{ROW},"{field}":"{insert}"}}'
    went = f'{{"before":{ROW},"after":null,"{field}":"{delete}"}}'
    assert encode(tool, *((kind, SCOOTER) for kind in RowKind)) == [came, went, came, went]
    came = f'{{"after":{SHORT},"{field}":"{insert}"}}'
    went = f'{{"before":{SHORT},"{field}":"{delete}"}}'
    assert encode(tool, *((kind, SCOOTER) for kind in RowKind), encode__ignore_null_fields=True) == [
        came, went, came, went,
    ]  # fmt: skip


@pytest.mark.parametrize("tool", TOOLS)
def test_what_is_written_can_be_read(tool: str) -> None:
    written = encode(tool, *((kind, OLD) for kind in RowKind))
    assert rows(decode(tool, *written)) == [("+I", OLD), ("-D", OLD), ("+I", OLD), ("-D", OLD)]


@pytest.mark.parametrize("tool", ["debezium-json", "ogg-json", "canal-json", "maxwell-json"])
def test_options_of_json_reach_the_rows(tool: str) -> None:
    columns = (Field("d", t.decimal(20, 10)), Field("m", t.map_of(t.STRING, t.INT)))
    format = format_named(tool)
    assert format.changelog is ChangelogMode.RETRACT
    with pytest.raises(RowkindError) as failed:
        format.validate(columns, choice(tool, sink=True, map_null_key__mode="maybe"))
    assert failed.value.condition == "JSON_MAP_NULL_KEY_MODE"
    with pytest.raises(RowkindError) as failed:
        format.validate((Field("m", t.map_of(t.INT, t.INT)),), choice(tool))
    assert failed.value.condition == "JSON_MAP_KEY_NOT_TEXT"
    from decimal import Decimal

    (written,) = encode(tool, (RowKind.INSERT, (Decimal("1.5"), None)), columns=columns)
    assert '"d":1.5' in written
    (written,) = encode(
        tool, (RowKind.INSERT, (Decimal("1.5"), None)), columns=columns, encode__decimal_as_plain_number=True
    )
    assert '"d":1.5000000000' in written
    json.loads(written)
