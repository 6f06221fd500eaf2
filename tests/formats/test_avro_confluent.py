"""avro-confluent and debezium-avro-confluent: frames, resolution, and a real registry with another client on it."""

from __future__ import annotations

import json
from typing import Any, ClassVar
from uuid import uuid4

import httpx
import pyarrow as pa
import pytest

from rowkind import types as t
from rowkind.errors import RowkindError
from rowkind.formats.avro.schema import derive, schema_text
from rowkind.formats.contract import Decoded, FormatChoice, FormatContext
from rowkind.formats.registry import format_named
from rowkind.kinds import RowKind
from rowkind.types import Field
from tests.formats.suite import SAMPLES, FormatSuite, batch, same
from tests.formats.test_schema_registry import Server, server  # noqa: F401

ORDERS = (Field("id", t.BIGINT.not_null()), Field("name", t.STRING), Field("price", t.DOUBLE))
PERSONS = (Field("id", t.BIGINT), Field("name", t.STRING), Field("description", t.STRING), Field("weight", t.DOUBLE))


def choice(url: str, topic: str | None = "orders", name: str = "avro-confluent", **options: Any) -> FormatChoice:
    context = FormatContext("t", key=options.pop("key", False), topic=topic, sink=options.pop("sink", False))
    return FormatChoice(name, {"url": url, **options}, context)


def decode(columns: tuple[Field, ...], chosen: FormatChoice, *payloads: bytes | None) -> Decoded:
    return format_named(chosen.name).decoder(columns, [], chosen).decode(pa.array(payloads, pa.binary()))


def encode(columns: tuple[Field, ...], chosen: FormatChoice, *rows: tuple[Any, ...]) -> list[bytes]:
    return format_named(chosen.name).encoder(columns, chosen).encode(batch(columns, list(rows))).to_pylist()  # type: ignore[no-any-return]


def schema_for(columns: tuple[Field, ...]) -> str:
    return schema_text(derive(t.row(*columns).not_null(), "t"))


# -- frames, on a server that answers as told ----------------------------------------------------------------------


def test_the_frame(server: Server) -> None:  # noqa: F811
    server.script = [(200, {"id": 258})]
    (payload,) = encode(ORDERS, choice(server.url), (1, "a", None))
    assert payload.hex() == "0000000102" + "02" + "020261" + "00"
    assert server.asked[0][1] == "/subjects/orders-value/versions"
    assert json.loads(server.asked[0][3]["schema"])["name"] == "record"


def test_nothing_is_registered_for_no_rows(server: Server) -> None:  # noqa: F811
    assert encode(ORDERS, choice(server.url)) == []
    assert server.asked == []


def test_bad_frames(server: Server) -> None:  # noqa: F811
    server.script = [(200, {"schema": schema_for(ORDERS)})]
    good = bytes.fromhex("00000000010202026100")
    decoded = decode(ORDERS, choice(server.url), b"", b"\0\0\0", b"\1" + good[1:], None, good, good[:6])
    assert [b.index for b in decoded.bad] == [0, 1, 2, 5]
    assert "schema id 1" in decoded.bad[3].reason
    assert decoded.rows.to_pylist() == [{"id": 1, "name": "a", "price": None}]
    assert decoded.message is not None
    assert decoded.message.to_pylist() == [4]


def test_an_unknown_id_and_a_known_one(server: Server) -> None:  # noqa: F811
    server.script = [(200, {"schema": schema_for(ORDERS)}), (404, {"error_code": 40403, "message": "none"})]
    first, second = bytes.fromhex("00000000010202026100"), bytes.fromhex("00000000070202026100")
    decoded = decode(ORDERS, choice(server.url), second, first, second)
    assert decoded.rows.num_rows == 1
    assert [b.index for b in decoded.bad] == [0, 2]
    assert all("id 7" in b.reason for b in decoded.bad)


