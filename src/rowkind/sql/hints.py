"""Hints: `/*+ OPTIONS('k'='v') */` after a table, and those after SELECT."""

from __future__ import annotations

import re
from dataclasses import replace

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

import rowkind.sql.expressions as expressions
from rowkind.sql.tokens import Cursor, placed, tokenize

_START, _END = len("/*+"), len("*/")


def hint_calls(c: Cursor) -> list[exp.Expr]:
    """The calls in a hint at the cursor, each an exp.Anonymous: `STATE_TTL('o'='1d')`, `BROADCAST(t)`."""
    if c.token.token_type is not TokenType.HINT:
        return []
    inner = _inside(c)
    c.advance()
    found = inner.separated(lambda: _call(inner))
    if not inner.done:
        raise inner.unexpected("',' or the end of the hint")
    return found


def _inside(c: Cursor) -> Cursor:
    """A cursor over the hint's own tokens; what stands before it is blanked, so that positions stay as they are."""
    start, end = c.token.start + _START, c.token.end + 1 - _END
    blank = re.sub(r"[^\n]", " ", c.source.text[:start])
    return Cursor(c.source, tokenize(replace(c.source, text=blank + c.source.text[start:end])), end)


def _call(c: Cursor) -> exp.Expr:
    token = c.token
    name = c.name("a hint").name.upper()
    arguments = c.wrapped(lambda: expressions.expression(c)) if c.at("(") else []
    return placed(exp.Anonymous(this=name, expressions=arguments), token)


def table_options(c: Cursor) -> dict[str, str]:
    """The dynamic options of a table: `/*+ OPTIONS('k'='v') */`."""
    place = c.token
    options: dict[str, str] = {}
    for call in hint_calls(c):
        if call.name != "OPTIONS":
            raise c.error(
                "CLAUSE_NOT_SUPPORTED", place, clause=f"the hint {call.name} on a table", instead=_ONLY_OPTIONS
            )
        for pair in call.expressions:
            if not (isinstance(pair, exp.EQ) and pair.this.is_string and pair.expression.is_string):
                raise c.error("SQL_SYNTAX", place, expected="'key'='value' in OPTIONS", found="something else")
            if pair.this.name in options:
                raise c.error("DUPLICATE_OPTION", place, option=pair.this.name)
            options[pair.this.name] = pair.expression.name
    return options


_ONLY_OPTIONS = "A table takes the hint OPTIONS; the others stand after SELECT."
