"""avro: the vectorised path says what the exact one says, and both say what fastavro says."""

from __future__ import annotations

import io
from decimal import Decimal
from typing import Any

import fastavro
import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from rowkind import types as t
from rowkind.formats.avro.decode import _row, read_datums
from rowkind.formats.avro.format import AvroDecoder, AvroEncoder
from rowkind.formats.avro.resolve import resolve
from rowkind.formats.avro.schema import derive, parse, schema_text
from rowkind.formats.row_schema import decoded_schema
from rowkind.formats.ticks import ticks
from rowkind.types import DataType, Field, Root, map_members
from tests.formats.suite import batch, same
from tests.formats.test_csv_property import values_of as simple_values

LEAVES = [
    *(t.BOOLEAN, t.TINYINT, t.SMALLINT, t.INT, t.BIGINT, t.FLOAT, t.DOUBLE, t.STRING, t.BYTES, t.DATE, t.time(3)),
    *(t.timestamp(3), t.decimal(5, 2), t.decimal(18, 0), t.decimal(20, 5), t.decimal(38, 10), t.NULL),
]
leaves = st.tuples(st.sampled_from(LEAVES), st.booleans()).map(
    lambda c: c[0] if c[1] or c[0].root is Root.NULL else c[0].not_null()
)


def _nested(inner: st.SearchStrategy[DataType]) -> st.SearchStrategy[DataType]:
    return st.one_of(
        inner.map(t.array),
        inner.map(lambda e: t.map_of(t.STRING.not_null(), e)),
        st.lists(inner, min_size=1, max_size=3).map(lambda types: t.row(*((f"m{i}", x) for i, x in enumerate(types)))),
    ).flatmap(lambda type: st.sampled_from([type, type.not_null()]))


# pyarrow builds a null struct with a member of the NULL type too short.
types = leaves | st.recursive(leaves.filter(lambda x: x.root is not Root.NULL), _nested, max_leaves=4)
tables = st.lists(types, min_size=1, max_size=5).map(lambda ts: tuple(Field(f"f{i}", x) for i, x in enumerate(ts)))


def values_of(type: DataType) -> st.SearchStrategy[Any]:
    match type.root:
        case Root.ARRAY:
            assert type.element
            values: st.SearchStrategy[Any] = st.lists(values_of(type.element), max_size=4)
        case Root.MAP:
            values = st.dictionaries(st.text(max_size=3), values_of(map_members(type)[1]), max_size=3).map(
                lambda d: list(d.items())
            )
        case Root.ROW:
            values = st.fixed_dictionaries({f.name: values_of(f.type) for f in type.fields})
        case Root.TIMESTAMP:
            values = st.integers(-(10**15), 10**15).map(lambda ms: ms * 1000)
        case Root.NULL:
            return st.none()
        case Root.FLOAT | Root.DOUBLE:
            # NaN inside a list never equals itself; plain columns of NaN are in the suite.
            values = st.floats(width=32 if type.root is Root.FLOAT else 64, allow_nan=False)
        case _:
            values = simple_values(type).filter(lambda v: v is not None)
    return st.none() | values if type.nullable else values


def raw(value: Any, type: DataType) -> Any:
    """A value of `ticks` as fastavro takes it for a schema without logical types."""
    match type.root:
        case _ if value is None:
            return None
        case Root.TIME:
            return value // 1_000_000
        case Root.TIMESTAMP:
            return value // 1000
        case Root.DECIMAL:
            unscaled = int(value.scaleb(type.scale or 0, _context()))
            return unscaled.to_bytes((8 + (unscaled + (unscaled < 0)).bit_length()) // 8, "big", signed=True)
        case Root.ARRAY:
            assert type.element
            return [raw(v, type.element) for v in value]
        case Root.MAP:
            return {k: raw(v, map_members(type)[1]) for k, v in value}
        case Root.ROW:
            return {f.name: raw(v, f.type) for f, v in zip(type.fields, value, strict=True)}
        case _:
            return value


def _context() -> Any:
    from decimal import Context

    return Context(prec=50)


def bare(tree: Any) -> Any:
    """A schema without its logical types."""
    if isinstance(tree, list):
        return [bare(x) for x in tree]
    if isinstance(tree, dict):
        return {k: bare(v) for k, v in tree.items() if k not in ("logicalType", "precision", "scale")}
    return tree


def written(tree: Any, datum: Any) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(bare(tree)), datum)
    return out.getvalue()


def exact(node: Any, schema: pa.Schema, payloads: list[bytes], skip: int = 0) -> tuple[pa.RecordBatch, list[int]]:
    """Rows read one by one, and the indices of those that cannot be read."""
    rows, bad = [], []
    for i, payload in enumerate(payloads):
        try:
            rows.append(_row(node, payload, skip))
        except ValueError:
            bad.append(i)
    columns = [pa.array([r[i] for r in rows], type) for i, type in enumerate(schema.types)]
    return pa.RecordBatch.from_arrays(columns, schema=schema), bad