@pytest.mark.parametrize(
    ("columns", "options", "condition"),
    [
        (ORDERS, {"url": None}, "REGISTRY_URL_MISSING"),
        (ORDERS, {"topic": None, "sink": True}, "AVRO_SUBJECT_MISSING"),
        (ORDERS, {"schema": "{"}, "AVRO_SCHEMA_INVALID"),
        (ORDERS, {"schema": '["int","string"]'}, "AVRO_SCHEMA_INVALID"),
        (ORDERS, {"schema": schema_for(ORDERS[:2])}, "AVRO_SCHEMA_MISMATCH"),
        (ORDERS, {"schema": schema_for((Field("id", t.BIGINT), *ORDERS[1:]))}, "AVRO_SCHEMA_MISMATCH"),
        ((Field("ts", t.timestamp(6)),), {}, "AVRO_UNSUPPORTED_TYPE"),
        ((Field("ts", t.timestamp_ltz(3)),), {}, "AVRO_UNSUPPORTED_TYPE"),
    ],
)
def test_refused_at_planning(columns: tuple[Field, ...], options: dict[str, Any], condition: str) -> None:
    chosen = choice(**{"url": "http://localhost:1", **options})
    with pytest.raises(RowkindError) as caught:
        format_named("avro-confluent").validate(columns, chosen)
    assert caught.value.condition == condition


def test_a_source_needs_no_subject() -> None:
    format_named("avro-confluent").validate(ORDERS, choice("http://localhost:1", topic=None))
    given = choice("http://localhost:1", topic=None, sink=True, subject="mine")
    format_named("avro-confluent").validate(ORDERS, given)


def test_a_given_schema_with_other_names_is_registered_and_used(server: Server) -> None:  # noqa: F811
    schema = {
        "type": "record",
        "name": "my.Order",
        "fields": [
            {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}},
            {"name": "tag", "type": ["string", "null"]},
            {"name": "code", "type": {"type": "fixed", "name": "Code", "size": 2}},
        ],
    }
    code = t.DataType(t.Root.VARBINARY, nullable=False, length=2)
    columns = (Field("kind", t.STRING.not_null()), Field("tag", t.STRING), Field("code", code))
    server.script = [(200, {"id": 1}), (200, {"schema": json.dumps(schema)})]
    chosen = choice(server.url, schema=json.dumps(schema))
    payloads = encode(columns, chosen, ("B", "x", b"ab"), ("A", None, b"cd"))
    assert [p.hex() for p in payloads] == ["0000000001" + "02" + "000278" + "6162", "0000000001" + "00" + "02" + "6364"]
    assert json.loads(server.asked[0][3]["schema"]) == schema
    decoded = decode(columns, chosen, *payloads)
    assert [tuple(r.values()) for r in decoded.rows.to_pylist()] == [("B", "x", b"ab"), ("A", None, b"cd")]
    for row, condition in ((("C", None, b"ab"), "AVRO_NO_SUCH_SYMBOL"), (("A", None, b"abc"), "AVRO_FIXED_SIZE")):
        with pytest.raises(RowkindError) as caught:
            encode(columns, chosen, row)
        assert caught.value.condition == condition


WRITER = {
    "type": "record",
    "name": "com.shop.Order",
    "fields": [
        {"name": "gone", "type": {"type": "array", "items": ["null", "string", "long"]}},
        {"name": "price", "type": "float"},
        {"name": "place", "type": ["null", {"type": "record", "name": "Spot", "fields": [
            {"name": "x", "type": "int"}, {"name": "old", "type": "bytes"}]}]},
        {"name": "tree", "type": {"type": "record", "name": "Tree", "fields": [
            {"name": "next", "type": ["null", "Tree"]}, {"name": "n", "type": "int"}]}},
        {"name": "id", "type": "int"},
    ],
}  # fmt: skip


def test_a_foreign_writer_is_resolved(server: Server) -> None:  # noqa: F811
    import io

    import fastavro

    columns = (*ORDERS, Field("place", t.row(("y", t.INT), ("x", t.BIGINT))))
    server.script = [(200, {"schema": json.dumps(WRITER)})]
    out = io.BytesIO(b"\0\0\0\0\1")
    out.seek(5)
    datum = {
        "gone": [None, "a", 5],
        "price": 1.5,
        "place": {"x": 7, "old": b"zz"},
        "tree": {"next": {"next": None, "n": 1}, "n": 2},
        "id": 3,
    }
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(json.dumps(WRITER))), datum)
    decoded = decode(columns, choice(server.url), out.getvalue())
    assert not decoded.bad
    assert decoded.rows.to_pylist() == [{"id": 3, "name": None, "price": 1.5, "place": {"y": None, "x": 7}}]


