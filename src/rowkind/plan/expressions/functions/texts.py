"""Points in time from text and as text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from rowkind import types as t
from rowkind.plan.expressions.casts import convert
from rowkind.plan.expressions.clock import CLOCK
from rowkind.plan.expressions.cutting import cut
from rowkind.plan.expressions.functions.call import Call, Function, mapped, special
from rowkind.plan.expressions.functions.time_patterns import Part, by_java_sql, lenient, parts_of, strict
from rowkind.plan.expressions.functions.zones import is_zone, later_of_two, zone_or_utc
from rowkind.plan.expressions.instants import at_utc, utc_clock
from rowkind.plan.expressions.typed import Typed, any_nullable, text
from rowkind.types import Root

_DEFAULT = Typed(text("yyyy-MM-dd HH:mm:ss"), t.STRING.not_null(), constant="yyyy-MM-dd HH:mm:ss")
_NO_SUCH_LETTERS = "[YwWuecABnNp]"
_NOT_READ = "[EFqQ]"
_ZONE_LETTERS = "[VzOXxZ]"


def _letters(pattern: Typed) -> str:
    """The letters of a literal pattern that stand for something."""
    return re.sub(r"'[^']*'", "", pattern.constant) if isinstance(pattern.constant, str) else ""


def _check(call: Call, position: int, pattern: Typed, *, reads: bool = True) -> None:
    """Spark has no week-based letters and no others; a literal pattern with one is refused before the job runs."""
    letters = _NO_SUCH_LETTERS + (f"|{_NOT_READ}" if reads else "")
    if found := re.search(letters, _letters(pattern)):
        raise call.bad_argument(position, f"has the letter {found[0]}, which Spark does not know; the year is yyyy")


def _date_format(call: Call, args: list[Typed]) -> Typed:
    value, pattern = args
    _check(call, 2, pattern, reads=False)
    if value.root in t.CHARACTERS:
        value = Typed(_read(value, _DEFAULT, lenient), t.timestamp(6))
    if value.root is Root.TIMESTAMP_LTZ:
        return Typed(f"date_format({value.sql}, {pattern.sql})", t.STRING)
    if value.root is not Root.TIMESTAMP:
        raise call.wrong_type(1, "a TIMESTAMP or a string", value.type)
    return Typed(_formatted(value.sql, pattern), t.STRING)


def _formatted(local: str, pattern: Typed) -> str:
    """Spark formats instants only; a local time that the session's zone skips is written the long way, by JSON."""
    quick = f"date_format({local}, {pattern.sql})"
    if not isinstance(pattern.constant, str):
        return quick
    written = f"to_json(named_struct('v', {local}), map('timestampNTZFormat', {pattern.sql}))"
    exact = f"CAST({local} AS TIMESTAMP)::TIMESTAMP_NTZ = {local}"
    return f"IF({exact}, {quick}, from_json({written}, 'v STRING').v)"


def _read(value: Typed, pattern: Typed, how: Callable[[str, list[Part]], str]) -> str:
    """A text as a TIMESTAMP_NTZ, NULL where it does not fit: as Java reads it by a literal pattern of numbers, else as
    Spark does. Then it is read as a time in UTC, which skips no hour."""
    parts = parts_of(pattern.constant) if isinstance(pattern.constant, str) else None
    if parts is not None:
        return how(value.sql, parts)
    if re.search(_ZONE_LETTERS, _letters(pattern)):
        return f"CAST(try_to_timestamp({value.sql}, {pattern.sql}) AS TIMESTAMP_NTZ)"
    read = utc_clock(f"try_to_timestamp({value.sql} || ' UTC', {pattern.sql} || ' VV')")
    if how is not strict:
        return read
    found = f"coalesce({read}, {by_java_sql(value.sql)})"
    return f"IF({pattern.sql} IS NULL, NULL, {found})" if pattern.nullable else found


def _to_timestamp(call: Call, args: list[Typed]) -> Typed:
    type = t.timestamp(3)
    if len(args) == 1:
        return convert(args[0], type, safe=True)
    _check(call, 2, args[1])
    return Typed(cut(_read(args[0], args[1], strict), type), type)


