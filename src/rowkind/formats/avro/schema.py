"""Avro schemas: parsed, derived from a table's columns, and read back as SQL types."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rowkind import types as sql
from rowkind.errors import RowkindError
from rowkind.types import CHARACTERS, DataType, Root, map_members

NAMESPACE = "org.apache.flink.avro.generated"
RECORD = f"{NAMESPACE}.record"
PRIMITIVES = frozenset({"null", "boolean", "int", "long", "float", "double", "bytes", "string"})
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(slots=True, eq=False)
class AvroType:
    """One node of a schema. `kind` is a primitive, record, enum, fixed, array, map or union."""

    kind: str
    name: str = ""
    fields: list[AvroField] = field(default_factory=list)
    branches: list[AvroType] = field(default_factory=list)
    items: AvroType | None = None
    """The element of an array, the value of a map."""
    symbols: tuple[str, ...] = ()
    size: int = 0
    logical: str | None = None
    precision: int = 0
    scale: int = 0
    default: str | None = None
    """The symbol an enum falls back to."""

    @property
    def branch_name(self) -> str:
        """How a union names this branch in Avro's JSON encoding."""
        return self.name or self.kind


@dataclass(slots=True, eq=False)
class AvroField:
    """A field of a record. `default` is JSON, `required` means that there is none."""

    name: str
    type: AvroType
    default: Any = None
    required: bool = True
    aliases: tuple[str, ...] = ()


class SchemaError(ValueError):
    """A text that is not an Avro schema."""


def parse(text: str, before: Sequence[str] = ()) -> AvroType:
    """A schema from its JSON, or a bare name such as `string`; `before` are schemas whose names it may use."""
    names: dict[str, AvroType] = {}
    try:
        for other in before:
            _parse(_tree(other), "", names)
        return _parse(_tree(text), "", names)
    except RecursionError:
        raise SchemaError("the schema is nested too deeply") from None


