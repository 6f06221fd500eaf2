"""Dates, times and intervals in + - * and unary operators."""

from __future__ import annotations

from dataclasses import replace

from rowkind import types as t
from rowkind.plan.expressions.common import INTERVALS
from rowkind.plan.expressions.cutting import cut
from rowkind.plan.expressions.instants import DAY_MICROS, at_utc, interval_micros, utc_clock
from rowkind.plan.expressions.typed import Typed, any_nullable
from rowkind.types import DataType, Root


def arithmetic(operator: str, left: Typed, right: Typed) -> Typed | None:
    """Point ± interval, interval ± interval, interval * number; None for anything else."""
    if operator == "+" and left.root in INTERVALS and right.root not in INTERVALS:
        left, right = right, left
    if operator in "+-" and right.root in INTERVALS:
        if left.root is right.root:
            type = replace(left.type, nullable=any_nullable([left, right]))
            return Typed(f"({left.sql} {operator} {right.sql})", type)
        return shifted(left, right, operator)
    if operator == "*":
        return _multiple(left, right)
    return None


def shifted(point: Typed, interval: Typed, operator: str) -> Typed | None:
    """A date, time or timestamp moved by an interval; its type stays."""
    type = replace(point.type, nullable=any_nullable([point, interval]))
    months = interval.root is Root.INTERVAL_YEAR_MONTH
    sign = "" if operator == "+" else "-"
    match point.root:
        case Root.DATE if months:
            return Typed(f"add_months({point.sql}, {sign}({interval.sql}))", type)
        case Root.DATE:
            days = f"CAST(extract(DAY FROM {interval.sql}) AS INT)"
            return Typed(f"date_add({point.sql}, {sign}({days}))", type)
        case Root.TIMESTAMP_LTZ if months:
            # Months are added in UTC, and days have 24 hours: an instant knows no time zone.
            return Typed(at_utc(f"({utc_clock(point.sql)} {operator} make_ym_interval(0, {interval.sql}))"), type)
        case Root.TIMESTAMP if months:
            return Typed(f"({point.sql} {operator} make_ym_interval(0, {interval.sql}))", type)
        case Root.TIMESTAMP_LTZ:
            micros = f"unix_micros({point.sql}) {operator} {interval_micros(interval.sql)}"
            return Typed(_coarse(f"timestamp_micros({micros})", type), type)
        case Root.TIMESTAMP:
            return Typed(_coarse(f"({point.sql} {operator} {interval.sql})", type), type)
        case Root.TIME if months:
            # Months do not move a clock.
            return Typed(f"IF({interval.sql} IS NULL, NULL, {point.sql})", type)
        case Root.TIME:
            micros = f"time_to_micros({point.sql}) {operator} {interval_micros(interval.sql)}"
            return Typed(f"time_from_micros(pmod({micros}, {DAY_MICROS}L))", type)
    return None


def _coarse(sql: str, type: DataType) -> str:
    """Intervals have milliseconds, so that only coarser timestamps can get digits too many."""
    return cut(sql, type) if (type.precision or 0) < 3 else sql


def _multiple(left: Typed, right: Typed) -> Typed | None:
    interval, number = (left, right) if left.root in INTERVALS else (right, left)
    if interval.root not in INTERVALS or number.root not in t.INTEGERS:
        return None
    return Typed(f"({interval.sql} * {number.sql})", replace(interval.type, nullable=any_nullable([left, right])))
