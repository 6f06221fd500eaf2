"""Avro's own JSON encoding: unions name their branch, bytes are Latin-1 text, dates and times are numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from typing import Any

import pyarrow as pa

from rowkind.errors import RowkindError
from rowkind.formats.avro.encode import TICKS
from rowkind.formats.avro.finish import finish
from rowkind.formats.avro.schema import AvroType
from rowkind.formats.contract import BadMessage, Decoded
from rowkind.formats.json.exact_encode import JsonWriting, quoted
from rowkind.formats.json.exact_encode import text_of as text_writer
from rowkind.formats.json.tree import Int, Members, Real, parse, room_for, text_of
from rowkind.formats.row_schema import decoded_schema, relaxed
from rowkind.formats.text import double, single
from rowkind.formats.ticks import ticks
from rowkind.types import DataType, Field, map_members, row

Read = Callable[[Any], Any]
Write = Callable[[Any], str]
_EXACT = Context(prec=40)


class AvroJsonDecoder:
    """JSON datums to rows, value by value."""

    def __init__(self, columns: Sequence[Field], schema: AvroType) -> None:
        self.schema = decoded_schema(columns)
        self.read = reader(schema, relaxed(row(*columns)))

    def decode(self, payloads: pa.BinaryArray) -> Decoded:
        rows: list[dict[str, Any]] = []
        message: list[int] = []
        bad: list[BadMessage] = []
        for i, payload in enumerate(payloads.to_pylist()):
            if payload is None:
                continue
            try:
                text = text_of(payload)
                with room_for(text):
                    rows.append(self.read(parse(text)))
                message.append(i)
            except ValueError as e:
                bad.append(BadMessage(i, str(e)))
        columns = [pa.array([r[f.name] for r in rows], f.type) for f in self.schema]
        batch = pa.RecordBatch.from_arrays(columns, schema=self.schema)
        return Decoded(batch, None if len(rows) == len(payloads) else pa.array(message, pa.int32()), None, tuple(bad))


def reader(schema: AvroType, type: DataType) -> Read:
    """From a JSON tree to a column's value; ValueError where Java's decoder fails."""
    match schema.kind:
        case "union":
            return _union(schema, type)
        case "record":
            return _record(schema, type)
        case "array":
            assert schema.items
            assert type.element
            item = reader(schema.items, type.element)
            return lambda tree: [item(t) for t in _expect(tree, list, "array")]
        case "map":
            assert schema.items
            value = reader(schema.items, map_members(type)[1])
            return lambda tree: list({_text(k): value(t) for k, t in _expect(tree, Members, "map")}.items())
        case "null":
            return lambda tree: _expect(tree, _Nothing, "null")
        case "boolean":
            return lambda tree: _expect(tree, bool, "boolean")
        case "int" | "long":
            convert, bits = finish(type).value, 31 if schema.kind == "int" else 63
            return lambda tree: convert(_whole(tree, bits))
        case "float" | "double":
            parse_number = single if schema.kind == "float" else double
            return lambda tree: parse_number(str(_expect(tree, (Int, Real), schema.kind)))
        case "string":
            return lambda tree: _text(_expect(tree, str, "string"))
        case _:
            to_value = finish(type).value
            return lambda tree: to_value(_expect(tree, str, "bytes").encode("iso-8859-1", "replace"))


_Nothing = type(None)


def _expect(tree: Any, kinds: Any, name: str) -> Any:
    fits = isinstance(tree, kinds) and (kinds is not str or not isinstance(tree, (Int, Real)))
    if not fits or (kinds is list and isinstance(tree, Members)):
        raise ValueError(f"expected {name}, got {str(tree)[:80]!r}")
    return tree


def _whole(tree: Any, bits: int) -> int:
    number = _expect(tree, (Int, Real), "a number")
    value = int(number) if isinstance(number, Int) else double(str(number))
    if not -(1 << bits) <= value < 1 << bits:
        raise ValueError(f"{number[:80]} is out of range")
    return int(value)


def _text(tree: str) -> str:
    """Half of a surrogate pair, which JSON can escape, becomes Java's question mark."""
    return tree if tree.isascii() else tree.encode("utf-8", "replace").decode()


