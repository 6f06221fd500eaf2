"""Functions of dates, times and timestamps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from rowkind.catalog import types as t
from rowkind.catalog.types import DataType, Root
from rowkind.plan.expressions.casts import convert, cut
from rowkind.plan.expressions.clock import CLOCK
from rowkind.plan.expressions.functions.call import Call, Function, mapped, special
from rowkind.plan.expressions.functions.extract import EXTRACTS
from rowkind.plan.expressions.temporal import shifted
from rowkind.plan.expressions.typed import Typed, any_nullable, text

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
        return Typed(_whole_months(a, b, _MONTHS[unit]), type)
    return Typed(f"CAST(timestampdiff({unit}, {a}, {b}) AS INT)", type)


def _whole_months(a: str, b: str, size: int) -> str:
    """As many whole months as can be added to the earlier point without passing the later one.

    The 31st of January plus a month is the 28th of February, so that these two are one month apart.
    """
    early, late = f"least({a}, {b})", f"greatest({a}, {b})"
    months = f"((year({late}) - year({early})) * 12 + month({late}) - month({early}))"
    past = f"IF(({early} + make_ym_interval(0, {months})) > {late}, 1, 0)"
    return f"CAST(IF({a} <= {b}, 1, -1) * (({months} - {past}) DIV {size}) AS INT)"


def _date_format(call: Call, args: list[Typed]) -> Typed:
    value, pattern = args
    if value.root in t.CHARACTERS:
        point = f"try_to_timestamp({value.sql}, {text(_DEFAULT_FORMAT)})"
    elif value.root in t.TIMESTAMPS:
        point = value.sql
    else:
        raise call.wrong_type(1, "a TIMESTAMP or a string", value.type)
    _check_pattern(call, 2, pattern)
    return Typed(f"date_format({point}, {pattern.sql})", t.STRING)


def _check_pattern(call: Call, position: int, pattern: Typed) -> None:
    """Spark has no week-based letters; a literal pattern with one is refused before the job runs."""
    if isinstance(pattern.constant, str):
        letters = re.sub(r"'[^']*'", "", pattern.constant)
        if found := re.search("[YwWuec]", letters):
            raise call.bad_argument(position, f"has the letter {found[0]}, which Spark does not know; the year is yyyy")


def _parse(args: Sequence[Typed]) -> str:
    """NULL where the text does not fit the format."""
    pattern = args[1].sql if len(args) > 1 else None
    if pattern:
        return f"try_to_timestamp({args[0].sql}, {pattern})"
    return f"try_to_timestamp({args[0].sql})"


def _to_timestamp(call: Call, args: list[Typed]) -> Typed:
    type = t.timestamp(3)
    if len(args) == 1:
        return convert(args[0], type, safe=True)
    return Typed(cut(f"CAST({_parse(args)} AS TIMESTAMP_NTZ)", type), type)


def _to_timestamp_ltz(call: Call, args: list[Typed]) -> Typed:
    """From a number of seconds or milliseconds, or from a text with its format and zone."""
    type = t.timestamp_ltz(3)
    value = args[0]
    if value.root in t.NUMERICS:
        precision = args[1].constant if len(args) > 1 else 3
        if precision not in (0, 3):
            raise call.bad_argument(2, "must be 0 (seconds) or 3 (milliseconds)")
        factor = 1000 if precision == 0 else 1
        return Typed(f"timestamp_millis(CAST({value.sql} * {factor} AS BIGINT))", type)
    if value.root not in t.CHARACTERS:
        raise call.wrong_type(1, "a number or a string", value.type)
    if len(args) == 1:
        # Unlike every other form, this one fails where the text does not fit, as in Flink.
        return convert(value, type).with_type(type)
    parsed = _parse(args[:2])
    if len(args) > 2:
        parsed = f"to_utc_timestamp(CAST({parsed} AS TIMESTAMP_NTZ), {args[2].sql})"
        parsed = f"convert_timezone('UTC', current_timezone(), CAST({parsed} AS TIMESTAMP_NTZ))"
    return Typed(cut(f"CAST({parsed} AS TIMESTAMP)", type), type)


def _to_date(call: Call, args: list[Typed]) -> Typed:
    if len(args) == 1:
        return convert(args[0], t.DATE, safe=True)
    return Typed(f"CAST({_parse(args)} AS DATE)", t.DATE)


def _unix_timestamp(call: Call, args: list[Typed]) -> Typed:
    if not args:
        return Typed(f"({CLOCK} DIV 1000000)", t.BIGINT.not_null())
    pattern = args[1] if len(args) > 1 else Typed(text(_DEFAULT_FORMAT), t.STRING.not_null())
    type = replace(t.BIGINT, nullable=any_nullable(args))
    # A text that does not fit gives Java's smallest number, as in Flink: the result is never NULL by itself.
    seconds = f"coalesce(unix_seconds({_parse([args[0], pattern])}), -9223372036854775807L - 1)"
    return Typed(f"IF({args[0].sql} IS NULL, NULL, {seconds})" if args[0].nullable else seconds, type)


def _convert_tz(args: Sequence[Typed]) -> str:
    value, origin, target = (a.sql for a in args)
    local = f"CAST(try_to_timestamp({value}, {text(_DEFAULT_FORMAT)}) AS TIMESTAMP_NTZ)"
    return f"CAST(convert_timezone({origin}, {target}, {local}) AS STRING)"


def _from_unixtime(args: Sequence[Typed]) -> str:
    pattern = args[1].sql if len(args) > 1 else text(_DEFAULT_FORMAT)
    return f"from_unixtime({args[0].sql}, {pattern})"


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
    special("DATE_FORMAT", "any, text", _date_format, note="without week-based letters (Y, w)"),
    mapped("CONVERT_TZ", "text, text, text", t.STRING, _convert_tz, nullable=True),
    mapped("FROM_UNIXTIME", "bigint, text?", t.STRING, _from_unixtime, nullable=True),
    special("UNIX_TIMESTAMP", "text?, text?", _unix_timestamp, note="without arguments the batch's clock"),
    special("TO_DATE", "text, text?", _to_date),
    special("TO_TIMESTAMP", "text, text?", _to_timestamp),
    special("TO_TIMESTAMP_LTZ", "any, any?, text?", _to_timestamp_ltz),
)
