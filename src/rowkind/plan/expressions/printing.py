"""Values as text, as Flink's CAST to STRING writes them."""

from __future__ import annotations

from collections.abc import Callable

from rowkind.plan.expressions.typed import once
from rowkind.types import DataType, Root, map_members, quote


def printed(sql: str, type: DataType) -> str:
    """Spark SQL for the text of a value; NULL stays NULL."""
    printer = _PRINTERS.get(type.root, _plain)
    return once(sql, lambda value: printer(value, type)) if printer in _REPEATING else printer(sql, type)


def _plain(sql: str, type: DataType) -> str:
    return f"CAST({sql} AS STRING)"


def _same(sql: str, type: DataType) -> str:
    return sql


def _bytes(sql: str, type: DataType) -> str:
    """Read as UTF-8, with U+FFFD for what is not; Spark's cast would take any bytes for text."""
    return f"decode({sql}, 'UTF-8')"


def _boolean(sql: str, type: DataType) -> str:
    return f"upper(CAST({sql} AS STRING))"


def _timestamp(sql: str, type: DataType) -> str:
    """Always as many digits of fraction as the type has; Spark leaves out zeros at the end."""
    plain = f"CAST({sql} AS STRING)"
    if not type.precision:
        return f"left({plain}, 19)"
    point = f"IF(extract(SECOND FROM {sql}) % 1 = 0, '.', '')"
    return f"rpad({plain} || {point}, {20 + type.precision}, '0')"


def _time(sql: str, type: DataType) -> str:
    plain = f"CAST({sql} AS STRING)"
    if not type.precision:
        return f"left({plain}, 8)"
    point = f"IF(extract(SECOND FROM {sql}) % 1 = 0, '.', '')"
    return f"rpad({plain} || {point}, {9 + type.precision}, '0')"


def _day_time(sql: str, type: DataType) -> str:
    """`+1 02:03:04.567`."""
    day, hour, minute = (f"CAST(abs(extract({unit} FROM {sql})) AS STRING)" for unit in ("DAY", "HOUR", "MINUTE"))
    second = f"CAST(CAST(abs(extract(SECOND FROM {sql})) AS DECIMAL(5, 3)) AS STRING)"
    sign = f"IF({sql} < INTERVAL '0' SECOND, '-', '+')"
    return f"concat({sign}, {day}, ' ', lpad({hour}, 2, '0'), ':', lpad({minute}, 2, '0'), ':', lpad({second}, 6, '0'))"


def _year_month(sql: str, type: DataType) -> str:
    """`+1-02`, from a number of months."""
    months = f"lpad(CAST(abs({sql}) % 12 AS STRING), 2, '0')"
    return f"concat(IF({sql} < 0, '-', '+'), CAST(abs({sql}) DIV 12 AS STRING), '-', {months})"


def _array(sql: str, type: DataType) -> str:
    assert type.element
    name = variable(type)
    return f"concat('[', array_join(transform({sql}, {name} -> {printed(name, type.element)}), ', ', 'NULL'), ']')"


def _map(sql: str, type: DataType) -> str:
    key, value = map_members(type)
    name = variable(type)
    entry = f"concat({_or_null(f'{name}.key', key)}, '=', {_or_null(f'{name}.value', value)})"
    return f"concat('{{', array_join(transform(map_entries({sql}), {name} -> {entry}), ', '), '}}')"


def _row(sql: str, type: DataType) -> str:
    fields = ", ".join(_or_null(f"{sql}.{quote(f.name)}", f.type) for f in type.fields)
    return f"IF({sql} IS NULL, NULL, concat('(', concat_ws(', ', {fields}), ')'))"


def _or_null(sql: str, type: DataType) -> str:
    return f"coalesce({printed(sql, type)}, 'NULL')"


def variable(type: DataType) -> str:
    """A lambda's variable; the deeper a type is nested, the smaller its number, so that no two meet."""
    return f"__v{_height(type)}"


def _height(type: DataType) -> int:
    inner = [x for x in (type.key, type.element) if x] + [f.type for f in type.fields]
    return 1 + max((_height(i) for i in inner), default=0)


_PRINTERS: dict[Root, Callable[[str, DataType], str]] = {
    Root.CHAR: _same,
    Root.VARCHAR: _same,
    Root.BINARY: _bytes,
    Root.VARBINARY: _bytes,
    Root.BOOLEAN: _boolean,
    Root.TIMESTAMP: _timestamp,
    Root.TIMESTAMP_LTZ: _timestamp,
    Root.TIME: _time,
    Root.INTERVAL_DAY_TIME: _day_time,
    Root.INTERVAL_YEAR_MONTH: _year_month,
    Root.ARRAY: _array,
    Root.MAP: _map,
    Root.MULTISET: _map,
    Root.ROW: _row,
}

_REPEATING = frozenset({_timestamp, _time, _day_time, _year_month, _row})
"""Those that look at the value more than once."""