@pytest.mark.parametrize(
    ("fields", "wire"),
    [
        ([{"name": "name", "type": "string"}], "0261"),
        ([{"name": "id", "type": "string"}], "0261"),
        ([{"name": "id", "type": ["null", "long"]}], "00"),
        ([{"name": "id", "type": "double"}], "0000000000000000"),
    ],
)
def test_an_incompatible_writer(server: Server, fields: list[Any], wire: str) -> None:  # noqa: F811
    server.script = [(200, {"schema": json.dumps({"type": "record", "name": "r", "fields": fields})})]
    decoded = decode(ORDERS, choice(server.url), bytes.fromhex("0000000001" + wire))
    assert [b.index for b in decoded.bad] == [0]
    assert "schema id 1" in decoded.bad[0].reason


# -- Debezium --------------------------------------------------------------------------------------------------------

INSERTED = (
    "0000000001" + "02000202d601020a726f636b73022a626f78206f66206173736f7274656420726f636b73023333333333331540020263"
)
DELETED = (
    "0000000001" + "020202d601020a726f636b73022a626f78206f66206173736f7274656420726f636b7302333333333333154000020264"
)
ROCKS = (107, "rocks", "box of assorted rocks", 5.3)


def test_debezium_bytes(server: Server) -> None:  # noqa: F811
    server.script = [(200, {"id": 1})]
    chosen = choice(server.url, name="debezium-avro-confluent")
    encoder = format_named("debezium-avro-confluent").encoder(PERSONS, chosen)
    kinds = pa.array(list(RowKind), pa.int8())
    payloads = encoder.encode(batch(PERSONS, [ROCKS] * 4), kinds).to_pylist()
    assert [p.hex() for p in payloads] == [INSERTED, DELETED, INSERTED, DELETED]
    assert encoder.encode(batch(PERSONS, [ROCKS])).to_pylist()[0].hex() == INSERTED
    registered = json.loads(server.asked[0][3]["schema"])
    assert registered[0] == "null"
    assert [f["name"] for f in registered[1]["fields"]] == ["before", "after", "op"]
    server.script = [(200, {"schema": json.dumps(registered)})]
    decoded = decode(PERSONS, chosen, *payloads)
    assert decoded.kinds is not None
    assert decoded.kinds.to_pylist() == [0, 3, 0, 3]
    assert same(decoded.rows, batch(PERSONS, [ROCKS] * 4))


VALUE = {"type": "record", "name": "Value", "fields": [
    {"name": "id", "type": "long"}, {"name": "name", "type": ["null", "string"], "default": None},
    {"name": "description", "type": ["null", "string"]}, {"name": "weight", "type": ["null", "double"]}]}  # fmt: skip
SOURCE = {"type": "record", "name": "Source", "fields": [
    {"name": "version", "type": "string"}, {"name": "connector", "type": "string"}, {"name": "name", "type": "string"},
    {"name": "ts_ms", "type": "long"}, {"name": "snapshot", "type": ["string", "null"], "default": "false"},
    {"name": "db", "type": "string"}, {"name": "table", "type": ["null", "string"]},
    {"name": "server_id", "type": "long"},
    {"name": "gtid", "type": ["null", "string"]}, {"name": "file", "type": "string"}, {"name": "pos", "type": "long"},
    {"name": "row", "type": "int"}, {"name": "thread", "type": ["null", "long"]},
    {"name": "query", "type": ["null", "string"]}]}  # fmt: skip
ENVELOPE = {"type": "record", "name": "Envelope", "namespace": "shop", "fields": [
    {"name": "before", "type": ["null", VALUE]}, {"name": "after", "type": ["null", "Value"]},
    {"name": "source", "type": SOURCE}, {"name": "op", "type": "string"}, {"name": "ts_ms", "type": ["null", "long"]},
    {"name": "transaction", "type": ["null", {"type": "record", "name": "Block", "fields": [
        {"name": "id", "type": "string"}]}]}]}  # fmt: skip
