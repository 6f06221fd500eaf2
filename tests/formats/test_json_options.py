"""The options of json: what is accepted, what is refused, and with which condition."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from rowkind import types as t
from rowkind.errors import RowkindError
from rowkind.formats.contract import FormatChoice, FormatContext
from rowkind.formats.registry import format_named
from rowkind.formats.temporal import TimestampStandard
from rowkind.types import DataType, Field

COLUMNS = (Field("id", t.INT),)
OPTIONS = {option.name: option for option in format_named("json").options}


def choice(sink: bool = False, **texts: str) -> FormatChoice:
    """A choice as the catalog makes it: every option, parsed from its text or its default; `__` stands for a dot."""
    given = {name.replace("__", ".").replace("_", "-"): text for name, text in texts.items()}
    assert given.keys() <= OPTIONS.keys()
    values = {n: o.parse(given[n]) if n in given else o.default for n, o in OPTIONS.items()}
    return FormatChoice("json", values, FormatContext("orders", sink=sink))


def refused(columns: tuple[Field, ...], chosen: FormatChoice) -> str:
    with pytest.raises(RowkindError) as error:
        format_named("json").validate(columns, chosen)
    return error.value.condition


def test_every_option_is_declared() -> None:
    assert {name: option.default for name, option in OPTIONS.items()} == {
        "fail-on-missing-field": False,
        "ignore-parse-errors": False,
        "timestamp-format.standard": TimestampStandard.SQL,
        "map-null-key.mode": "FAIL",
        "map-null-key.literal": "null",
        "encode.decimal-as-plain-number": False,
        "encode.ignore-null-fields": False,
        "decode.json-parser.enabled": True,
    }
    assert all(option.description for option in OPTIONS.values())


def test_missing_and_ignore_together() -> None:
    chosen = choice(fail_on_missing_field="true", ignore_parse_errors="TRUE")
    assert refused(COLUMNS, chosen) == "JSON_MISSING_FIELD_AND_IGNORE"


@pytest.mark.parametrize("text", ["test", "iso-8601", "sql", "ISO_8601"])
def test_timestamp_standard_minds_its_case(text: str) -> None:
    with pytest.raises(ValueError, match="SQL, ISO-8601"):
        choice(timestamp_format__standard=text)


def test_null_key_mode_is_checked_for_a_sink_in_any_case() -> None:
    assert refused(COLUMNS, choice(sink=True, map_null_key__mode="invalid")) == "JSON_MAP_NULL_KEY_MODE"
    format_named("json").validate(COLUMNS, choice(sink=False, map_null_key__mode="invalid"))
    for text in ("literal", "Drop", "FAIL"):
        format_named("json").validate(COLUMNS, choice(sink=True, map_null_key__mode=text))


@pytest.mark.parametrize(
    "type",
    [
        t.map_of(t.INT, t.STRING),
        DataType(t.Root.MULTISET, element=t.INT),
        t.array(t.map_of(t.DATE, t.INT)),
        t.row(("m", t.map_of(t.BYTES, t.INT))),
        t.map_of(t.STRING, t.map_of(t.BOOLEAN, t.INT)),
    ],
    ids=str,
)
def test_keys_of_maps_are_text(type: DataType) -> None:
    assert refused((Field("m", type),), choice()) == "JSON_MAP_KEY_NOT_TEXT"


@pytest.mark.parametrize("text", ["yes", "1", ""])
def test_booleans(text: str) -> None:
    with pytest.raises(ValueError, match="boolean"):
        choice(ignore_parse_errors=text)


def test_options_reach_the_decoder() -> None:
    columns = (Field("a", t.STRING), Field("d", t.decimal(5, 2)), Field("ts", t.timestamp(3)))
    payload = pa.array([b'{"a":1.0E5,"d":"x","ts":"2020-12-30T12:13:14"}'], pa.binary())
    chosen = choice(ignore_parse_errors="true", timestamp_format__standard="ISO-8601")
    decoded = format_named("json").decoder(columns, (), chosen).decode(payload)
    row: dict[str, Any] = decoded.rows.to_pylist()[0]
    assert (row["a"], row["d"], str(row["ts"])) == ("1.0E5", None, "2020-12-30 12:13:14")
    assert decoded.ignored == 1


def test_the_tree_parser_prints_decimals_when_the_table_has_one() -> None:
    payload = pa.array([b'{"a":1.0E5}'], pa.binary())
    chosen = choice(decode__json_parser__enabled="false")
    for columns, text in (
        ((Field("a", t.STRING),), "100000.0"),
        ((Field("a", t.STRING), Field("r", t.row(("d", t.decimal(5, 2))))), "1E+5"),
    ):
        decoded = format_named("json").decoder(columns, (), chosen).decode(payload)
        assert decoded.rows.column(0).to_pylist() == [text]


def test_options_reach_the_encoder() -> None:
    columns = (Field("d", t.decimal(5, 2)), Field("n", t.INT))
    chosen = choice(sink=True, encode__decimal_as_plain_number="true", encode__ignore_null_fields="true")
    rows = pa.RecordBatch.from_pylist([{"d": Decimal("10.00"), "n": None}], t.arrow_schema(columns))
    assert format_named("json").encoder(columns, chosen).encode(rows).to_pylist() == [b'{"d":10.00}']