@given(tables, st.data())
def test_written_as_fastavro_writes_and_read_back_both_ways(columns: tuple[Field, ...], data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.tuples(*(values_of(c.type) for c in columns)), min_size=1, max_size=6))
    given_rows = batch(columns, rows)
    tree = derive(t.row(*columns).not_null(), "t")
    schema = parse(schema_text(tree))
    encoded = AvroEncoder(columns, schema, "t").encode(given_rows)
    cells = [ticks(c, f.type) for c, f in zip(given_rows.columns, columns, strict=True)]
    datums = [{c.name: raw(v, c.type) for c, v in zip(columns, row, strict=True)} for row in zip(*cells, strict=True)]
    assert encoded.to_pylist() == [written(tree, d) for d in datums]
    decoder = AvroDecoder(columns, schema)
    decoded = decoder.decode(encoded)
    assert not decoded.bad
    assert same(decoded.rows, given_rows)
    one_by_one, bad = exact(decoder.node, decoder.schema, encoded.to_pylist())
    assert not bad
    assert same(one_by_one, given_rows)


@settings(max_examples=50)
@given(tables, st.lists(st.binary(max_size=24), min_size=1, max_size=12))
def test_random_bytes_are_read_the_same_both_ways(columns: tuple[Field, ...], payloads: list[bytes]) -> None:
    schema = parse(schema_text(derive(t.row(*columns).not_null(), "t")))
    decoder = AvroDecoder(columns, schema)
    decoded = decoder.decode(pa.array(payloads, pa.binary()))
    one_by_one, bad = exact(decoder.node, decoder.schema, payloads)
    assert [b.index for b in decoded.bad] == bad
    assert same(decoded.rows, one_by_one)


PROMOTED = {"int": ["long", "float", "double"], "long": ["float", "double"], "float": ["double"], "string": ["bytes"]}
SQL = {"int": t.INT, "long": t.BIGINT, "float": t.FLOAT, "double": t.DOUBLE, "string": t.STRING, "bytes": t.BYTES}
SAMPLES: dict[str, st.SearchStrategy[Any]] = {
    "int": st.integers(-(2**31), 2**31 - 1),
    "long": st.integers(-(2**63), 2**63 - 1),
    "float": st.floats(width=32),
    "double": st.floats(),
    "string": st.text(max_size=20),
    "bytes": st.binary(max_size=20),
}


def promoted(value: Any, target: str) -> Any:
    if value is None:
        return None
    if target == "float":
        return float(np.float32(value))
    if target == "double":
        return float(value)
    if target == "bytes" and isinstance(value, str):
        return value.encode()
    return value


@st.composite
def evolved(draw: st.DrawFn) -> tuple[list[Any], tuple[Field, ...], list[dict[str, Any]]]:
    """A writer's fields, a reader's columns (fewer, more, other order, wider, nullable), and datums of the writer."""
    kinds = draw(st.lists(st.sampled_from(sorted(SAMPLES)), min_size=1, max_size=6))
    nullable = [draw(st.booleans()) for _ in kinds]
    fields = [
        {"name": f"w{i}", "type": draw(st.sampled_from([["null", k], [k, "null"]])) if n else k}
        for i, (k, n) in enumerate(zip(kinds, nullable, strict=True))
    ]
    columns = []
    for i in draw(st.permutations(range(len(kinds)))):
        if draw(st.booleans()):
            kind = draw(st.sampled_from([kinds[i], *PROMOTED.get(kinds[i], [])]))
            type = SQL[kind]
            columns.append(Field(f"w{i}", type if nullable[i] or draw(st.booleans()) else type.not_null()))
    columns.append(Field("added", t.STRING))
    datum = st.fixed_dictionaries(
        {
            f"w{i}": st.none() | SAMPLES[k] if n else SAMPLES[k]
            for i, (k, n) in enumerate(zip(kinds, nullable, strict=True))
        }
    )
    return fields, tuple(columns), draw(st.lists(datum, min_size=1, max_size=8))


@given(evolved())
def test_a_writers_schema_is_read_as_the_tables(
    case: tuple[list[Any], tuple[Field, ...], list[dict[str, Any]]],
) -> None:
    fields, columns, datums = case
    tree = {"type": "record", "name": "other.name", "fields": fields}
    reader = derive(t.row(*columns).not_null(), "t")
    node = resolve(parse(schema_text(tree)), parse(schema_text(reader)), t.row(*columns).not_null())
    schema = decoded_schema(columns)
    payloads = [b"12345" + written(tree, d) for d in datums]
    rows, message, bad = read_datums(node, schema, pa.array(payloads, pa.binary()), np.arange(len(payloads)), 5)
    assert not bad
    assert message.tolist() == list(range(len(payloads)))
    targets = {c.name: next(k for k, s in SQL.items() if s.root is c.type.root) for c in columns}
    expected = [tuple(promoted(d.get(c.name), targets[c.name]) for c in columns) for d in datums]
    assert same(rows, batch(columns, expected))
    one_by_one, failed = exact(node, schema, payloads, 5)
    assert not failed
    assert same(one_by_one, rows)


def test_a_whole_chunk_and_more() -> None:
    columns = (Field("id", t.INT), Field("s", t.STRING), Field("d", t.decimal(9, 2)))
    rows: list[tuple[Any, ...]] = [(i, f"value {i}", Decimal(i) / 4) for i in range(40_000)]
    schema = parse(schema_text(derive(t.row(*columns).not_null(), "t")))
    encoded = AvroEncoder(columns, schema, "t").encode(batch(columns, rows))
    assert same(AvroDecoder(columns, schema).decode(encoded).rows, batch(columns, rows))
