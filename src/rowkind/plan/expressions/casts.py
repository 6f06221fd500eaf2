"""CAST, TRY_CAST and the conversions that operators and functions need, as Flink does them.

Where Flink lets a number silently wrap, saturate or become NULL because it does not fit, rowkind fails: wrong numbers
must not reach a topic. TRY_CAST gives NULL there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from rowkind import types as t
from rowkind.plan.expressions import reading
from rowkind.plan.expressions.cutting import cut
from rowkind.plan.expressions.printing import printed, variable
from rowkind.plan.expressions.scope import Scope, failure, rule
from rowkind.plan.expressions.typed import Typed, null_of, once, text
from rowkind.sql import type_of
from rowkind.types import MAX_LENGTH, DataType, Root, map_members, quote, spark_type


@rule(exp.Cast)
def _cast(scope: Scope, node: exp.Expr) -> Typed:
    target = type_of(node)
    if node.meta.get("literal"):
        return _literal(node.this.name, target)
    value = scope.translate(node.this)
    safe = isinstance(node, exp.TryCast)
    if not castable(value.type, target):
        raise failure("CAST_NOT_POSSIBLE", node, source=value.type, target=target)
    found = convert(value, target, safe=safe)
    if safe:
        return found.with_type(target.as_nullable())
    return found.with_type(replace(target, nullable=value.nullable))


def _literal(value: str, type: DataType) -> Typed:
    """DATE '…', TIME '…', TIMESTAMP '…'; the parser has checked them."""
    date, _, clock = value.rpartition(" ") if " " in value else ("", "", value)
    if type.root is Root.DATE:
        return Typed(f"DATE '{_padded(value)}'", type, constant=value)
    if type.root is Root.TIME:
        return Typed(f"TIME '{_padded(clock)}'", type, constant=value)
    return Typed(f"TIMESTAMP_NTZ '{_padded(date)} {_padded(clock)}'", type, constant=value)


def _padded(value: str) -> str:
    separator = "-" if "-" in value else ":"
    return separator.join(part if len(part) > 1 and part[1] != "." else "0" + part for part in value.split(separator))


def castable(source: DataType, target: DataType) -> bool:
    """Whether Flink allows the cast."""
    if Root.NULL in (source.root, target.root):
        return target.root is not Root.NULL
    if source.root in _NESTED or target.root in _NESTED:
        if target.root in t.CHARACTERS:
            return True
        return source.root is target.root and _members_castable(source, target)
    return target.root in _TARGETS.get(source.root, frozenset())


def _members_castable(source: DataType, target: DataType) -> bool:
    mine, others = _members(source), _members(target)
    return len(mine) == len(others) and all(castable(m, o) for m, o in zip(mine, others, strict=True))


def _members(type: DataType) -> list[DataType]:
    if type.root is Root.ROW:
        return [f.type for f in type.fields]
    return [m for m in (type.key, type.element) if m]


def convert(value: Typed, target: DataType, *, safe: bool = False) -> Typed:
    """The value in another type; with `safe`, NULL where it cannot be had. Keeps the value's nullability."""
    target = replace(target, nullable=value.nullable or safe)
    if value.is_null:
        return null_of(target)
    if _same(value.type, target):
        return value.with_type(target)
    return Typed(_converted(value.sql, value.type, target, safe), target)


def _same(source: DataType, target: DataType) -> bool:
    return source.as_nullable() == target.as_nullable()


def _converted(sql: str, source: DataType, target: DataType, safe: bool) -> str:
    cast = "TRY_CAST" if safe else "CAST"
    if _same(source, target):
        return sql
    if target.root in t.CHARACTERS:
        return _fitted(printed(sql, source), source, target)
    if source.root in t.CHARACTERS:
        return _FROM_TEXT.get(target.root, _plain)(sql, target, cast)
    if target.root in t.BINARIES:
        return _fitted_bytes(sql, source, target)
    if target.root in t.TIMESTAMPS:
        return _to_timestamp(sql, source, target)
    if target.root is Root.TIME:
        return _to_time(sql, source, target)
    if target.root in _NESTED:
        return _NESTED[target.root](sql, source, target, safe)
    if source.root is Root.DECIMAL and target.root in t.INTEGERS:
        # Spark goes through a DOUBLE to anything shorter than BIGINT, which rounds 99.999999999999999999 up.
        sql = f"{cast}({sql} AS BIGINT)"
    if source.root in (Root.FLOAT, Root.DOUBLE) and target.root is Root.DECIMAL and not safe:
        return once(sql, lambda value: _finite(value, target))
    return _plain(sql, target, cast)


def _finite(sql: str, target: DataType) -> str:
    """Spark gives NULL for NaN and infinity, also in a column that has none; as a text they fail."""
    strange = f"(isnan({sql}) OR abs({sql}) = CAST('Infinity' AS DOUBLE))"
    return f"IF({strange}, CAST(CAST({sql} AS STRING) AS {spark_type(target)}), CAST({sql} AS {spark_type(target)}))"


def _plain(sql: str, target: DataType, cast: str) -> str:
    return f"{cast}({sql} AS {spark_type(target)})"


