"""PRINTF: Java's formats. One that does not fit its arguments gives NULL, as in Flink; Spark would end the job."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rowkind import types as t
from rowkind.plan.expressions.functions.call import Function, mapped
from rowkind.plan.expressions.typed import Typed, text
from rowkind.types import Root

_TEXT = r"(?:[^%]|%%|%n)*"
_ANY = r"%(?:-?[1-9][0-9]*)?(?:\.[0-9]+)?[sSbBhH]"
_INTEGER = r"%(?:-?[1-9][0-9]*|[+ ,(]{0,3}(?:0?[1-9][0-9]*)?)d|%#?(?:[-0]?[1-9][0-9]*)?[xXo]"
_CHARACTER = r"%(?:-?[1-9][0-9]*)?[cC]"
_FRACTION = r"%[+ ,(]{0,3}(?:[-0]?[1-9][0-9]*)?(?:\.[0-9]+)?[fF]|%(?:[-0]?[1-9][0-9]*)?(?:\.[0-9]+)?[eEgG]"


def _conversions(value: Typed) -> str:
    """The conversions that Java has for a value of this type."""
    kinds = [_ANY]
    if value.root in t.INTEGERS:
        kinds.append(_INTEGER)
    if value.root in (Root.TINYINT, Root.SMALLINT, Root.INT):
        kinds.append(_CHARACTER)
    if value.root in (Root.FLOAT, Root.DOUBLE, Root.DECIMAL):
        kinds.append(_FRACTION)
    return "(?:" + "|".join(kinds) + ")"


def _fitting(args: Sequence[Typed]) -> str:
    """A regular expression for the formats that use these arguments, or the first of them, in their order."""
    regex = ""
    for value in reversed(args):
        regex = f"(?:{_conversions(value)}{_TEXT}{regex})?"
    return rf"^{_TEXT}{regex}\z"


def _printf(args: Sequence[Typed]) -> str:
    """Java's formats know no decimals of Spark's, so they go in as doubles."""
    members = (f"CAST({a.sql} AS DOUBLE)" if a.root is Root.DECIMAL else a.sql for a in args)
    found = f"format_string({', '.join(members)})"
    form = args[0]
    if isinstance(form.constant, str) and re.search(r"%\d+\$", form.constant):
        # The positions of a literal can be looked at, those of a format that is data cannot.
        return found
    fits = f"{form.sql} RLIKE {text(_fitting(args[1:]))}"
    # A number that is no character of Unicode has no %c.
    for value in args[1:]:
        if value.root is Root.INT:
            fits += (
                f" AND ({value.sql} IS NULL OR {value.sql} BETWEEN 0 AND 1114111 OR NOT {form.sql} RLIKE '%[^%]*[cC]')"
            )
    return f"IF({fits}, {found}, NULL)"


PRINTF: Function = mapped("PRINTF", "text, any*", t.STRING, _printf, nullable=True)
