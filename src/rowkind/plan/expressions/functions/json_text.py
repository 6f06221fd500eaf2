"""Values as JSON text."""

from __future__ import annotations

from collections.abc import Callable

from rowkind import types as t
from rowkind.plan.expressions.instants import utc_clock
from rowkind.plan.expressions.printing import printed, variable
from rowkind.plan.expressions.typed import once, text
from rowkind.types import DataType, Root, map_members, quote

_SCIENTIFIC = r"^(-?)(\d)\.(\d+)E(-?\d+)$"


def rendered(sql: str, type: DataType) -> str:
    """A value as JSON text; NULL stays NULL."""
    return _RENDERERS.get(type.root, as_text)(sql, type)


def as_text(sql: str, type: DataType) -> str:
    return string(printed(sql, type), type)


def string(sql: str, type: DataType) -> str:
    """A JSON string: Spark writes one inside an array, so the brackets around it are cut off."""
    quoted = once(f"to_json(array({sql}))", lambda whole: f"substring({whole}, 2, length({whole}) - 2)")
    return f"IF({sql} IS NULL, NULL, {quoted})" if type.nullable else quoted


def _number(sql: str, type: DataType) -> str:
    return f"CAST({sql} AS STRING)"


def _approximate(sql: str, type: DataType) -> str:
    """A DOUBLE as Java's BigDecimal writes it: an exponent stays only where the digits do not reach the point. What is
    not a number is a text."""
    return once(f"CAST(CAST({sql} AS DOUBLE) AS STRING)", _as_big_decimal, always=True)


def _as_big_decimal(plain: str) -> str:
    sign, first, rest, exponent = (f"regexp_extract({plain}, {text(_SCIENTIFIC)}, {group})" for group in (1, 2, 3, 4))
    power = f"TRY_CAST({exponent} AS INT)"
    digits = f"concat({first}, {rest})"
    small = f"concat({sign}, '0.', repeat('0', -{power} - 1), {digits})"
    shifted = f"concat({sign}, left({digits}, 1 + {power}), '.', substring({digits}, 2 + {power}))"
    cases = (
        f"WHEN {plain} IN ('NaN', 'Infinity', '-Infinity') THEN concat('\"', {plain}, '\"')",
        f"WHEN {plain} = '-0.0' THEN '0.0'",
        f"WHEN NOT {plain} RLIKE {text(_SCIENTIFIC)} OR {power} < -6 THEN {plain}",
        f"WHEN {power} < 0 THEN {small}",
        f"WHEN {power} > length({rest}) THEN replace({plain}, 'E', 'E+')",
        f"WHEN {power} = length({rest}) THEN concat({sign}, {digits})",
    )
    return f"CASE {' '.join(cases)} ELSE {shifted} END"


def _timestamp(sql: str, type: DataType) -> str:
    """`2024-02-29T22:15:30.12`; an instant in UTC, with a Z."""
    local, zone = (utc_clock(sql), "Z") if type.root is Root.TIMESTAMP_LTZ else (sql, "")
    return f"concat('\"', replace(CAST({local} AS STRING), ' ', 'T'), '{zone}\"')"


def _bytes(sql: str, type: DataType) -> str:
    return rf"concat('\"', replace(base64({sql}), '\r\n', ''), '\"')"


def _array(sql: str, type: DataType) -> str:
    assert type.element
    name = variable(type)
    return f"concat('[', array_join(transform({sql}, {name} -> {rendered(name, type.element)}), ',', 'null'), ']')"


def _map(sql: str, type: DataType) -> str:
    key, value = map_members(type)
    name = variable(type)
    entry = f"concat({as_text(f'{name}.key', key)}, ':', coalesce({rendered(f'{name}.value', value)}, 'null'))"
    return f"concat('{{', array_join(transform(array_sort(map_entries({sql})), {name} -> {entry}), ','), '}}')"


def _row(sql: str, type: DataType) -> str:
    members = ", ".join(
        f"concat({_name(f.name)}, ':', coalesce({rendered(f'{sql}.{quote(f.name)}', f.type)}, 'null'))"
        for f in sorted(type.fields, key=lambda f: f.name)
    )
    return f"IF({sql} IS NULL, NULL, concat('{{', concat_ws(',', {members}), '}}'))"


def _name(name: str) -> str:
    return string(text(name), t.STRING.not_null())


_RENDERERS: dict[Root, Callable[[str, DataType], str]] = {
    **dict.fromkeys(t.CHARACTERS, string),
    **dict.fromkeys(t.INTEGERS | {Root.DECIMAL}, _number),
    **dict.fromkeys((Root.FLOAT, Root.DOUBLE), _approximate),
    **dict.fromkeys(t.BINARIES, _bytes),
    **dict.fromkeys(t.TIMESTAMPS, _timestamp),
    Root.BOOLEAN: _number,
    Root.ARRAY: _array,
    Root.MAP: _map,
    Root.MULTISET: _map,
    Root.ROW: _row,
}
