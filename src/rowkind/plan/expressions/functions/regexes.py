"""Functions with regular expressions. One that cannot be read gives NULL, as in Flink; Spark would end the job."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rowkind import types as t
from rowkind.plan.expressions.functions.call import Function, mapped
from rowkind.plan.expressions.typed import Typed, text

BACKSLASH = chr(92)
_PLAIN = re.compile(r"(?:[\w ,;:/@#=<>!\"'%&~`-]|\\[dDwWsSbB.]|\[\^?[\w ]+(?:-[\w])?\]|\.)(?:[+*?])?")
"""Parts of expressions that every engine reads, and reads alike."""
_NO_GROUPS = r"\\.|\[[^\]]*\]"
_GROUP = r"\((?!\?)|\(\?<(?![=!])"


def guarded(regex: Typed, sql: str, otherwise: str = "NULL") -> str:
    """The expression, or something else where its regular expression is not one. Java is asked, for Spark cannot be."""
    if isinstance(regex.constant, str) and re.fullmatch(f"(?:{_PLAIN.pattern})*", regex.constant):
        return sql
    return f"IF({regex.sql} IS NULL, NULL, IF({_readable(regex.sql)}, {sql}, {otherwise}))"


def _readable(regex: str) -> str:
    return f"try_reflect('java.util.regex.Pattern', 'compile', {regex}) IS NOT NULL"


def literally(sql: str) -> str:
    """A replacement in which neither the backslash nor the dollar sign means anything."""
    backslash = f"replace({sql}, {text(BACKSLASH)}, {text(BACKSLASH * 2)})"
    return f"replace({backslash}, '$', {text(BACKSLASH + '$')})"


def quoted(sql: str) -> str:
    """A text as a regular expression for itself."""
    end = text(BACKSLASH + "E")
    inner = f"replace({sql}, {end}, {text(BACKSLASH + 'E' + BACKSLASH * 2 + 'E' + BACKSLASH + 'Q')})"
    return f"concat({text(BACKSLASH + 'Q')}, {inner}, {end})"


def _all(args: Sequence[Typed], group: str) -> str:
    """Every match's group; NULL where there is no such group, which Spark takes for an error."""
    value, regex = args[0], args[1]
    found = f"regexp_extract_all({value.sql}, {regex.sql}, {group})"
    return guarded(regex, f"IF({group} BETWEEN 0 AND {_groups(regex)}, {found}, NULL)")


def _groups(regex: Typed) -> str:
    """How many groups an expression has."""
    if isinstance(regex.constant, str):
        return str(len(re.findall(_GROUP, re.sub(_NO_GROUPS, "", regex.constant))))
    return f"regexp_count(regexp_replace({regex.sql}, {text(_NO_GROUPS)}, ''), {text(_GROUP)})"


def _extract(args: Sequence[Typed]) -> str:
    """The first match's group. Spark has an empty text for a group that took no part; Flink has NULL."""
    group = args[2].sql if len(args) > 2 else "0"
    first = f"get({_all(args, group)}, 0)"
    return f"nullif({first}, '')" if len(args) > 2 and _never_empty(args[1].constant, args[2].constant) else first


def _never_empty(regex: object, group: object) -> bool:
    """Whether a group of a literal expression matches no empty text, so that one means that it took no part."""
    if not isinstance(regex, str) or not isinstance(group, int) or group < 1:
        return False
    try:
        whole = re.compile(regex)
        return group <= whole.groups and re.fullmatch(_inside(regex, group), "") is None
    except re.error:
        return False


def _inside(regex: str, group: int) -> str:
    """What stands between the parentheses of a group."""
    opened: list[int | None] = []
    number, position = 0, 0
    while position < len(regex):
        skipped = re.compile(_NO_GROUPS).match(regex, position)
        if skipped:
            position = skipped.end()
            continue
        if regex[position] == "(":
            counts = re.compile(_GROUP).match(regex, position) is not None
            number += counts
            opened.append(position + 1 if counts and number == group else None)
        elif regex[position] == ")" and (start := opened.pop()) is not None:
            return re.sub(r"^\?P?<\w+>", "", regex[start:position])
        position += 1
    return regex


def _instr(args: Sequence[Typed]) -> str:
    return guarded(args[1], f"regexp_instr({args[0].sql}, {args[1].sql})")


REGEXES: tuple[Function, ...] = (
    mapped(
        "REGEXP",
        "text, text",
        t.BOOLEAN,
        lambda a: guarded(a[1], f"({a[1].sql} <> '' AND {a[0].sql} RLIKE {a[1].sql})", "FALSE"),
    ),
    mapped(
        "REGEXP_REPLACE",
        "text, text, text",
        t.STRING,
        lambda a: guarded(a[1], f"regexp_replace({a[0].sql}, {a[1].sql}, {literally(a[2].sql)})"),
        note="the replacement is taken literally",
    ),
    mapped(
        "REGEXP_COUNT",
        "text, text",
        t.INT,
        lambda a: guarded(a[1], f"regexp_count({a[0].sql}, {a[1].sql})"),
        nullable=True,
    ),
    mapped("REGEXP_EXTRACT", "text, text, int?", t.STRING, _extract, nullable=True),
    mapped(
        "REGEXP_EXTRACT_ALL",
        "text, text, int?",
        t.array(t.STRING),
        lambda a: _all(a, a[2].sql if len(a) > 2 else "1"),
        nullable=True,
    ),
    mapped("REGEXP_INSTR", "text, text", t.INT, _instr, nullable=True),
    mapped("REGEXP_SUBSTR", "text, text", t.STRING, lambda a: f"get({_all(a, '0')}, 0)", nullable=True),
)