def _fitted(sql: str, source: DataType, target: DataType) -> str:
    """CHAR(n) pads and cuts, VARCHAR(n) cuts."""
    if target.root is Root.CHAR:
        return f"rpad({sql}, {target.length}, ' ')"
    if target.length == MAX_LENGTH or (source.root in t.CHARACTERS and (source.length or 0) <= (target.length or 0)):
        return sql
    return f"left({sql}, {target.length})"


def _fitted_bytes(sql: str, source: DataType, target: DataType) -> str:
    if target.root is Root.BINARY:
        return f"rpad({sql}, {target.length}, X'00')"
    if (source.length or 0) <= (target.length or 0):
        return sql
    return f"substring({sql}, 1, {target.length})"


def _text_to_bytes(sql: str, target: DataType, cast: str) -> str:
    return _fitted_bytes(f"CAST({sql} AS BINARY)", t.BYTES, target)


def _to_timestamp(sql: str, source: DataType, target: DataType) -> str:
    if source.root is Root.TIME:
        ntz = f"make_timestamp_ntz(DATE '1970-01-01', {sql})"
        sql, source = ntz, t.timestamp(source.precision or 0)
    if source.root is not target.root:
        sql = f"CAST({sql} AS {spark_type(target)})"
    shorter = source.root in t.TIMESTAMPS and (source.precision or 0) > (target.precision or 0)
    return cut(sql, target) if shorter else sql


def _to_time(sql: str, source: DataType, target: DataType) -> str:
    if source.root is Root.TIME:
        return cut(sql, target) if (source.precision or 0) > (target.precision or 0) else sql
    return cut(f"make_time(hour({sql}), minute({sql}), extract(SECOND FROM {sql}))", target)


def _array(sql: str, source: DataType, target: DataType, safe: bool) -> str:
    assert source.element
    assert target.element
    name = variable(source)
    return f"transform({sql}, {name} -> {_converted(name, source.element, target.element, safe)})"


def _map(sql: str, source: DataType, target: DataType, safe: bool) -> str:
    (key, value), (to_key, to_value) = map_members(source), map_members(target)
    name = variable(source)
    new_key = _converted(f"{name}.key", key, to_key, safe)
    new_value = _converted(f"{name}.value", value, to_value, safe)
    return f"map_from_entries(transform(map_entries({sql}), {name} -> struct({new_key}, {new_value})))"


def _row(sql: str, source: DataType, target: DataType, safe: bool) -> str:
    members = ", ".join(
        f"{text(to.name)}, {_converted(f'{sql}.{quote(mine.name)}', mine.type, to.type, safe)}"
        for mine, to in zip(source.fields, target.fields, strict=True)
    )
    return f"IF({sql} IS NULL, NULL, named_struct({members}))"


_NESTED: dict[Root, Callable[[str, DataType, DataType, bool], str]] = {
    Root.ARRAY: _array,
    Root.MAP: _map,
    Root.MULTISET: _map,
    Root.ROW: _row,
}

_FROM_TEXT: dict[Root, Callable[[str, DataType, str], str]] = {
    **reading.FROM_TEXT,
    **dict.fromkeys(t.BINARIES, _text_to_bytes),
}

_DATES = t.TIMESTAMPS | {Root.DATE}
_TARGETS: dict[Root, frozenset[Root]] = {
    **dict.fromkeys(
        t.CHARACTERS, t.CHARACTERS | t.BINARIES | t.NUMERICS | _DATES | frozenset({Root.BOOLEAN, Root.TIME})
    ),
    **dict.fromkeys(t.BINARIES, t.CHARACTERS | t.BINARIES),
    **dict.fromkeys(t.NUMERICS, t.CHARACTERS | t.NUMERICS | {Root.BOOLEAN}),
    Root.BOOLEAN: t.CHARACTERS | t.NUMERICS | {Root.BOOLEAN},
    Root.DATE: t.CHARACTERS | _DATES,
    Root.TIME: t.CHARACTERS | t.TIMESTAMPS | {Root.TIME},
    **dict.fromkeys(t.TIMESTAMPS, t.CHARACTERS | _DATES | {Root.TIME}),
    Root.INTERVAL_DAY_TIME: t.CHARACTERS | {Root.INTERVAL_DAY_TIME},
    Root.INTERVAL_YEAR_MONTH: t.CHARACTERS | {Root.INTERVAL_YEAR_MONTH},
}


def to_common(values: list[Typed], type: DataType | None, condition: str, node: exp.Expr) -> list[Typed]:
    """All values in one type that was found for them; without one, the named error."""
    if type is None:
        raise failure(condition, node, types=", ".join(str(v.type) for v in values))
    return [widened(v, type) for v in values]


def widened(value: Typed, type: DataType) -> Typed:
    """An implicit conversion: texts and bytes stay as they are, whatever length the common type has."""
    family = next((f for f in (t.CHARACTERS, t.BINARIES) if type.root in f), None)
    if family and value.root in family:
        return value.with_type(replace(type, nullable=value.nullable))
    return convert(value, type)
