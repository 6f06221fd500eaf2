"""avro: derived schemas, bytes both ways, and what is refused."""

from __future__ import annotations

import io
import json
from decimal import Decimal
from typing import Any, ClassVar

import fastavro
import pyarrow as pa
import pytest

from rowkind import types as t
from rowkind.errors import RowkindError
from rowkind.formats.avro.schema import derive, parse, schema_text, sql_type
from rowkind.formats.contract import Decoded, FormatChoice, FormatContext
from rowkind.formats.registry import format_named
from rowkind.types import DataType, Field, Root
from tests.formats.suite import FormatSuite, batch

AVRO = format_named("avro")


def choice(**options: Any) -> FormatChoice:
    legacy = options.pop("legacy", True)
    return FormatChoice(
        "avro", {"encoding": "binary", "timestamp_mapping.legacy": legacy, **options}, FormatContext("t")
    )


def encode(columns: tuple[Field, ...], *rows: tuple[Any, ...], **options: Any) -> list[bytes]:
    return AVRO.encoder(columns, choice(**options)).encode(batch(columns, list(rows))).to_pylist()  # type: ignore[no-any-return]


def decode(columns: tuple[Field, ...], *payloads: bytes | None, **options: Any) -> Decoded:
    return AVRO.decoder(columns, [], choice(**options)).decode(pa.array(payloads, pa.binary()))


def one(type: DataType) -> tuple[Field, ...]:
    return (Field("f", type),)


def schema_of(type: DataType, legacy: bool = True) -> Any:
    return derive(t.row(("f", type)).not_null(), "t", legacy)["fields"][0]["type"]


TYPES: list[tuple[DataType, Any]] = [
    (t.STRING, "string"),
    (DataType(Root.CHAR, length=3), "string"),
    (t.BOOLEAN, "boolean"),
    (t.BYTES, "bytes"),
    (t.decimal(10, 2), {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}),
    (t.TINYINT, "int"),
    (t.SMALLINT, "int"),
    (t.INT, "int"),
    (t.BIGINT, "long"),
    (t.FLOAT, "float"),
    (t.DOUBLE, "double"),
    (t.DATE, {"type": "int", "logicalType": "date"}),
    (t.time(3), {"type": "int", "logicalType": "time-millis"}),
    (t.timestamp(3), {"type": "long", "logicalType": "timestamp-millis"}),
    (t.array(t.INT), {"type": "array", "items": ["null", "int"]}),
    (t.map_of(t.STRING, t.BIGINT.not_null()), {"type": "map", "values": "long"}),
    (DataType(Root.MULTISET, element=t.STRING), {"type": "map", "values": ["null", "int"]}),
]


@pytest.mark.parametrize(("type", "schema"), TYPES)
def test_schema_of_every_type(type: DataType, schema: Any) -> None:
    assert schema_of(type.not_null()) == schema
    assert schema_of(type) == ["null", schema]


@pytest.mark.parametrize(
    ("type", "logical"),
    [
        (t.timestamp(3), "local-timestamp-millis"),
        (t.timestamp(6), "local-timestamp-micros"),
        (t.timestamp_ltz(3), "timestamp-millis"),
        (t.timestamp_ltz(6), "timestamp-micros"),
    ],
)
def test_new_timestamp_mapping(type: DataType, logical: str) -> None:
    assert schema_of(type.not_null(), legacy=False) == {"type": "long", "logicalType": logical}


def test_schema_text_is_what_java_prints() -> None:
    inner = t.row(("x", t.INT.not_null()), ("y", t.array(t.row(("z", t.STRING)).not_null()).not_null()))
    columns = t.row(("id", t.BIGINT.not_null()), ("c", inner)).not_null()
    assert schema_text(derive(columns, "t")) == (
        '{"type":"record","name":"record","namespace":"org.apache.flink.avro.generated","fields":['
        '{"name":"id","type":"long"},{"name":"c","type":["null",{"type":"record","name":"record_c","fields":['
        '{"name":"x","type":"int"},{"name":"y","type":{"type":"array","items":{"type":"record","name":"record_c_y",'
        '"fields":[{"name":"z","type":["null","string"],"default":null}]}}}]}],"default":null}]}'
    )


def test_a_null_type_has_no_union() -> None:
    assert derive(t.row(("n", t.NULL)).not_null(), "t")["fields"] == [{"name": "n", "type": "null", "default": None}]


