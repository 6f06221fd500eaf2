"""FLOOR and CEIL, of numbers and of points in time."""

from __future__ import annotations

from dataclasses import replace

from rowkind import types as t
from rowkind.plan.expressions.common import APPROXIMATE
from rowkind.plan.expressions.cutting import cut
from rowkind.plan.expressions.functions.call import Body, Call
from rowkind.plan.expressions.instants import DAY_MICROS
from rowkind.plan.expressions.typed import Typed, once
from rowkind.types import DataType, Root, spark_type

_YEARS = {"MILLENNIUM": 1000, "CENTURY": 100, "DECADE": 10}
_MICROS = {"HOUR": 3_600_000_000, "MINUTE": 60_000_000, "SECOND": 1_000_000, "MILLISECOND": 1000}
_FINE = frozenset({"MILLISECOND", "MICROSECOND", "NANOSECOND"})
_BY_DAY = frozenset({"YEAR", "QUARTER", "MONTH", "WEEK"})
_DATE_UNITS = frozenset({"YEAR", "QUARTER", "MONTH", "WEEK", "DAY"}) | frozenset(_YEARS)


def floor_or_ceil(name: str) -> Body:
    """`floor` or `ceil` of the one argument, or of the first to the unit that the second names."""

    def body(call: Call, args: list[Typed]) -> Typed:
        value = args[0]
        if len(args) == 1:
            return _number(call, value, name)
        unit = str(args[1].constant)
        if value.root not in t.TIMESTAMPS | {Root.DATE, Root.TIME}:
            raise call.wrong_type(1, "a date, time or timestamp", value.type)
        if value.root is Root.DATE and unit in _MICROS:
            return value
        if (value.root is Root.DATE and unit not in _DATE_UNITS) or (value.root is Root.TIME and unit not in _MICROS):
            raise call.bad_argument(2, f"may not be {unit} for {value.type}")
        # Flink rounds milliseconds: what is finer does not begin the next unit.
        fine = name == "ceil" and value.root in t.TIMESTAMPS and (value.type.precision or 0) > 3 and unit not in _FINE
        sql = cut(value.sql, replace(value.type, precision=3)) if fine else value.sql
        return Typed(once(sql, lambda sql: _point(replace(value, sql=sql), unit, name)), value.type)

    return body


def _number(call: Call, value: Typed, name: str) -> Typed:
    if value.root not in t.NUMERICS:
        raise call.wrong_type(1, "a number", value.type)
    if value.root in t.INTEGERS:
        return value
    type = value.type
    if value.root is Root.DECIMAL:
        type = replace(type, scale=0)
    if value.root in APPROXIMATE:
        # Spark gives a BIGINT, which not every double fits.
        whole = f"CAST({name}({value.sql}) AS {spark_type(type)})"
        return Typed(f"IF(abs({value.sql}) < 1e15D, {whole}, {value.sql})", type)
    return Typed(f"CAST({name}({value.sql}) AS {spark_type(type)})", type)


def _point(value: Typed, unit: str, name: str) -> str:
    if value.root is Root.TIME:
        return _time(value.sql, _MICROS[unit], name)
    down = _start(value, unit)
    if name == "floor":
        return down
    # Flink looks at the day alone: the hours after the first day of a month do not begin the next. A day of a DATE
    # and a decade and longer always go on to the next.
    reached = f"CAST(CAST({value.sql} AS DATE) AS {spark_type(value.type)})" if unit in _BY_DAY else value.sql
    after = _next(value.type, down, unit)
    if unit in _YEARS or (unit == "DAY" and value.root is Root.DATE):
        return after
    return f"IF({reached} = {down}, {down}, {after})"


def _start(value: Typed, unit: str) -> str:
    """The start of the unit that the point is in."""
    sql, type = value.sql, spark_type(value.type)
    if unit in _FINE:
        digits = 3 if unit == "MILLISECOND" else 6
        return cut(sql, replace(value.type, precision=digits)) if (value.type.precision or 0) > digits else sql
    if unit in _DATE_UNITS:
        return f"CAST({_start_of_date(f'CAST({sql} AS DATE)', unit)} AS {type})"
    minutes = f"minute({sql})" if unit == "HOUR" else "0"
    seconds = "1BD" if unit == "SECOND" else "60BD"
    return f"({sql} - make_dt_interval(0, 0, {minutes}, extract(SECOND FROM {sql}) % {seconds}))"


def _start_of_date(date: str, unit: str) -> str:
    if unit == "DAY":
        return date
    if unit == "WEEK":
        # Weeks start on Sunday here, as in Flink.
        return f"date_sub({date}, dayofweek({date}) - 1)"
    if years := _YEARS.get(unit):
        # Decades start in the year 0, centuries and millennia in the year 1.
        offset = 0 if unit == "DECADE" else 1
        year = f"(year({date}) - {offset}) DIV {years} * {years} + {offset}"
        return f"make_date(CAST({year} AS INT), 1, 1)"
    return f"CAST(trunc({date}, '{unit}') AS DATE)"


def _next(type: DataType, start: str, unit: str) -> str:
    months = {"YEAR": 12, "QUARTER": 3, "MONTH": 1, **{u: 12 * y for u, y in _YEARS.items()}}.get(unit)
    if type.root is Root.DATE:
        return f"add_months({start}, {months})" if months else f"date_add({start}, {7 if unit == 'WEEK' else 1})"
    if months:
        return f"({start} + make_ym_interval(0, {months}))"
    if unit in ("WEEK", "DAY"):
        return f"({start} + make_dt_interval({7 if unit == 'WEEK' else 1}))"
    return f"({start} + make_dt_interval(0, 0, 0, {_MICROS.get(unit, 1) / 1e6:.6f}BD))"


def _time(sql: str, size: int, name: str) -> str:
    micros = f"time_to_micros({sql})"
    up = f" + {size - 1}L" if name == "ceil" else ""
    return f"time_from_micros(({micros}{up}) DIV {size}L * {size}L % {DAY_MICROS}L)"
