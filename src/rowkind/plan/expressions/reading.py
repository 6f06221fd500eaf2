"""Texts as values, with the forms that Flink's CAST and TRY_CAST read, which are neither more nor fewer than here.

Each function brings a text into a form that Spark reads as well, or into one that it never reads: a cast of that
fails or gives NULL, as it should.
"""

from __future__ import annotations

from collections.abc import Callable

from rowkind import types as t
from rowkind.plan.expressions.cutting import cut
from rowkind.plan.expressions.typed import once, text
from rowkind.types import DataType, Root, spark_type

_INTEGER = r"^[+-]?(?=[0-9.])[0-9]*(\.[0-9]*)?\z"
_SHORT_DECIMAL = r"^[ \n\t]*([+-]?)(?=\.?[0-9])([0-9]*)\.?([0-9]*)(?:[eE]([+-]?[0-9]+))?[\x00-\x7F&&[^0-9.]]?[ \n\t]*\z"
_SPECIAL = r"(?i)^\s*[+-]?(inf|infinity|nan)\s*\z"
_KNOWN_SPECIAL = r"^\s*[+-]?(Infinity|NaN)\s*\z"
_BLANK = r"[\x00-\x20]*"
_PART = rf"{_BLANK}([0-9]{{1,9}}){_BLANK}"
_DATE = rf"^{_PART}(?:-{_PART}(?:-{_PART})?)?\z"
_TIMESTAMP = r"^([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})( [0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(\.[0-9]{0,9})?)?\z"
_MIDNIGHT = r"^ 24:0{1,2}:0{1,2}(\.0*)?\z"
_TIME = r"^[0-9]{1,2}(:[0-9]{1,2}(:[0-9]{1,2}(\.[0-9]{1,9})?)?)?\z"
_MOST_DIGITS = 18
"""Decimals that Flink keeps in a long; it reads shorter texts for them in a way of its own."""


def _unreadable(sql: str) -> str:
    return f"concat('?', {sql})"


def _only(sql: str, pattern: str, form: str) -> str:
    return f"IF({sql} RLIKE {text(pattern)}, {form}, {_unreadable(sql)})"


def _group(sql: str, pattern: str, number: int) -> str:
    return f"regexp_extract({sql}, {text(pattern)}, {number})"


def _integer(sql: str, target: DataType, cast: str) -> str:
    """A fraction is dropped, also one without digits before it; of blanks only spaces may stand around the number."""
    trimmed = f"trim(BOTH ' ' FROM {sql})"
    whole = f"regexp_replace({trimmed}, {text('[.].*')}, '')"
    form = _only(trimmed, _INTEGER, f"IF({whole} IN ('', '+', '-'), '0', {whole})")
    return f"{cast}({form} AS {spark_type(target)})"


def _decimal(sql: str, target: DataType, cast: str) -> str:
    """A short text for a short decimal may end in one other character, and its leading zeros must fit as well."""
    assert target.precision is not None
    assert target.scale is not None
    long = f"{cast}({sql} AS {spark_type(target)})"
    if target.precision > _MOST_DIGITS:
        return long
    sign, whole, fraction, exponent = (_group(sql, _SHORT_DECIMAL, number) for number in (1, 2, 3, 4))
    power = f"coalesce(TRY_CAST({exponent} AS INT), 0)"
    fits = f"{sql} RLIKE {text(_SHORT_DECIMAL)} AND length({whole}) + {power} + {target.scale} <= {target.precision}"
    number = f"concat({sign}, '0', {whole}, '.', {fraction}, 'e', {power})"
    short = f"{cast}(IF({fits}, {number}, {_unreadable(sql)}) AS {spark_type(target)})"
    return f"IF(octet_length({sql}) > {_MOST_DIGITS}, {long}, {short})"


def _approximate(sql: str, target: DataType, cast: str) -> str:
    """Java has one name for what is infinite or not a number, and Spark has several."""
    other = f"{sql} RLIKE {text(_SPECIAL)} AND NOT {sql} RLIKE {text(_KNOWN_SPECIAL)}"
    return f"{cast}(IF({other}, {_unreadable(sql)}, {sql}) AS {spark_type(target)})"


def _boolean(sql: str, target: DataType, cast: str) -> str:
    return f"{cast}({_only(sql, '^[^ ]+$', sql)} AS BOOLEAN)"


def _date(sql: str, target: DataType, cast: str) -> str:
    """Everything from the first space on is left out; so are a missing month and day."""
    first = f"IF(locate(' ', {sql}) > 1, left({sql}, locate(' ', {sql}) - 1), {sql})"
    year, month, day = (f"TRY_CAST({_group(first, _DATE, number)} AS INT)" for number in (1, 2, 3))
    parts = f"lpad({year}, 4, '0'), lpad(coalesce({month}, 1), 2, '0'), lpad(coalesce({day}, 1), 2, '0')"
    form = _only(first, _DATE, f"IF({year} > 9999 OR {month} > 99 OR {day} > 99, '?', concat_ws('-', {parts}))")
    return f"{cast}({form} AS DATE)"


def _timestamp(sql: str, target: DataType, cast: str) -> str:
    """A day after the last of its month is the last one, up to the 31st."""
    year, month, day, rest = (_group(sql, _TIMESTAMP, number) for number in (1, 2, 3, 4))
    start = f"try_to_date(concat({year}, '-', {month}, '-1'), 'yyyy-M-d')"
    number = f"TRY_CAST({day} AS INT)"
    last = f"IF({number} <= 31, least({number}, day(last_day({start}))), {number})"
    # 24 o'clock is the start of the next day.
    midnight = f"{rest} RLIKE {text(_MIDNIGHT)}"
    clock = f"IF({midnight}, ' 00:00:00', {rest})"
    form = _only(sql, _TIMESTAMP, f"concat({year}, '-', {month}, '-', {last}, {clock})")
    return cut(f"({cast}({form} AS {spark_type(target)}) + make_dt_interval(IF({midnight}, 1, 0)))", target)


def _time(sql: str, target: DataType, cast: str) -> str:
    trimmed = f"trim({sql})"
    parts = f"split(concat({_only(trimmed, _TIME, trimmed)}, ':00:00'), ':')"
    clock = f"concat_ws(':', lpad({parts}[0], 2, '0'), lpad({parts}[1], 2, '0'), {parts}[2])"
    return cut(f"{cast}(IF({sql} IS NULL, NULL, {clock}) AS TIME(6))", target)


def _bound(read: Callable[[str, DataType, str], str]) -> Callable[[str, DataType, str], str]:
    return lambda sql, target, cast: once(sql, lambda value: read(value, target, cast))


FROM_TEXT: dict[Root, Callable[[str, DataType, str], str]] = {
    **dict.fromkeys(t.INTEGERS, _bound(_integer)),
    **dict.fromkeys((Root.FLOAT, Root.DOUBLE), _bound(_approximate)),
    **dict.fromkeys(t.TIMESTAMPS, _bound(_timestamp)),
    Root.BOOLEAN: _bound(_boolean),
    Root.DECIMAL: _bound(_decimal),
    Root.DATE: _bound(_date),
    Root.TIME: _bound(_time),
}