@pytest.mark.parametrize(
    ("type", "legacy", "condition"),
    [
        (t.time(6), True, "AVRO_UNSUPPORTED_TYPE"),
        (t.timestamp(6), True, "AVRO_UNSUPPORTED_TYPE"),
        (t.timestamp_ltz(3), True, "AVRO_UNSUPPORTED_TYPE"),
        (t.timestamp(9), False, "AVRO_UNSUPPORTED_TYPE"),
        (t.timestamp_ltz(9), False, "AVRO_UNSUPPORTED_TYPE"),
        (t.array(t.timestamp_ltz(3)), False, "AVRO_UNSUPPORTED_TYPE"),
        (t.map_of(t.STRING, t.timestamp(6)), False, "AVRO_UNSUPPORTED_TYPE"),
        (DataType(Root.INTERVAL_YEAR_MONTH), True, "AVRO_UNSUPPORTED_TYPE"),
        (t.map_of(t.INT, t.INT), True, "AVRO_MAP_KEY"),
        (t.row(("a b", t.INT)), True, "AVRO_ILLEGAL_NAME"),
    ],
)
def test_refused_types(type: DataType, legacy: bool, condition: str) -> None:
    with pytest.raises(RowkindError) as caught:
        AVRO.validate(one(type), choice(legacy=legacy))
    assert caught.value.condition == condition


def test_refused_names_and_encodings() -> None:
    twice = (Field("a", t.row(("b", t.row(("x", t.INT))))), Field("a_b", t.row(("x", t.INT))))
    with pytest.raises(RowkindError) as caught:
        AVRO.validate(twice, choice())
    assert caught.value.condition == "AVRO_NAME_TAKEN"
    with pytest.raises(RowkindError) as caught:
        AVRO.validate(one(t.INT), choice(encoding="xml"))
    assert caught.value.condition == "AVRO_UNKNOWN_ENCODING"


BYTES: list[tuple[DataType, Any, str]] = [
    (t.INT.not_null(), -1, "01"),
    (t.INT, 64, "028001"),
    (t.INT, None, "00"),
    (t.TINYINT.not_null(), -128, "ff01"),
    (t.BIGINT.not_null(), 2**63 - 1, "feffffffffffffffff01"),
    (t.BIGINT.not_null(), -(2**63), "ffffffffffffffffff01"),
    (t.BOOLEAN.not_null(), True, "01"),
    (t.FLOAT.not_null(), 1.5, "0000c03f"),
    (t.DOUBLE, 5.3, "02333333333333" + "1540"),
    (t.STRING, "rocks", "020a726f636b73"),
    (t.BYTES.not_null(), b"", "00"),
    (t.decimal(10, 2).not_null(), Decimal("0.00"), "0200"),
    (t.decimal(10, 2).not_null(), Decimal("1.27"), "027f"),
    (t.decimal(10, 2).not_null(), Decimal("1.28"), "040080"),
    (t.decimal(10, 2).not_null(), Decimal("-1.28"), "0280"),
    (t.decimal(10, 2).not_null(), Decimal("-1.29"), "04ff7f"),
    (t.decimal(38, 0).not_null(), Decimal(2**64), "12010000000000000000"),
    (t.DATE.not_null(), 1, "02"),
    (t.time(3).not_null(), 1_000_000, "02"),
    (t.timestamp(3).not_null(), -1000, "01"),
    (t.array(t.INT).not_null(), [1, None, 3], "0602020002060" + "0"),
    (t.array(t.INT).not_null(), [], "00"),
    (t.map_of(t.STRING, t.INT.not_null()).not_null(), [("a", 1)], "02026102" + "00"),
    (t.row(("x", t.INT.not_null())), {"x": 1}, "0202"),
    (t.row(("x", t.INT)).not_null(), {"x": None}, "00"),
]


@pytest.mark.parametrize(("type", "value", "wire"), BYTES)
def test_bytes_both_ways(type: DataType, value: Any, wire: str) -> None:
    assert [p.hex() for p in encode(one(type), (value,))] == [wire]
    decoded = decode(one(type), bytes.fromhex(wire))
    assert not decoded.bad
    assert decoded.rows.column(0).equals(batch(one(type), [(value,)]).column(0))


def test_the_unit_stays_milliseconds_also_where_the_schema_says_micros() -> None:
    for type in (t.timestamp(6), t.timestamp_ltz(6)):
        columns = one(type.not_null())
        assert encode(columns, (123_456_000,), legacy=False) == [bytes.fromhex("80890f")]
        decoded = decode(columns, bytes.fromhex("80890f"), legacy=False)
        assert decoded.rows.column(0).cast(pa.int64()).to_pylist() == [123_456_000]


