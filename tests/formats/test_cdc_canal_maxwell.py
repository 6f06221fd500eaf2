"""canal-json and maxwell-json: every type, images that list changed columns only, filters, metadata, writing."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from rowkind.errors import RowkindError
from rowkind.formats.registry import format_named
from rowkind.kinds import RowKind
from tests.formats.changes import PRODUCTS, choice, decode, encode, reasons, rows

HAMMER = {"id": 106, "name": "hammer", "description": "18oz", "weight": 1.0}
AS_TEXT = {"id": "106", "name": "hammer", "description": "18oz", "weight": "1.0"}
NOW = (106, "hammer", "18oz", 1.0)
TOOLS = ["canal-json", "maxwell-json"]


def event(tool: str, type: str, data: Any = None, old: Any = None, **more: Any) -> dict[str, Any]:
    """One row; Canal has it in a list."""
    canal = tool == "canal-json"
    found = {"data": [data] if canal and data is not None else data, "type": type.upper() if canal else type, **more}
    return found if old is None else {**found, "old": [old] if canal else old}


@pytest.mark.parametrize("tool", TOOLS)
def test_every_type(tool: str) -> None:
    decoded = decode(
        tool,
        event(tool, "insert", HAMMER),
        event(tool, "update", AS_TEXT, {"description": "16oz"}),
        event(tool, "delete", HAMMER),
    )
    was = (106, "hammer", "16oz", 1.0)
    assert rows(decoded) == [("+I", NOW), ("-U", was), ("+U", NOW), ("-D", NOW)]
    assert not decoded.bad


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("copies", [1, 200], ids=["exact", "fast"])
def test_a_column_absent_from_old_is_copied_and_one_that_is_null_stays_null(tool: str, copies: int) -> None:
    absent = event(tool, "update", HAMMER, {"weight": 2.0})
    null = event(tool, "update", HAMMER, {"description": None})
    unchanged_null = event(tool, "update", {**HAMMER, "name": None}, {"weight": 2.0})
    decoded = decode(tool, *([absent, null, unchanged_null] * copies))
    assert rows(decoded) == [
        ("-U", (106, "hammer", "18oz", 2.0)), ("+U", NOW),
        ("-U", (106, "hammer", None, 1.0)), ("+U", NOW),
        ("-U", (106, None, "18oz", 2.0)), ("+U", (106, None, "18oz", 1.0)),
    ] * copies  # fmt: skip


@pytest.mark.parametrize("tool", TOOLS)
def test_tombstones(tool: str) -> None:
    decoded = decode(tool, None, b"", event(tool, "insert", HAMMER))
    assert rows(decoded) == [("+I", NOW)]
    assert (decoded.bad, decoded.ignored) == ((), 0)


CORRUPT = {
    "not json": "{",
    "blank": " ",
    "null": "null",
    "an array": "[]",
    "not text": b"\xff\xfe\xfd",
    "nothing": {},
    "no type": {"data": None},
}


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("message", CORRUPT.values(), ids=CORRUPT)
@pytest.mark.parametrize("copies", [1, 200], ids=["exact", "fast"])
def test_a_corrupt_message_fails_or_is_dropped(tool: str, message: Any, copies: int) -> None:
    good = event(tool, "insert", HAMMER)
    decoded = decode(tool, *[good] * copies, message)
    assert rows(decoded) == [("+I", NOW)] * copies
    title = "Canal" if tool == "canal-json" else "Maxwell"
    assert reasons(decoded)[copies].startswith(f"Corrupt {title} JSON message: ")
    lenient = decode(tool, *[good] * copies, message, ignore_parse_errors=True)
    assert (lenient.rows.num_rows, lenient.bad, lenient.ignored) == (copies, (), 1)


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(
    ("message", "word"),
    [
        (("insert", None, None), '"data"'),
        (("delete", None, None), '"data"'),
        (("update", None, HAMMER), '"data"'),
        (("update", HAMMER, None), '"old"'),
        (("alter", HAMMER, None), "Unknown"),
        (("bootstrap-start", None, None), "Unknown"),
        (("bootstrap-insert", HAMMER, None), "Unknown"),
    ],
)
@pytest.mark.parametrize("copies", [0, 200], ids=["exact", "fast"])
def test_an_event_that_makes_no_sense(tool: str, message: Any, word: str, copies: int) -> None:
    good = [event(tool, "insert", HAMMER)] * copies
    decoded = decode(tool, *good, event(tool, *message))
    assert decoded.rows.num_rows == copies
    assert word in reasons(decoded)[copies]
    lenient = decode(tool, *good, event(tool, *message), ignore_parse_errors=True)
    assert (lenient.rows.num_rows, lenient.bad, lenient.ignored) == (copies, (), 1)


@pytest.mark.parametrize("tool", TOOLS)
def test_types_mind_their_case(tool: str) -> None:
    wrong = "insert" if tool == "canal-json" else "INSERT"
    message = {**event(tool, "insert", HAMMER), "type": wrong}
    assert f'Unknown "type" value "{wrong}"' in reasons(decode(tool, message))[0]


@pytest.mark.parametrize("tool", TOOLS)
def test_a_bad_field_takes_all_rows_along_or_is_null(tool: str) -> None:
    message = event(tool, "update", HAMMER, {"id": "one"})
    decoded = decode(tool, message)
    assert decoded.rows.num_rows == 0
    assert "field 'old'" in reasons(decoded)[0]
    lenient = decode(tool, message, ignore_parse_errors=True)
    assert rows(lenient) == [("-U", (None, *NOW[1:])), ("+U", NOW)]
    assert lenient.ignored == 1


@pytest.mark.parametrize("tool", TOOLS)
def test_missing_and_extra_fields(tool: str) -> None:
    decoded = decode(tool, event(tool, "insert", {"id": 1, "more": [1.5, {"a": None}]}))
    assert rows(decoded) == [("+I", (1, None, None, None))]


# -- canal -----------------------------------------------------------------------------------------------------------


def test_several_rows_are_taken_one_by_one() -> None:
    """`old` of one row says nothing about another, which is where Flink loses values."""
    data = [{**HAMMER, "id": i} for i in (1, 2, 3)]
    old = [{"name": "saw"}, {"weight": 2.5}, {"name": None}]
    decoded = decode("canal-json", {"data": data, "old": old, "type": "UPDATE"})
    assert rows(decoded) == [
        ("-U", (1, "saw", "18oz", 1.0)), ("+U", (1, *NOW[1:])),
        ("-U", (2, "hammer", "18oz", 2.5)), ("+U", (2, *NOW[1:])),
        ("-U", (3, None, "18oz", 1.0)), ("+U", (3, *NOW[1:])),
    ]  # fmt: skip


@pytest.mark.parametrize("copies", [1, 200], ids=["exact", "fast"])
def test_lists_of_rows_in_a_batch(copies: int) -> None:
    two = [{**HAMMER, "id": i} for i in (1, 2)]
    messages = [
        {"data": two, "type": "INSERT"},
        {"data": [], "type": "INSERT"},
        {"data": two, "old": [{"id": 7}, {"name": "saw"}, {"name": "left over"}], "type": "UPDATE"},
        {"data": two, "type": "DELETE"},
        {"data": None, "type": "CREATE", "isDdl": True},
        {"data": [], "type": "UPDATE"},
    ]
    decoded = decode("canal-json", *messages * copies)
    first, second = (1, *NOW[1:]), (2, *NOW[1:])
    assert rows(decoded) == [
        ("+I", first), ("+I", second),
        ("-U", (7, *NOW[1:])), ("+U", first), ("-U", (2, "saw", "18oz", 1.0)), ("+U", second),
        ("-D", first), ("-D", second),
    ] * copies  # fmt: skip
    assert decoded.message is not None
    assert decoded.message.to_pylist() == [6 * n + i for n in range(copies) for i in (0, 0, 2, 2, 2, 2, 3, 3)]
    assert (decoded.bad, decoded.ignored) == ((), 0)


@pytest.mark.parametrize(
    "message",
    [
        {"data": [HAMMER, None], "type": "INSERT"},
        {"data": [HAMMER, HAMMER, {"id": "x"}], "type": "INSERT"},
        {"data": [HAMMER, HAMMER], "old": [{"name": "saw"}], "type": "UPDATE"},
        {"data": [HAMMER, HAMMER], "old": [{"name": "saw"}, None], "type": "UPDATE"},
        {"data": HAMMER, "type": "INSERT"},
        {"type": "INSERT"},
    ],
    ids=["a null row", "a bad row", "old is short", "a null old row", "no list", "no data"],
)
@pytest.mark.parametrize("copies", [1, 200], ids=["exact", "fast"])
def test_all_rows_of_a_message_or_none(message: Any, copies: int) -> None:
    decoded = decode("canal-json", *[message] * copies)
    assert decoded.rows.num_rows == 0
    assert list(reasons(decoded)) == list(range(copies))


@pytest.mark.parametrize("ddl", ["ALTER", "ERASE", "TRUNCATE", "QUERY", "RENAME", "CINDEX", "DINDEX"])
def test_ddl_other_than_create_is_unknown(ddl: str) -> None:
    message = {"data": None, "type": ddl, "isDdl": True, "sql": "…"}
    assert f'Unknown "type" value "{ddl}"' in reasons(decode("canal-json", message))[0]
    assert decode("canal-json", message, ignore_parse_errors=True).ignored == 1


PLACES = [
    ("shop", "orders_1"),
    ("shop", "orders_22"),
    ("shop2", "orders_1"),
    ("shop", "orders"),
    ("shop", "my_orders_1"),
]


@pytest.mark.parametrize("copies", [1, 100], ids=["exact", "fast"])
def test_filters_match_whole_names(copies: int) -> None:
    messages = [
        {"data": [{**HAMMER, "id": i}], "type": "INSERT", "database": d, "table": n} for i, (d, n) in enumerate(PLACES)
    ] * copies

    def ids(**options: Any) -> list[int]:
        decoded = decode("canal-json", *messages, **options)
        assert (decoded.bad, decoded.ignored) == ((), 0)
        return [row[0] for _, row in rows(decoded)]

    assert ids(database__include="shop", table__include=r"orders_\d{1,2}") == [0, 1] * copies
    assert ids(table__include=r"orders_\p{Digit}") == [0, 2] * copies
    assert ids(database__include="shop.") == [2] * copies
    assert ids(database__include="SHOP") == []
    assert ids(database__include="(?i:SHOP)2?") == [0, 1, 2, 3, 4] * copies


@pytest.mark.parametrize("copies", [0, 200], ids=["exact", "fast"])
def test_filters_come_before_everything_but_syntax(copies: int) -> None:
    good = [{"data": [HAMMER], "type": "INSERT", "database": "shop"}] * copies

    def decoded(message: Any, **options: Any) -> Any:
        return decode("canal-json", *good, message, database__include="shop", **options)

    other = {"data": [{"id": "x"}], "type": "ALTER", "database": "other"}
    assert (decoded(other).rows.num_rows, decoded(other).bad, decoded(other).ignored) == (copies, (), 0)
    nothing = {"data": [HAMMER], "type": "INSERT"}
    assert '"database"' in reasons(decoded(nothing))[copies]
    assert decoded(nothing, ignore_parse_errors=True).ignored == 1
    null = {**nothing, "database": None}
    assert (decoded(null).rows.num_rows, decoded(null).bad) == (copies, ())
    assert decode("canal-json", null, database__include="null").rows.num_rows == 1
    assert reasons(decoded({**other, "database": "shop"}))
    assert reasons(decoded("[1]"))


@pytest.mark.parametrize("option", ["database.include", "table.include"])
def test_a_pattern_that_cannot_be_used(option: str) -> None:
    given: dict[str, Any] = {option.replace(".", "__"): "a["}
    chosen = choice("canal-json", **given)
    with pytest.raises(RowkindError) as failed:
        format_named("canal-json").validate(PRODUCTS, chosen)
    assert failed.value.condition == "CANAL_PATTERN_INVALID"
    assert failed.value.params["option"] == f"canal-json.{option}"


def test_metadata_of_canal() -> None:
    keys = tuple(format_named("canal-json").metadata)
    message = {
        "data": [HAMMER, HAMMER], "type": "DELETE", "database": "shop", "table": "products", "ts": 1589373560798,
        "es": 1589373560000, "pkNames": ["id", "name"], "sqlType": {"id": 4, "name": 12, "weight": None},
    }  # fmt: skip
    found = (
        "shop", "products", [("id", 4), ("name", 12), ("weight", None)], ["id", "name"],
        datetime(2020, 5, 13, 12, 39, 20, 798_000, UTC), datetime(2020, 5, 13, 12, 39, 20, tzinfo=UTC),
    )  # fmt: skip
    for copies in (1, 200):
        decoded = decode("canal-json", *[message] * copies, metadata=keys)
        assert [row[4:] for _, row in rows(decoded)] == [found, found] * copies
    absent = decode("canal-json", {"data": [HAMMER], "type": "INSERT"}, metadata=keys)
    assert [row[4:] for _, row in rows(absent)] == [(None,) * 6]


def test_metadata_of_maxwell_counts_in_seconds() -> None:
    keys = tuple(format_named("maxwell-json").metadata)
    more = {"database": "shop", "table": "products", "primary_key_columns": ["id"], "ts": 1596684883}
    decoded = decode("maxwell-json", event("maxwell-json", "insert", HAMMER, **more), metadata=keys)
    found = ("shop", "products", ["id"], datetime(2020, 8, 6, 3, 34, 43, tzinfo=UTC))
    assert [row[4:] for _, row in rows(decoded)] == [found]
    far = event("maxwell-json", "insert", HAMMER, ts=10**13)
    assert "ingestion-timestamp" in reasons(decode("maxwell-json", far, metadata=("ingestion-timestamp",)))[0]


# -- writing ---------------------------------------------------------------------------------------------------------

SCOOTER = (101, "scooter", None, 3.14)
ROW = '{"id":101,"name":"scooter","description":null,"weight":3.14}'
SHORT = '{"id":101,"name":"scooter","weight":3.14}'


@pytest.mark.parametrize(("ignore", "row"), [(False, ROW), (True, SHORT)])
def test_every_kind_is_written(ignore: bool, row: str) -> None:
    kinds = [(kind, SCOOTER) for kind in RowKind]
    came, went = f'{{"data":[{row}],"type":"INSERT"}}', f'{{"data":[{row}],"type":"DELETE"}}'
    assert encode("canal-json", *kinds, encode__ignore_null_fields=ignore) == [came, went, came, went]
    came, went = f'{{"data":{row},"type":"insert"}}', f'{{"data":{row},"type":"delete"}}'
    assert encode("maxwell-json", *kinds, encode__ignore_null_fields=ignore) == [came, went, came, went]


@pytest.mark.parametrize("tool", TOOLS)
def test_what_is_written_can_be_read(tool: str) -> None:
    written = encode(tool, *((kind, NOW) for kind in RowKind))
    assert rows(decode(tool, *written)) == [("+I", NOW), ("-D", NOW), ("+I", NOW), ("-D", NOW)]
    assert all(json.loads(text) for text in written)