def _tree(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text.strip()


def _parse(tree: Any, space: str, names: dict[str, AvroType]) -> AvroType:
    match tree:
        case str():
            return _named(tree, space, names)
        case list():
            return _union([_parse(branch, space, names) for branch in tree])
        case {"type": "record" | "error" | "enum" | "fixed"}:
            return _define(tree, space, names)
        case {"type": "array", "items": items}:
            return AvroType("array", items=_parse(items, space, names))
        case {"type": "map", "values": values}:
            return AvroType("map", items=_parse(values, space, names))
        case {"type": str(kind)} if kind in PRIMITIVES:
            return AvroType(kind, **_logical(tree))
        case {"type": inner}:
            return _parse(inner, space, names)
    raise SchemaError(f"{_short(tree)} is not an Avro schema")


def _union(branches: list[AvroType]) -> AvroType:
    """One branch of each name, and none that is a union itself."""
    names = [branch.branch_name for branch in branches]
    if "union" in names or len(set(names)) < len(names):
        raise SchemaError(f"a union of {', '.join(names)[:200]} names a type twice, or holds another union")
    return AvroType("union", branches=branches)


def _short(tree: Any) -> str:
    return repr(tree)[:200]


def _listed(tree: dict[str, Any], key: str, kind: type) -> list[Any]:
    found = tree.get(key, [])
    if not isinstance(found, list) or not all(isinstance(member, kind) for member in found):
        raise SchemaError(f"the {key} of {_short(tree)} are not a list of {kind.__name__}")
    return found


def _named(name: str, space: str, names: dict[str, AvroType]) -> AvroType:
    if name in PRIMITIVES:
        return AvroType(name)
    for candidate in (_full_name(name, space), name):
        if candidate in names:
            return names[candidate]
    raise SchemaError(f"the Avro type '{name}' is not defined")


def _full_name(name: str, space: str) -> str:
    return name if "." in name or not space else f"{space}.{name}"


def _define(tree: dict[str, Any], space: str, names: dict[str, AvroType]) -> AvroType:
    if not isinstance(tree.get("name"), str) or not isinstance(tree.get("namespace") or space, str):
        raise SchemaError(f"{_short(tree)} has no name")
    name = _full_name(tree["name"], tree.get("namespace") or space)
    if name in names:
        raise SchemaError(f"the Avro type '{name}' is defined twice")
    inner = name.rpartition(".")[0]
    kind = "record" if tree["type"] == "error" else tree["type"]
    found = names[name] = AvroType(kind, name, **_logical(tree))
    if kind == "fixed":
        found.size = _size(tree)
    elif kind == "enum":
        found.symbols, found.default = tuple(_listed(tree, "symbols", str)), tree.get("default")
    else:
        found.fields = [_field(member, inner, names) for member in _listed(tree, "fields", dict)]
    return found


def _size(tree: dict[str, Any]) -> int:
    size = tree.get("size", 0)
    if type(size) is not int or not 0 <= size < 1 << 31:
        raise SchemaError(f"{_short(tree)} has no size")
    return size


def _field(tree: dict[str, Any], space: str, names: dict[str, AvroType]) -> AvroField:
    if not isinstance(tree.get("name"), str) or "type" not in tree:
        raise SchemaError(f"{_short(tree)} is not a field with name and type")
    aliases = tuple(_listed(tree, "aliases", str))
    type = _parse(tree["type"], space, names)
    return AvroField(tree["name"], type, tree.get("default"), "default" not in tree, aliases)


def _logical(tree: dict[str, Any]) -> dict[str, Any]:
    """A logical type that makes no sense is left out, as Java's Avro does it: the type under it remains."""
    logical, precision, scale = tree.get("logicalType"), tree.get("precision", 0), tree.get("scale", 0)
    if not isinstance(logical, str) or type(precision) is not int or type(scale) is not int:
        return {}
    return {"logical": logical, "precision": precision, "scale": scale}


def derive(row: DataType, table: str, legacy: bool = True) -> Any:
    """The JSON tree of the schema that Flink derives from a row type."""
    return _Derivation(table).schema(row, RECORD, legacy, "")


def schema_text(tree: Any) -> str:
    """A schema as Java prints it, so that a registry knows it again."""
    return json.dumps(tree, separators=(",", ":"), ensure_ascii=False)


class _Derivation:
    def __init__(self, table: str) -> None:
        self.table = table
        self.names: set[str] = set()

    def schema(self, type: DataType, name: str, legacy: bool, column: str) -> Any:
        plain = self._plain(type, name, legacy, column)
        return ["null", plain] if type.nullable and plain != "null" else plain

    def _plain(self, type: DataType, name: str, legacy: bool, column: str) -> Any:
        match type.root:
            case Root.NULL:
                return "null"
            case Root.BOOLEAN:
                return "boolean"
            case Root.TINYINT | Root.SMALLINT | Root.INT:
                return "int"
            case Root.BIGINT:
                return "long"
            case Root.FLOAT | Root.DOUBLE:
                return str(type.root).lower()
            case Root.CHAR | Root.VARCHAR:
                return "string"
            case Root.BINARY | Root.VARBINARY:
                return "bytes"
            case Root.DECIMAL:
                return {"type": "bytes", "logicalType": "decimal", "precision": type.precision, "scale": type.scale}
            case Root.DATE:
                return {"type": "int", "logicalType": "date"}
            case Root.TIME if (type.precision or 0) <= 3:
                return {"type": "int", "logicalType": "time-millis"}
            case Root.TIMESTAMP | Root.TIMESTAMP_LTZ:
                return {"type": "long", "logicalType": self._timestamp(type, legacy, column)}
            case Root.ARRAY:
                assert type.element
                return {"type": "array", "items": self.schema(type.element, name, True, column)}
            case Root.MAP | Root.MULTISET:
                return {"type": "map", "values": self._map_value(type, name, column)}
            case Root.ROW:
                return self._record(type, name, legacy, column)
        raise self._refused(type, column)

    def _timestamp(self, type: DataType, legacy: bool, column: str) -> str:
        precision = type.precision or 0
        local = type.root is Root.TIMESTAMP
        if (legacy and not local) or precision > (3 if legacy else 6):
            raise self._refused(type, column)
        unit = "millis" if precision <= 3 else "micros"
        return f"timestamp-{unit}" if legacy or not local else f"local-timestamp-{unit}"

    def _map_value(self, type: DataType, name: str, column: str) -> Any:
        key, value = map_members(type)
        if key.root not in CHARACTERS:
            raise RowkindError("AVRO_MAP_KEY", table=self.table, column=column, type=key)
        # Flink's multiset counts are nullable in the schema.
        return self.schema(value.as_nullable() if type.root is Root.MULTISET else value, name, True, column)

    def _record(self, type: DataType, name: str, legacy: bool, column: str) -> Any:
        if name in self.names:
            raise RowkindError("AVRO_NAME_TAKEN", table=self.table, column=column, name=name)
        self.names.add(name)
        space, _, short = name.rpartition(".")
        fields = []
        for f in type.fields:
            path = f"{column}.{f.name}" if column else f.name
            if not _NAME.fullmatch(f.name):
                raise RowkindError("AVRO_ILLEGAL_NAME", table=self.table, column=path)
            schema = self.schema(f.type, f"{name}_{f.name}", legacy, path)
            fields.append({"name": f.name, "type": schema} | ({"default": None} if f.type.nullable else {}))
        top = {"namespace": space} if name == RECORD else {}
        return {"type": "record", "name": short, **top, "fields": fields}

    def _refused(self, type: DataType, column: str) -> RowkindError:
        return RowkindError("AVRO_UNSUPPORTED_TYPE", table=self.table, column=column, type=type)


_LOGICAL: dict[tuple[str, str], DataType] = {
    ("int", "date"): sql.DATE,
    ("int", "time-millis"): sql.time(3),
    ("long", "time-micros"): sql.time(6),
    ("long", "timestamp-millis"): sql.timestamp(3),
    ("long", "timestamp-micros"): sql.timestamp(6),
}
_PLAIN = {
    "null": sql.NULL,
    "boolean": sql.BOOLEAN,
    "int": sql.INT,
    "long": sql.BIGINT,
    "float": sql.FLOAT,
    "double": sql.DOUBLE,
    "bytes": sql.BYTES,
    "string": sql.STRING,
    "enum": sql.STRING,
}


def sql_type(schema: AvroType) -> DataType:
    """The SQL type of a schema that a user gave, by the legacy timestamp mapping."""
    match schema.kind:
        case "record":
            return sql.row(*((f.name, sql_type(f.type)) for f in schema.fields)).not_null()
        case "array":
            assert schema.items
            return sql.array(sql_type(schema.items)).not_null()
        case "map":
            assert schema.items
            return sql.map_of(sql.STRING.not_null(), sql_type(schema.items)).not_null()
        case "union":
            return _union_type(schema)
        case "bytes" | "fixed" if schema.logical == "decimal":
            return sql.decimal(schema.precision, schema.scale).not_null()
        case "fixed":
            return DataType(Root.VARBINARY, nullable=False, length=schema.size)
        case "null":
            return sql.NULL
    return _LOGICAL.get((schema.kind, schema.logical or ""), _PLAIN[schema.kind]).not_null()


def _union_type(schema: AvroType) -> DataType:
    others = [b for b in schema.branches if b.kind != "null"]
    if len(others) != 1 or len(schema.branches) > 2:
        raise SchemaError("a union of several types has no SQL type")
    inner = sql_type(others[0])
    return inner.as_nullable() if len(schema.branches) == 2 else inner