@pytest.mark.parametrize(
    ("type", "wire"),
    [
        (t.INT, ""),
        (t.INT, "02"),
        (t.INT, "04"),
        (t.INT, "01"),
        (t.INT.not_null(), "ffffffffffff"),
        (t.BIGINT.not_null(), "ffffffffffffffffffff01"),
        (t.STRING.not_null(), "0a6162"),
        (t.STRING.not_null(), "01"),
        (t.DOUBLE.not_null(), "00000000"),
        (t.decimal(10, 2).not_null(), "00"),
        (t.array(t.INT.not_null()).not_null(), "0602"),
        (t.array(t.INT.not_null()).not_null(), "feffffffffffffffff01"),
        (t.time(3).not_null(), "01"),
        (t.timestamp(3).not_null(), "feffffffffffffffff01"),
    ],
)
def test_bad_bytes(type: DataType, wire: str) -> None:
    good = AVRO.encoder(one(t.STRING), choice()).encode(batch(one(t.STRING), [("x",)]))[0].as_py()
    assert [b.index for b in decode(one(type), bytes.fromhex(wire)).bad] == [0]
    decoded = decode((Field("f", type), Field("s", t.STRING)), bytes.fromhex(wire), None)
    assert [b.index for b in decoded.bad] == [0]
    assert decode(one(t.STRING), good).rows.num_rows == 1


def test_what_comes_after_the_datum_is_ignored() -> None:
    assert decode(one(t.INT.not_null()), b"\x02rest").rows.column(0).to_pylist() == [1]


def test_lenient_reading_as_in_java() -> None:
    assert decode(one(t.TINYINT.not_null()), bytes.fromhex("8002")).rows.column(0).to_pylist() == [-128]
    assert decode(one(t.STRING.not_null()), b"\x02\xff").rows.column(0).to_pylist() == ["�"]
    assert decode(one(t.decimal(3, 0).not_null()), bytes.fromhex("0403e8")).rows.column(0).to_pylist() == [None]
    assert decode(one(t.decimal(3, 0).not_null()), b"\x26" + b"\0" * 18 + b"\x05").rows.column(0).to_pylist() == [5]
    assert decode(one(t.decimal(3, 0).not_null()), b"\x26" + b"\1" * 19).rows.column(0).to_pylist() == [None]


def test_blocks_with_sizes_and_several_blocks() -> None:
    columns = one(t.array(t.INT.not_null()).not_null())
    decoded = decode(columns, bytes.fromhex("03040204" + "020600"), bytes.fromhex("02020204" + "00"))
    assert decoded.rows.column(0).to_pylist() == [[1, 2, 3], [1, 2]]


def test_long_arrays_and_doubled_map_keys_are_read_the_exact_way() -> None:
    columns = (Field("l", t.array(t.INT)), Field("m", t.map_of(t.STRING, t.INT.not_null()).not_null()))
    payloads = encode(columns, ([1], [("a", 1)]), (list(range(500)), [("b", 2)]), ([2], [("c", 3)]))
    payloads.append(bytes.fromhex("00" + "0402610202610400"))
    decoded = decode(columns, *payloads)
    assert decoded.rows.column(0).to_pylist() == [[1], list(range(500)), [2], None]
    assert decoded.rows.column(1).to_pylist() == [[("a", 1)], [("b", 2)], [("c", 3)], [("a", 2)]]


def test_null_in_a_not_null_column_cannot_be_written() -> None:
    for columns in (one(t.INT.not_null()), one(t.row(("x", t.INT.not_null()))), one(t.array(t.INT.not_null()))):
        value = {Root.INT: None, Root.ROW: {"x": None}, Root.ARRAY: [None]}[columns[0].type.root]
        for encoding in ("binary", "json"):
            with pytest.raises(RowkindError) as caught:
                encode(columns, (value,), encoding=encoding)
            assert caught.value.condition == "AVRO_NULL_VALUE"


def test_null_rows_hide_what_is_not_null_inside() -> None:
    columns = one(t.row(("x", t.INT.not_null()), ("y", t.array(t.STRING.not_null()).not_null())))
    rows: list[tuple[Any, ...]] = [(None,), ({"x": 1, "y": ["a"]},), (None,)]
    assert decode(columns, *encode(columns, *rows)).rows.column(0).to_pylist() == [r[0] for r in rows]


def test_fastavro_reads_what_is_written_and_the_other_way_round() -> None:
    columns = (Field("id", t.BIGINT.not_null()), Field("r", t.row(("d", t.decimal(6, 2)), ("t", t.timestamp(3)))))
    schema = fastavro.parse_schema(derive(t.row(*columns).not_null(), "t"))
    (payload,) = encode(columns, (7, {"d": Decimal("12.50"), "t": 1_609_330_394_123_000}))
    datum = fastavro.schemaless_reader(io.BytesIO(payload), schema, None)
    assert datum["id"] == 7
    assert datum["r"]["d"] == Decimal("12.50")
    assert datum["r"]["t"].isoformat() == "2020-12-30T12:13:14.123000+00:00"
    out = io.BytesIO()
    fastavro.schemaless_writer(out, schema, datum)
    assert out.getvalue() == payload