REAL_INSERT = (
    "000000005100020202086c697369022e7465737420646562657a69756d206176726f206461746102000000c0cccc354016312e322e322e46"
    "696e616c0a6d7973716c1866756c6c66696c6c6d656e7480ee8b838b5d000a66616c73650a7465737431020c706572736f6e0200206d7973"
    "716c2d62696e2e303030303035c68c1a0002040002630282f98b838b5d000a"
)


def event(op: str, before: Any, after: Any) -> bytes:
    import io

    import fastavro

    out = io.BytesIO(b"\0\0\0\0\x51")
    out.seek(5)
    source = dict.fromkeys((f["name"] for f in SOURCE["fields"]), "x") | {"ts_ms": 1, "server_id": 1, "pos": 1}  # type: ignore[index]
    datum = {"before": before, "after": after, "op": op, "ts_ms": 1, "source": source | {"row": 0, "thread": None}}
    fastavro.schemaless_writer(
        out, fastavro.parse_schema(json.loads(json.dumps(ENVELOPE))), datum | {"transaction": None}
    )
    return out.getvalue()


def person(name: str) -> dict[str, Any]:
    return {"id": 1, "name": name, "description": None, "weight": 2.5}


def test_messages_of_debezium_itself(server: Server) -> None:  # noqa: F811
    server.script = [(200, {"schema": json.dumps(ENVELOPE)})]
    decoded = decode(
        PERSONS,
        choice(server.url, name="debezium-avro-confluent"),
        bytes.fromhex(REAL_INSERT),
        b"",
        event("u", person("lisi"), person("zhangsan")),
        None,
        event("d", person("zhangsan"), None),
        event("r", None, person("new")),
    )
    assert not decoded.bad
    assert decoded.kinds is not None
    assert decoded.message is not None
    assert [RowKind(k).symbol for k in decoded.kinds.to_pylist()] == ["+I", "-U", "+U", "-D", "+I"]
    assert decoded.message.to_pylist() == [0, 2, 2, 4, 5]
    assert decoded.rows.column("name").to_pylist() == ["lisi", "lisi", "zhangsan", "zhangsan", "new"]
    assert decoded.rows.column("weight").to_pylist()[0] == 21.799999237060547


def test_events_that_are_bad(server: Server) -> None:  # noqa: F811
    server.script = [(200, {"schema": json.dumps(ENVELOPE)})]
    decoded = decode(
        PERSONS,
        choice(server.url, name="debezium-avro-confluent"),
        event("u", None, person("a")),
        event("d", None, None),
        event("t", None, None),
        event("c", None, None),
        event("c", None, person("ok")),
        b"\1garbage",
    )
    assert [b.index for b in decoded.bad] == [0, 1, 2, 3, 5]
    assert "REPLICA IDENTITY" in decoded.bad[0].reason
    assert decoded.rows.column("name").to_pylist() == ["ok"]


def test_a_given_schema_must_be_an_envelope() -> None:
    for schema, refused in ((schema_for(PERSONS), True), (_envelope_schema(), False)):
        chosen = choice("http://localhost:1", name="debezium-avro-confluent", schema=schema)
        if not refused:
            format_named("debezium-avro-confluent").validate(PERSONS, chosen)
            continue
        with pytest.raises(RowkindError) as caught:
            format_named("debezium-avro-confluent").validate(PERSONS, chosen)
        assert caught.value.condition == "AVRO_SCHEMA_MISMATCH"


def _envelope_schema() -> str:
    from rowkind.formats.cdc.debezium_avro import envelope

    return schema_text(derive(envelope(PERSONS), "t"))


# -- a real registry, with confluent-kafka's own serializers on the other side ---------------------------------------