def _union(schema: AvroType, type: DataType) -> Read:
    branches = {b.branch_name: reader(b, type) for b in schema.branches}

    def read(tree: Any) -> Any:
        if tree is None:
            name, inner = "null", None
        else:
            members = _expect(tree, Members, "a union")
            name, inner = members[0] if members else ("", None)
        if name not in branches:
            raise ValueError(f"unknown union branch '{name}'")
        return branches[name](inner)

    return read


def _record(schema: AvroType, type: DataType) -> Read:
    fields = [(f.name, reader(f.type, t.type)) for f, t in zip(schema.fields, type.fields, strict=True)]

    def read(tree: Any) -> Any:
        """Fields in any order; one that the schema lacks is an error unless it comes after all others."""
        members = iter(_expect(tree, Members, "a record"))
        early: dict[str, Any] = {}
        values = {}
        for name, convert in fields:
            while name not in early:
                other = next(members, None)
                if other is None:
                    raise ValueError(f"expected field '{name}', which is not there")
                early[other[0]] = other[1]
            values[name] = convert(early.pop(name))
        if early:
            raise ValueError(f"unknown fields: {', '.join(early)}")
        return values

    return read


class AvroJsonEncoder:
    """Rows to JSON datums, value by value."""

    def __init__(self, columns: Sequence[Field], schema: AvroType, table: str) -> None:
        self.columns = tuple(columns)
        self.write = Writing(table).record(schema, row(*columns), "")

    def encode(self, rows: pa.RecordBatch, kinds: pa.Int8Array | None = None) -> pa.BinaryArray:
        cells = [ticks(rows.column(i), c.type) for i, c in enumerate(self.columns)]
        return pa.array([self.write(values).encode() for values in zip(*cells, strict=True)], pa.binary())


class Writing:
    """Writers of JSON text for each part of a schema; errors name the table and the column."""

    def __init__(self, table: str) -> None:
        self.table = table

    def part(self, schema: AvroType, type: DataType, name: str) -> Write:
        if schema.kind == "union":
            branch = next(b for b in schema.branches if b.kind != "null")
            inner, label = self._value(branch, type, name), quoted(branch.branch_name)
            return lambda value: "null" if value is None else f"{{{label}:{inner(value)}}}"
        write = self._value(schema, type, name)

        def required(value: Any) -> str:
            if value is None and schema.kind != "null":
                raise RowkindError("AVRO_NULL_VALUE", table=self.table, column=name)
            return write(value)

        return required

    def _value(self, schema: AvroType, type: DataType, name: str) -> Write:
        match schema.kind:
            case "null":
                return lambda value: "null"
            case "boolean":
                return lambda value: "true" if value else "false"
            case "int" | "long":
                unit = TICKS.get(type.root, 1)
                return lambda value: str(value // unit)
            case "float" | "double" | "string":
                return text_writer(type, JsonWriting())
            case "array":
                assert schema.items
                assert type.element
                item = self.part(schema.items, type.element, f"{name} element")
                return lambda value: f"[{','.join(map(item, value))}]"
            case "map":
                assert schema.items
                member = self.part(schema.items, map_members(type)[1], f"{name} value")
                return lambda value: "{" + ",".join(f"{quoted(k)}:{member(v)}" for k, v in value) + "}"
            case "record":
                return self.record(schema, type, name)
            case _:
                return lambda value: quoted(_bytes(value).decode("iso-8859-1"))

    def record(self, schema: AvroType, type: DataType, name: str) -> Write:
        members = [
            (f"{quoted(f.name)}:", self.part(f.type, t.type, f"{name}.{f.name}" if name else f.name))
            for f, t in zip(schema.fields, type.fields, strict=True)
        ]
        return lambda row: "{" + ",".join(n + write(v) for (n, write), v in zip(members, row, strict=True)) + "}"


def _bytes(value: bytes | Decimal) -> bytes:
    if isinstance(value, bytes):
        return value
    unscaled = int(value.scaleb(-int(value.as_tuple().exponent), _EXACT))
    return unscaled.to_bytes((8 + (unscaled + (unscaled < 0)).bit_length()) // 8, "big", signed=True)