def test_json_encoding() -> None:
    columns = (
        *(Field("i", t.INT.not_null()), Field("s", t.STRING), Field("b", t.BYTES), Field("d", t.decimal(5, 2))),
        *(Field("day", t.DATE), Field("ts", t.timestamp(3)), Field("l", t.array(t.INT))),
        *(Field("m", t.map_of(t.STRING, t.DOUBLE)), Field("r", t.row(("x", t.BOOLEAN)))),
    )
    row = (1, 'ä"😀', b"\x00\xff", Decimal("-1.28"), 1, 1000, [1, None], [("k", 1e10)], {"x": True})
    text = (
        '{"i":1,"s":{"string":"ä\\"\\uD83D\\uDE00"},"b":{"bytes":"\\u0000ÿ"},"d":{"bytes":"\u0080"},"day":{"int":1},'
        '"ts":{"long":1},"l":{"array":[{"int":1},null]},"m":{"map":{"k":{"double":1.0E10}}},'
        '"r":{"org.apache.flink.avro.generated.record_r":{"x":{"boolean":true}}}}'
    )
    assert [p.decode() for p in encode(columns, row, encoding="json")] == [text]
    decoded = decode(columns, text.encode(), encoding="json")
    assert not decoded.bad
    assert decoded.rows.equals(batch(columns, [row]))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a":1,"b":{"string":"x"}}', (1, "x")),
        ('{"b":null,"a":1}', (1, None)),
        (' {"a":1.9,"b":null} rest', (1, None)),
        ('{"a":1,"b":null,"z":{"deep":[1]}}', (1, None)),
        ('{"a":1,"b":{"string":"x","more":1}}', (1, "x")),
        ('{"z":1,"a":1,"b":null}', None),
        ('{"a":1}', None),
        ('{"a":"1","b":null}', None),
        ('{"a":2147483648,"b":null}', None),
        ('{"a":1e999,"b":null}', None),
        ('{"a":1,"b":{"string":"\\ud800x"}}', (1, "?x")),
        ('{"a":1,"b":"x"}', None),
        ('{"a":1,"b":{"int":1}}', None),
        ('{"a":1,"b":{}}', None),
        ("[]", None),
        ("", None),
        ("{", None),
    ],
)
def test_json_decoding(text: str, value: tuple[Any, ...] | None) -> None:
    columns = (Field("a", t.INT.not_null()), Field("b", t.STRING))
    decoded = decode(columns, text.encode(), encoding="json")
    assert [tuple(r.values()) for r in decoded.rows.to_pylist()] == ([] if value is None else [value])
    assert len(decoded.bad) == (value is None)


def test_a_given_schema_as_sql_types() -> None:
    schema = parse(
        json.dumps(
            {
                "type": "record",
                "name": "r",
                "fields": [
                    {"name": "e", "type": {"type": "enum", "name": "e", "symbols": ["A"]}},
                    {"name": "f", "type": {"type": "fixed", "name": "f", "size": 4}},
                    {
                        "name": "d",
                        "type": {
                            "type": "fixed",
                            "name": "d",
                            "size": 4,
                            "logicalType": "decimal",
                            "precision": 5,
                            "scale": 1,
                        },
                    },
                    {"name": "u", "type": ["long"]},
                    {"name": "n", "type": ["string", "null"]},
                    {"name": "t", "type": {"type": "long", "logicalType": "time-micros"}},
                    {"name": "ts", "type": {"type": "long", "logicalType": "timestamp-micros"}},
                    {"name": "lt", "type": {"type": "long", "logicalType": "local-timestamp-millis"}},
                    {"name": "m", "type": {"type": "map", "values": "int"}},
                ],
            }
        )
    )
    assert [str(f.type) for f in sql_type(schema).fields] == [
        "STRING NOT NULL",
        "VARBINARY(4) NOT NULL",
        "DECIMAL(5, 1) NOT NULL",
        "BIGINT NOT NULL",
        "STRING",
        "TIME(6) NOT NULL",
        "TIMESTAMP(6) NOT NULL",
        "BIGINT NOT NULL",
        "MAP<STRING NOT NULL, INT NOT NULL> NOT NULL",
    ]


class TestAvro(FormatSuite):
    name = "avro"
    types = (
        *("boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "wide decimal", "string"),
        *("char", "bytes", "date", "time", "array", "nested array", "map", "multiset", "row", "deep row"),
    )


class TestAvroJson(TestAvro):
    options: ClassVar[dict[str, Any]] = {"encoding": "json"}
