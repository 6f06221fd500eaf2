"""Functions of dates, times and timestamps."""

from __future__ import annotations

from dataclasses import replace

from rowkind import types as t
from rowkind.plan.expressions.casts import convert
from rowkind.plan.expressions.clock import CLOCK
from rowkind.plan.expressions.cutting import cut
from rowkind.plan.expressions.functions.call import Call, Function, mapped, special
from rowkind.plan.expressions.functions.extract import EXTRACTS
from rowkind.plan.expressions.functions.texts import TEXTS
from rowkind.plan.expressions.instants import micros_between
from rowkind.plan.expressions.temporal import shifted
from rowkind.plan.expressions.typed import Typed, any_nullable, once
from rowkind.types import DataType, Root

_SECONDS = {"WEEK": 604_800, "DAY": 86_400, "HOUR": 3600, "MINUTE": 60, "SECOND": 1}
_MONTHS = {"YEAR": 12, "QUARTER": 3, "MONTH": 1}
_DEFAULT_FORMAT = "yyyy-MM-dd HH:mm:ss"
_FIXED = "the batch's clock: one value for all rows of a batch, and the same when it is replayed"


def _now(type: DataType) -> str:
    instant = f"timestamp_micros({CLOCK})"
    if type.root is Root.TIMESTAMP_LTZ:
        return cut(instant, type)
    if type.root is Root.DATE:
        return f"CAST({instant} AS DATE)"
    local = f"CAST({instant} AS TIMESTAMP_NTZ)"
    return cut(local, type) if type.root is Root.TIMESTAMP else convert(Typed(local, t.timestamp(6)), type).sql


def _clock(name: str, type: DataType) -> Function:
    return mapped(name, "", type.not_null(), _now(type), note=_FIXED)


def _add(call: Call, args: list[Typed]) -> Typed:
    """TIMESTAMPADD(unit, number, point): a date becomes a timestamp when hours or less are added."""
    unit, number, point = str(args[0].constant), args[1], args[2]
    if unit in _MONTHS:
        interval = Typed(f"CAST({number.sql} * {_MONTHS[unit]} AS INT)", DataType(Root.INTERVAL_YEAR_MONTH))
    elif unit in _SECONDS:
        days = _SECONDS[unit] // 86_400
        length = f"{number.sql} * {days}" if days else f"0, 0, 0, {number.sql} * {_SECONDS[unit]}"
        interval = Typed(f"make_dt_interval({length})", DataType(Root.INTERVAL_DAY_TIME))
    else:
        raise call.bad_argument(1, f"may not be {unit}")
    if point.root is Root.DATE and unit in ("HOUR", "MINUTE", "SECOND"):
        point = convert(point, t.timestamp(6))
    found = shifted(point, interval, "+")
    if found is None:
        raise call.bad_argument(1, f"may not be {unit} for {point.type}")
    return found.with_type(replace(found.type, nullable=any_nullable([number, point])))


def _difference(call: Call, args: list[Typed]) -> Typed:
    """TIMESTAMPDIFF(unit, from, to): whole units, cut towards zero."""
    unit, start, end = str(args[0].constant), *args[1:]
    roots = {start.root, end.root}
    target = t.timestamp_ltz(6) if Root.TIMESTAMP_LTZ in roots else t.timestamp(6)
    a, b = convert(start, target).sql, convert(end, target).sql
    type = replace(t.INT, nullable=any_nullable([start, end]))
    if unit not in _MONTHS | _SECONDS:
        raise call.bad_argument(1, f"may not be {unit}")
    if unit in _MONTHS:
        return Typed(once(a, lambda x: once(b, lambda y: _whole_months(x, y, _MONTHS[unit]))), type)
    between = f"(unix_micros({b}) - unix_micros({a}))" if target.root is Root.TIMESTAMP_LTZ else micros_between(a, b)
    return Typed(f"CAST({between} DIV {_SECONDS[unit] * 1_000_000}L AS INT)", type)


def _whole_months(a: str, b: str, size: int) -> str:
    """Whole months between the days, towards either side, and one less where that meets the day but not the hour.

    The 31st of January plus a month is the 28th of February, so that these two are one month apart.
    """
    start, end = f"CAST({a} AS DATE)", f"CAST({b} AS DATE)"
    whole = f"IF({start} <= {end}, {_between_days(start, end)}, -{_between_days(end, start)})"
    clocks = [f"make_time(hour({point}), minute({point}), extract(SECOND FROM {point}))" for point in (a, b)]

    def less(months: str) -> str:
        met = f"add_months({start}, {months}) = {end} AND {clocks[1]} < {clocks[0]}"
        return f"CAST(({months} - IF({met}, 1, 0)) DIV {size} AS INT)"

    return once(whole, less)


def _between_days(early: str, late: str) -> str:
    months = f"((year({late}) - year({early})) * 12 + month({late}) - month({early}))"
    return f"({months} - IF(add_months({early}, {months}) > {late}, 1, 0))"


TEMPORAL: tuple[Function, ...] = (
    _clock("CURRENT_TIMESTAMP", t.timestamp_ltz(3)),
    _clock("NOW", t.timestamp_ltz(3)),
    _clock("CURRENT_ROW_TIMESTAMP", t.timestamp_ltz(3)),
    _clock("PROCTIME", t.timestamp_ltz(3)),
    _clock("LOCALTIMESTAMP", t.timestamp(3)),
    _clock("CURRENT_DATE", t.DATE),
    _clock("CURRENT_TIME", t.time(0)),
    _clock("LOCALTIME", t.time(0)),
    *EXTRACTS,
    special("TIMESTAMPADD", "word, bigint, point", _add),
    special("TIMESTAMPDIFF", "word, date, date", _difference),
    *TEXTS,
)