def _to_timestamp_ltz(call: Call, args: list[Typed]) -> Typed:
    """From a number of seconds or milliseconds, or from a text with its format and zone."""
    if args[0].root in t.NUMERICS:
        return _from_number(call, args)
    if args[0].root not in t.CHARACTERS:
        raise call.wrong_type(1, "a number or a string", args[0].type)
    type = t.timestamp_ltz(3)
    if len(args) == 1:
        # Unlike every other form, this one fails where the text does not fit; both as in Flink.
        return Typed(at_utc(convert(args[0], t.timestamp(3)).sql), type)
    if args[1].root not in t.CHARACTERS:
        raise call.wrong_type(2, "a string", args[1].type)
    _check(call, 2, args[1])
    if re.search(_ZONE_LETTERS, _letters(args[1])):
        return Typed(cut(f"try_to_timestamp({args[0].sql}, {args[1].sql})", type), type)
    local = _read(args[0], args[1], strict)
    if len(args) > 2:
        local = f"IF({is_zone(args[2])}, convert_timezone({args[2].sql}, 'UTC', {local}), NULL)"
    return Typed(cut(at_utc(local), type), type)


def _from_number(call: Call, args: list[Typed]) -> Typed:
    precision = args[1].constant if len(args) > 1 else 3
    if precision not in (0, 3):
        raise call.bad_argument(2, "must be 0 (seconds) or 3 (milliseconds)")
    value = args[0]
    number = f"CAST({value.sql} AS BIGINT)" if value.root in t.INTEGERS else value.sql
    millis = f"{number} * 1000" if precision == 0 else number
    return Typed(f"timestamp_millis(CAST({millis} AS BIGINT))", t.timestamp_ltz(3))


def _to_date(call: Call, args: list[Typed]) -> Typed:
    if len(args) == 1:
        return convert(args[0], t.DATE, safe=True)
    _check(call, 2, args[1])
    return Typed(f"CAST({_read(args[0], args[1], lenient)} AS DATE)", t.DATE)


def _unix_timestamp(call: Call, args: list[Typed]) -> Typed:
    """Seconds since 1970 of the batch's clock, or of a text in the session's zone."""
    if not args:
        return Typed(f"({CLOCK} DIV 1000000)", t.BIGINT.not_null())
    value, pattern = args[0], args[1] if len(args) > 1 else _DEFAULT
    _check(call, 2, pattern)
    # A text that does not fit gives Java's smallest number, as in Flink: the result is never NULL by itself.
    instant = later_of_two(_read(value, pattern, lenient))
    seconds = f"coalesce(unix_millis({instant}) DIV 1000, -9223372036854775807L - 1)"
    unknown = " OR ".join(f"{arg.sql} IS NULL" for arg in args if arg.nullable)
    sql = f"IF({unknown}, NULL, {seconds})" if unknown else seconds
    return Typed(sql, replace(t.BIGINT, nullable=any_nullable(args)))


def _convert_tz(args: Sequence[Typed]) -> str:
    """A zone that does not exist is taken for UTC, as Java does."""
    local = _read(args[0], _DEFAULT, lenient)
    return (
        f"date_format(convert_timezone({zone_or_utc(args[1])}, {zone_or_utc(args[2])}, {local}), 'yyyy-MM-dd HH:mm:ss')"
    )


def _from_unixtime(args: Sequence[Typed]) -> str:
    return f"from_unixtime({args[0].sql}, {args[1].sql if len(args) > 1 else _DEFAULT.sql})"


TEXTS: tuple[Function, ...] = (
    special("DATE_FORMAT", "any, text", _date_format, note="without week-based letters (Y, w)"),
    mapped("CONVERT_TZ", "text, text, text", t.STRING, _convert_tz, nullable=True),
    mapped("FROM_UNIXTIME", "bigint, text?", t.STRING, _from_unixtime, nullable=True),
    special("UNIX_TIMESTAMP", "text?, text?", _unix_timestamp, note="without arguments the batch's clock"),
    special("TO_DATE", "text, text?", _to_date),
    special("TO_TIMESTAMP", "text, text?", _to_timestamp),
    special("TO_TIMESTAMP_LTZ", "any, any?, text?", _to_timestamp_ltz, note="a text without a zone is in UTC"),
)