@pytest.mark.kafka
class TestAvroConfluent(FormatSuite):
    name = "avro-confluent"
    types = (
        *("boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "wide decimal", "string"),
        *("char", "bytes", "date", "time", "array", "nested array", "map", "multiset", "row", "deep row"),
    )
    options: ClassVar[dict[str, Any]] = {}

    @pytest.fixture(autouse=True)
    def _registry(self, schema_registry: str) -> None:
        TestAvroConfluent.options = {"url": schema_registry, "subject": f"suite-{uuid4().hex}"}


@pytest.mark.kafka
class TestDebeziumAvroConfluent(TestAvroConfluent):
    name = "debezium-avro-confluent"

    def test_round_trip_of_every_type(self, sample: str) -> None:
        type, values = SAMPLES[sample]
        given, decoded = self.round_trip(self.columns_of(type), self.rows_of([*values, None]))
        assert not decoded.bad
        assert same(decoded.rows, given)


def confluent(schema_registry: str) -> Any:
    from confluent_kafka.schema_registry import SchemaRegistryClient

    return SchemaRegistryClient({"url": schema_registry})


@pytest.mark.kafka
def test_confluents_deserializer_reads_what_we_write(schema_registry: str) -> None:
    from confluent_kafka.schema_registry.avro import AvroDeserializer

    topic = f"ours-{uuid4().hex}"
    payloads = encode(ORDERS, choice(schema_registry, topic), (1, "ä", 1.5), (2, None, None))
    read = AvroDeserializer(confluent(schema_registry))
    assert [read(p, None) for p in payloads] == [
        {"id": 1, "name": "ä", "price": 1.5},
        {"id": 2, "name": None, "price": None},
    ]
    assert f"{topic}-value" in httpx.get(f"{schema_registry}/subjects").json()
    key = (Field("id", t.BIGINT.not_null()),)
    encode(key, choice(schema_registry, topic, key=True), (1,))
    assert f"{topic}-key" in httpx.get(f"{schema_registry}/subjects").json()


@pytest.mark.kafka
def test_we_read_what_confluents_serializer_writes(schema_registry: str) -> None:
    from confluent_kafka.schema_registry.avro import AvroSerializer
    from confluent_kafka.serialization import MessageField, SerializationContext

    topic = f"theirs-{uuid4().hex}"
    older = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"}]}
    added = {"name": "name", "type": ["null", "string"], "default": None}
    newer = {**older, "fields": [*older["fields"], added, {"name": "extra", "type": "int", "default": 0}]}
    payloads = []
    for schema, datum in ((older, {"id": 1}), (newer, {"id": 2, "name": "b", "extra": 5})):
        write = AvroSerializer(confluent(schema_registry), json.dumps(schema))
        payloads.append(write(datum, SerializationContext(topic, MessageField.VALUE)))
    decoded = decode(ORDERS, choice(schema_registry, topic), payloads[1], payloads[0], payloads[1])
    assert not decoded.bad
    assert [tuple(r.values()) for r in decoded.rows.to_pylist()] == [(2, "b", None), (1, None, None), (2, "b", None)]


@pytest.mark.kafka
def test_a_table_evolves_by_a_column(schema_registry: str) -> None:
    chosen = choice(schema_registry, f"evolve-{uuid4().hex}")
    wider = (*ORDERS, Field("note", t.STRING))
    old, new = encode(ORDERS, chosen, (1, "a", 1.0)), encode(wider, chosen, (2, "b", 2.0, "n"))
    assert old[0][:5] != new[0][:5]
    assert decode(wider, chosen, *old, *new).rows.column("note").to_pylist() == [None, "n"]
    assert decode(ORDERS, chosen, *old, *new).rows.column("id").to_pylist() == [1, 2]


@pytest.mark.kafka
def test_the_registry_refuses_an_incompatible_table(schema_registry: str) -> None:
    chosen = choice(schema_registry, f"refuse-{uuid4().hex}")
    encode(ORDERS, chosen, (1, "a", 1.0))
    subject = f"{chosen.context.topic}-value"
    httpx.put(f"{schema_registry}/config/{subject}", json={"compatibility": "BACKWARD"}).raise_for_status()
    with pytest.raises(RowkindError) as caught:
        encode((*ORDERS, Field("must", t.STRING.not_null())), chosen, (1, "a", 1.0, "x"))
    assert caught.value.condition == "REGISTRY_INCOMPATIBLE"
    assert subject in caught.value.message


@pytest.mark.kafka
def test_an_id_that_the_registry_does_not_have(schema_registry: str) -> None:
    decoded = decode(ORDERS, choice(schema_registry), bytes.fromhex("007fffffff02"))
    assert [b.index for b in decoded.bad] == [0]
    assert "2147483647" in decoded.bad[0].reason
