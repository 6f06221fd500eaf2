"""Values as JSON text."""

from __future__ import annotations

from collections.abc import Callable

from rowkind import types as t
from rowkind.plan.expressions.instants import utc_clock
from rowkind.plan.expressions.printing import printed, variable
from rowkind.plan.expressions.typed import text
from rowkind.types import DataType, Root, map_members, quote


def rendered(sql: str, type: DataType) -> str:
    """A value as JSON text; NULL stays NULL."""
    return _RENDERERS.get(type.root, as_text)(sql, type)


def as_text(sql: str, type: DataType) -> str:
    return string(printed(sql, type), type)


def string(sql: str, type: DataType) -> str:
    """A JSON string: Spark writes one inside an array, so the brackets around it are cut off."""
    quoted = f"substring(to_json(array({sql})), 2, length(to_json(array({sql}))) - 2)"
    return f"IF({sql} IS NULL, NULL, {quoted})" if type.nullable else quoted


def _number(sql: str, type: DataType) -> str:
    return f"CAST({sql} AS STRING)"


def _timestamp(sql: str, type: DataType) -> str:
    """`2024-02-29T22:15:30.12`; an instant in UTC, with a Z."""
    local, zone = (utc_clock(sql), "Z") if type.root is Root.TIMESTAMP_LTZ else (sql, "")
    return f"concat('\"', replace(CAST({local} AS STRING), ' ', 'T'), '{zone}\"')"


def _bytes(sql: str, type: DataType) -> str:
    return f"concat('\"', base64({sql}), '\"')"


def _array(sql: str, type: DataType) -> str:
    assert type.element
    name = variable(type)
    return f"concat('[', array_join(transform({sql}, {name} -> {rendered(name, type.element)}), ',', 'null'), ']')"


def _map(sql: str, type: DataType) -> str:
    key, value = map_members(type)
    name = variable(type)
    entry = f"concat({as_text(f'{name}.key', key)}, ':', coalesce({rendered(f'{name}.value', value)}, 'null'))"
    return f"concat('{{', array_join(transform(map_entries({sql}), {name} -> {entry}), ','), '}}')"


def _row(sql: str, type: DataType) -> str:
    members = ", ".join(
        f"concat({_name(f.name)}, ':', coalesce({rendered(f'{sql}.{quote(f.name)}', f.type)}, 'null'))"
        for f in type.fields
    )
    return f"IF({sql} IS NULL, NULL, concat('{{', concat_ws(',', {members}), '}}'))"


def _name(name: str) -> str:
    return string(text(name), t.STRING.not_null())


_RENDERERS: dict[Root, Callable[[str, DataType], str]] = {
    **dict.fromkeys(t.CHARACTERS, string),
    **dict.fromkeys(t.NUMERICS, _number),
    **dict.fromkeys(t.BINARIES, _bytes),
    **dict.fromkeys(t.TIMESTAMPS, _timestamp),
    Root.BOOLEAN: _number,
    Root.ARRAY: _array,
    Root.MAP: _map,
    Root.MULTISET: _map,
    Root.ROW: _row,
}
