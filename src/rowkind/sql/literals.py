"""Literals: numbers, strings, dates and times, intervals."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, time

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from rowkind import types as t
from rowkind.sql.datatypes import MONTHS, interval_units
from rowkind.sql.tokens import STRINGS, Cursor, placed
from rowkind.sql.tree_nodes import type_node
from rowkind.types import DataType

_MICROS = {
    "WEEK": 7 * 86_400_000_000,
    "DAY": 86_400_000_000,
    "HOUR": 3_600_000_000,
    "MINUTE": 60_000_000,
    "SECOND": 1_000_000,
}
_MONTHS = {"YEAR": 12, "QUARTER": 3, "MONTH": 1}
_FIELDS = ("DAY", "HOUR", "MINUTE", "SECOND")
_DATE = r"\d{4}-\d{1,2}-\d{1,2}"
_CLOCK = r"\d{1,2}:\d{1,2}:\d{1,2}(?:\.(\d+))?"


@dataclass(frozen=True, slots=True)
class IntervalLength:
    """How long an interval is; one of the two is zero."""

    months: int = 0
    microseconds: int = 0


def literal(c: Cursor) -> exp.Expr | None:
    """A literal at the cursor, if there is one."""
    token = c.token
    if token.token_type is TokenType.NUMBER:
        c.advance()
        return placed(exp.Literal.number(token.text), token)
    if token.token_type in STRINGS:
        return placed(exp.Literal.string(c.string("a string")), token)
    if c.at("X") and c.peek(1).token_type is TokenType.STRING and c.peek(1).start == token.end + 1:
        return _binary(c)
    if c.at(".") and c.peek(1).token_type is TokenType.NUMBER:
        c.advance()
        return placed(exp.Literal.number("0." + c.advance().text), token)
    return _named_literal(c)


def _binary(c: Cursor) -> exp.HexString:
    token = c.advance()
    text = c.string("a string")
    if not re.fullmatch(r"([0-9A-Fa-f]{2})*", text):
        reason = "it must be pairs of hexadecimal digits"
        raise c.error("BAD_LITERAL", token, value=text, type="binary value", reason=reason)
    return placed(exp.HexString(this=text), token)


def _named_literal(c: Cursor) -> exp.Expr | None:
    token, word = c.token, c.word()
    match word:
        case "NULL":
            c.advance()
            return placed(exp.Null(), token)
        case "TRUE" | "FALSE":
            c.advance()
            return placed(exp.Boolean(this=word == "TRUE"), token)
        case "INTERVAL":
            return _interval(c)
        case "DATE" | "TIME" | "TIMESTAMP" if c.peek(1).token_type in STRINGS:
            c.advance()
            return _temporal(c, token, word)
    return None


def _temporal(c: Cursor, token: Token, kind: str) -> exp.Cast:
    """DATE '…' and its like: a cast of the text to the exact type, marked in `meta` as a literal."""
    text_token = c.token
    text = c.string("a string")
    type = _temporal_type(kind, text.strip())
    if type is None:
        pattern = {"DATE": "yyyy-MM-dd", "TIME": "HH:mm:ss[.ffffff]", "TIMESTAMP": "yyyy-MM-dd HH:mm:ss[.ffffff]"}[kind]
        raise c.error("BAD_LITERAL", text_token, value=text, type=kind, reason=f"it must read {pattern}")
    value = placed(exp.Literal.string(text.strip()), text_token)
    node = placed(exp.Cast(this=value, to=type_node(type.not_null())), token)
    node.meta["literal"] = True
    return node


def _temporal_type(kind: str, text: str) -> DataType | None:
    pattern = {"DATE": f"{_DATE}()?", "TIME": _CLOCK, "TIMESTAMP": f"{_DATE} {_CLOCK}"}[kind]
    match = re.fullmatch(pattern, text)
    if not match or len(match[1] or "") > 6 or not _exists(kind, text):
        return None
    digits = len(match[1] or "")
    return {"DATE": t.DATE, "TIME": t.time(digits), "TIMESTAMP": t.timestamp(digits)}[kind]


def _exists(kind: str, text: str) -> bool:
    numbers = [int(n) for n in re.findall(r"\d+", text.partition(".")[0])]
    try:
        {"DATE": date, "TIME": time, "TIMESTAMP": datetime}[kind](*numbers)
    except ValueError:
        return False
    return True


def _interval(c: Cursor) -> exp.Interval:
    token = c.expect("INTERVAL")
    sign = "-" if c.accept("-") else ""
    c.accept("+")
    text_token = c.token
    value = placed(exp.Literal.string(sign + c.string("a string such as '5' in INTERVAL '5' MINUTE")), text_token)
    first, last = interval_units(c)
    unit = exp.IntervalSpan(this=exp.var(first), expression=exp.var(last)) if last else exp.var(first)
    node = placed(exp.Interval(this=value, unit=unit), token)
    if _measure(node) is None:
        units = f"{first} TO {last}" if last else first
        raise c.error("BAD_LITERAL", text_token, value=value.name, type=f"INTERVAL {units}", reason="it does not fit")
    return node


def interval_length(node: exp.Interval) -> IntervalLength:
    """How long an interval literal is."""
    length = _measure(node)
    assert length is not None
    return length


def _measure(node: exp.Interval) -> IntervalLength | None:
    signs, text = re.fullmatch(r"([+\-\s]*)(.*)", node.this.name.strip(), re.S).groups()  # type: ignore[union-attr]
    negative = signs.count("-") % 2 == 1
    unit = node.args["unit"]
    if isinstance(unit, exp.IntervalSpan):
        length = _measure_span(text, unit.this.name, unit.expression.name)
    else:
        length = _measure_single(text, unit.name)
    if length is None or not negative:
        return length
    return IntervalLength(-length.months, -length.microseconds)


def _measure_single(text: str, unit: str) -> IntervalLength | None:
    if unit in MONTHS:
        return IntervalLength(months=int(text) * _MONTHS[unit]) if text.isdigit() else None
    if not re.fullmatch(r"\d+(\.\d{1,9})?" if unit == "SECOND" else r"\d+", text):
        return None
    whole, _, fraction = text.partition(".")
    return IntervalLength(microseconds=int(whole) * _MICROS[unit] + int(fraction[:6].ljust(6, "0")))


def _measure_span(text: str, first: str, last: str) -> IntervalLength | None:
    """`1-2` YEAR TO MONTH, `1 10:00:00.5` DAY TO SECOND and every part of it."""
    if first in MONTHS:
        match = re.fullmatch(r"(\d+)-(\d+)", text)
        return IntervalLength(months=int(match[1]) * 12 + int(match[2])) if match else None
    if first not in _FIELDS or last not in _FIELDS:
        return None
    units = _FIELDS[_FIELDS.index(first) : _FIELDS.index(last) + 1]
    pattern = ":".join(r"(\d+)" for u in units if u != "DAY")
    pattern = (r"(\d+) " if first == "DAY" else "") + pattern
    match = (
        re.fullmatch(pattern + (r"(?:\.(\d{1,9}))?" if last == "SECOND" else "()"), text) if len(units) > 1 else None
    )
    if not match:
        return None
    micros = sum(int(part) * _MICROS[unit] for part, unit in zip(match.groups(), units, strict=False))
    return IntervalLength(microseconds=micros + int((match.groups()[-1] or "")[:6].ljust(6, "0")))
