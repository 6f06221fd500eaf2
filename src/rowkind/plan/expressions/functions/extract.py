"""EXTRACT, and the functions named after a unit of time."""

from __future__ import annotations

from dataclasses import replace

from rowkind import types as t
from rowkind.plan.expressions.functions.call import Call, Function, special
from rowkind.plan.expressions.instants import epoch_micros
from rowkind.plan.expressions.typed import Typed
from rowkind.types import Root

_OF_DATE = {
    "YEAR": "year({0})",
    "QUARTER": "quarter({0})",
    "MONTH": "month({0})",
    "WEEK": "weekofyear({0})",
    "DAY": "day({0})",
    "DOY": "dayofyear({0})",
    "DOW": "dayofweek({0})",
    "ISODOW": "(weekday({0}) + 1)",
    "ISOYEAR": "extract(YEAROFWEEK FROM {0})",
    "DECADE": "(year({0}) DIV 10)",
    "CENTURY": "((year({0}) + 99) DIV 100)",
    "MILLENNIUM": "((year({0}) + 999) DIV 1000)",
}
_OF_CLOCK = {
    "HOUR": "hour({0})",
    "MINUTE": "minute({0})",
    "SECOND": "second({0})",
    "MILLISECOND": "floor(extract(SECOND FROM {0}) % 1 * 1000)",
    "MICROSECOND": "(extract(SECOND FROM {0}) % 1 * 1000000)",
    "NANOSECOND": "(extract(SECOND FROM {0}) % 1 * 1000000000)",
}
_OF_MONTHS = {"YEAR": "({0} DIV 12)", "MONTH": "({0} % 12)", "QUARTER": "({0} % 12 DIV 3 + 1)"}
_OF_INTERVAL = {unit: f"extract({unit} FROM {{0}})" for unit in ("DAY", "HOUR", "MINUTE", "SECOND")}
_EPOCH = {
    Root.DATE: "(unix_date({0}) * 86400L)",
    Root.TIMESTAMP_LTZ: "unix_seconds({0})",
}


def _template(value: Typed, unit: str) -> str | None:
    if unit == "EPOCH":
        local = f"({epoch_micros('{0}')} DIV 1000000)" if value.root is Root.TIMESTAMP else None
        return local or _EPOCH.get(value.root)
    match value.root:
        case Root.DATE:
            return _OF_DATE.get(unit) or ("(0 * day({0}))" if unit in _OF_CLOCK else None)
        case Root.TIMESTAMP | Root.TIMESTAMP_LTZ:
            return _OF_DATE.get(unit) or _OF_CLOCK.get(unit)
        case Root.TIME:
            return _OF_CLOCK.get(unit)
        case Root.INTERVAL_YEAR_MONTH:
            return _OF_MONTHS.get(unit)
        case Root.INTERVAL_DAY_TIME:
            return _OF_INTERVAL.get(unit)
    return None


def extracted(call: Call, value: Typed, unit: str) -> Typed:
    """A part of a point in time or of an interval, as a BIGINT."""
    template = _template(value, unit)
    if template is None:
        raise call.bad_argument(len(call.nodes), f"has no {unit}: it is {value.type}")
    return Typed(f"CAST({template.replace('{0}', value.sql)} AS BIGINT)", replace(t.BIGINT, nullable=value.nullable))


def _extract(call: Call, args: list[Typed]) -> Typed:
    return extracted(call, args[1], str(args[0].constant))


def _named(name: str, unit: str, kind: str) -> Function:
    return special(name, kind, lambda call, args: extracted(call, args[0], unit))


EXTRACTS: tuple[Function, ...] = (
    special("EXTRACT", "word, any", _extract),
    *(_named(name, name, "date") for name in ("YEAR", "QUARTER", "MONTH", "WEEK")),
    _named("DAYOFYEAR", "DOY", "date"),
    _named("DAYOFMONTH", "DAY", "date"),
    _named("DAYOFWEEK", "DOW", "date"),
    *(_named(name, name, "point") for name in ("HOUR", "MINUTE", "SECOND")),
)
