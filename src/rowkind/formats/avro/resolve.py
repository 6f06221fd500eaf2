"""A writer's schema matched with a reader's, by the rules of Java's Avro: the plan of reading one as the other.

Fields go by name, what the reader lacks is skipped, what the writer lacks has the reader's default; numbers widen,
strings and bytes are the same; names of records do not matter.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from rowkind.formats.avro.finish import finish
from rowkind.formats.avro.readers import (
    Blocks,
    Boolean,
    Bytes,
    Enum,
    Finish,
    Floating,
    Integer,
    Mismatch,
    Node,
    Nothing,
)
from rowkind.formats.avro.readers import Record as RecordNode
from rowkind.formats.avro.readers import Union as UnionNode
from rowkind.formats.avro.schema import AvroField, AvroType
from rowkind.formats.row_schema import relaxed
from rowkind.types import DataType, Root, arrow_type, map_members

_WIDER = {
    "int": {"int", "long", "float", "double"},
    "long": {"long", "float", "double"},
    "float": {"float", "double"},
    "double": {"double"},
    "string": {"string", "bytes"},
    "bytes": {"string", "bytes"},
    "boolean": {"boolean"},
}


def resolve(writer: AvroType, reader: AvroType, type: DataType) -> Node:
    """How to read what `writer` describes as `reader` does, into columns of this type."""
    type = relaxed(type)
    if writer.kind == "union":
        return UnionNode([resolve(branch, reader, type) for branch in writer.branches], arrow_type(type))
    if reader.kind == "union":
        return _as_union(writer, reader, type)
    if writer.kind == reader.kind == "null":
        return Nothing(arrow_type(type))
    if reader.kind in _WIDER.get(writer.kind, ()):
        return _leaf(writer, None if type.root is Root.NULL else finish(type))
    if writer.kind != reader.kind:
        return _mismatch(writer, reader, type)
    match writer.kind:
        case "record":
            return _record(writer, reader, type)
        case "array":
            assert writer.items
            assert reader.items
            assert type.element
            return Blocks(resolve(writer.items, reader.items, type.element), arrow_type(type), _smallest(writer.items))
        case "map":
            return _map(writer, reader, type)
        case "enum" if writer.name == reader.name:
            known = {s: s for s in reader.symbols}
            return Enum(tuple(known.get(s, reader.default) for s in writer.symbols), True)
        case "fixed" if writer.name == reader.name and writer.size == reader.size:
            return Bytes(writer.size, finish(type))
    return _mismatch(writer, reader, type)


def _mismatch(writer: AvroType, reader: AvroType, type: DataType) -> Mismatch:
    return Mismatch(arrow_type(type), f"the writer's {writer.branch_name} cannot be read as {reader.branch_name}")


def _as_union(writer: AvroType, reader: AvroType, type: DataType) -> Node:
    others = [b for b in reader.branches if b.kind != "null"]
    if writer.kind == "null":
        nullable = len(others) < len(reader.branches)
        return Nothing(arrow_type(type)) if nullable else _mismatch(writer, reader, type)
    return resolve(writer, others[0], type) if others else _mismatch(writer, reader, type)


def _leaf(writer: AvroType, wanted: Finish | None) -> Node:
    match writer.kind:
        case "boolean":
            return Boolean(wanted)
        case "int" | "long":
            return Integer(32 if writer.kind == "int" else 64, wanted)
        case "float" | "double":
            return Floating("<f4" if writer.kind == "float" else "<f8", wanted)
        case _:
            return Bytes(None, wanted)


def _record(writer: AvroType, reader: AvroType, type: DataType) -> Node:
    arrow = arrow_type(type)
    node = RecordNode(type=arrow)
    places: dict[str, int] = {}
    for place, wanted in enumerate(reader.fields):
        name = _written_as(wanted, writer)
        if name is not None:
            places[name] = place
        elif wanted.required:
            reason = f"the writer's {writer.name} has no field '{wanted.name}', which is NOT NULL and has no default"
            return Mismatch(arrow, reason)
        else:
            default = default_value(wanted.type, type.fields[place].type, wanted.default)
            node.missing.append((place, default))
    for f in writer.fields:
        target = places.get(f.name)
        if target is None:
            node.parts.append((skip(f.type, {}), None))
        else:
            node.parts.append((resolve(f.type, reader.fields[target].type, type.fields[target].type), target))
    return node


def _written_as(wanted: AvroField, writer: AvroType) -> str | None:
    names = {f.name for f in writer.fields}
    return next((name for name in (wanted.name, *wanted.aliases) if name in names), None)


def _map(writer: AvroType, reader: AvroType, type: DataType) -> Node:
    assert writer.items
    assert reader.items
    key, value = map_members(type)
    members = pa.struct([pa.field("key", pa.string(), False), pa.field("value", arrow_type(relaxed(value)))])
    pair = RecordNode([(Bytes(None, finish(key)), 0), (resolve(writer.items, reader.items, value), 1)], [], members)
    return Blocks(pair, arrow_type(type), 1 + _smallest(writer.items))


def skip(writer: AvroType, seen: dict[int, Node]) -> Node:
    """How to pass over what `writer` describes; a recursive type refers back to its own plan."""
    if id(writer) in seen:
        return seen[id(writer)]
    match writer.kind:
        case "null":
            return Nothing(None)
        case "union":
            union = UnionNode()
            seen[id(writer)] = union
            union.branches = [skip(branch, seen) for branch in writer.branches]
            return union
        case "record":
            record = RecordNode()
            seen[id(writer)] = record
            record.parts = [(skip(f.type, seen), None) for f in writer.fields]
            return record
        case "array" | "map":
            assert writer.items
            inner = skip(writer.items, seen)
            if writer.kind == "map":
                inner = RecordNode([(Bytes(None, None), None), (inner, None)])
            return Blocks(inner, None, _smallest(writer.items) + (writer.kind == "map"))
        case "enum":
            return Enum(writer.symbols, False)
        case "fixed":
            return Bytes(writer.size, None)
        case _:
            return _leaf(writer, None)


def _smallest(schema: AvroType, seen: dict[int, int] | None = None) -> int:
    """The fewest bytes a value takes. A record is counted once, however many others hold it: a schema may double."""
    seen = {} if seen is None else seen
    match schema.kind:
        case "null":
            return 0
        case "float":
            return 4
        case "double":
            return 8
        case "fixed":
            return schema.size
        case "record":
            if id(schema) not in seen:
                seen[id(schema)] = 0  # inside of itself
                seen[id(schema)] = sum(_smallest(f.type, seen) for f in schema.fields)
            return seen[id(schema)]
        case _:
            return 1


def default_value(schema: AvroType, type: DataType, default: Any) -> Any:
    """A field's default, which is JSON, as a column's value; a union's default is of its first branch."""
    if default is None:
        return None
    match schema.kind:
        case "union":
            return default_value(schema.branches[0], type, default)
        case "record":
            members = zip(schema.fields, type.fields, strict=True)
            return {f.name: default_value(f.type, t.type, default.get(f.name, f.default)) for f, t in members}
        case "array":
            assert schema.items
            assert type.element
            return [default_value(schema.items, type.element, item) for item in default]
        case "map":
            assert schema.items
            _, value = map_members(type)
            return [(key, default_value(schema.items, value, item)) for key, item in default.items()]
        case "enum":
            return default
        case "bytes" | "fixed":
            return finish(type).value(default.encode("iso-8859-1"))
        case "string":
            return finish(type).value(default.encode())
        case _:
            return finish(type).value(default)
