"""The page about functions, written from the table: `python -m rowkind.plan.expressions.functions.document`."""

from __future__ import annotations

import re
from pathlib import Path

from rowkind.aggregate_functions import AGGREGATE_FUNCTIONS, UNSUPPORTED_AGGREGATES, AggregateFunction
from rowkind.plan.expressions.functions.all import CATEGORIES
from rowkind.plan.expressions.functions.call import Function
from rowkind.plan.expressions.functions.differences import DIFFERENCES
from rowkind.plan.expressions.functions.unsupported import NOT_REPEATABLE, UNSUPPORTED

PAGE = Path("docs/functions.md")

_INTRODUCTION = """# Functions

<!-- Generated from the table of functions: python -m rowkind.plan.expressions.functions.document -->

Every built-in scalar function of Flink 2.2 is below: it has Flink's name, arguments and result type, and runs as Spark
SQL. The mapped ones are checked against results recorded from Flink. Functions of Spark that Flink does not have, and
functions registered in the Spark session, can be called too, by Spark's name and with Spark's result type.
[Aggregate functions](#aggregates) are rowkind's own.

Operators, casts and arithmetic follow Flink: INT / INT is INT, decimals have Flink's precision and scale, a
TIMESTAMP(3) is printed with three digits of fraction, LIKE has no escape character unless one is given. On purpose
different: a number that does not fit its type is an error, in arithmetic and in CAST, where Flink wraps it or makes it
NULL; TRY_CAST gives NULL. A whole number or decimal divided by zero is an error, a DOUBLE gives Infinity or NaN.

What depends on the time or on chance is fixed for each batch, so that a batch that is run again writes the same rows.
"""


def page() -> str:
    parts = [_INTRODUCTION]
    for title, functions in CATEGORIES.items():
        rows = [f"| `{f.name}` | {_parameters(f)} | {_way(f)} |" for f in sorted(functions, key=lambda f: f.name)]
        parts.append("\n".join([f"## {title}\n", "| function | arguments | in Spark |", "|---|---|---|", *rows, ""]))
    parts.append(_aggregates())
    parts.append(_differences())
    parts.append(_refusals("Not supported", {**UNSUPPORTED, **UNSUPPORTED_AGGREGATES}))
    parts.append(_refusals("Functions of Spark that may not be called", NOT_REPEATABLE))
    return "\n".join(parts)


_AGGREGATES = """## Aggregates

In GROUP BY, in windows and OVER rows, each with DISTINCT and FILTER. Accumulators of a few columns are kept per group;
the last column says what is kept beside them when rows may be taken back. Of append-only input only ARRAY_AGG, COLLECT
and LISTAGG keep more. DISTINCT keeps the distinct values and how often each is there.

| function | argument | kept when rows are taken back |
|---|---|---|
"""


def _aggregates() -> str:
    entries = sorted(AGGREGATE_FUNCTIONS.values(), key=lambda entry: entry.name)
    return _AGGREGATES + "\n".join([*map(_aggregate, entries), ""])


def _aggregate(entry: AggregateFunction) -> str:
    names = ", ".join(f"`{name}`" for name in (entry.name, *entry.synonyms))
    argument = entry.takes.words + (" or `*`" if entry.optional else "") + (", [separator]" if entry.separator else "")
    return f"| {names} | {argument} | {entry.keeps.value if entry.keeps else 'nothing'} |"


def _parameters(function: Function) -> str:
    shown = []
    for position, kind in enumerate(function.parameters.kinds):
        last = position == len(function.parameters.kinds) - 1
        name = _WORDS.get(kind, kind)
        if last and function.parameters.repeats:
            name = f"{name}, …"
        shown.append(f"[{name}]" if position >= function.parameters.required else name)
    return ", ".join(shown) or "none"


_WORDS = {
    "text": "string",
    "text_or_bytes": "string or bytes",
    "text_or_int": "string or integer",
    "point": "date, time or timestamp",
    "date": "date or timestamp",
    "clock": "time or timestamp",
    "double": "number",
    "bigint": "integer",
    "int": "integer",
    "bool": "boolean",
    "word": "keyword",
    "collection": "array or map",
}


def _way(function: Function) -> str:
    plain = re.fullmatch(r"(\w+)\((?:\{\w+\}(?:, )?)*\)", function.spark)
    if plain and plain[1].upper() == function.name:
        way = "same"
    elif function.spark and len(function.spark) <= 60:
        way = "`" + re.sub(r"\{(\w+)\}", _argument, function.spark).replace("|", "\\|") + "`"
    else:
        way = "mapped"
    return f"{way}; {function.note}" if function.note else way


def _argument(match: re.Match[str]) -> str:
    return "…" if match[1] == "all" else "abcdef"[int(match[1])]


def _differences() -> str:
    rows = [f"| {d.what} | {' | '.join(map(_code, d.example))} | {d.why} |" for d in DIFFERENCES]
    return "\n".join([_DIFFERENT, "| what | example | here | Flink | why |", "|---|---|---|---|---|", *rows, ""])


def _code(text: str) -> str:
    return "`" + text.replace("|", "\\|") + "`"


_DIFFERENT = """## Different from Flink

Calls of every function, operator and cast with odd values are compared with answers recorded from Flink 2.2.1. These
differences remain, all of them on purpose.
"""


def _refusals(title: str, refused: dict[str, str]) -> str:
    rows = [f"| `{name}` | {instead} |" for name, instead in sorted(refused.items())]
    return "\n".join([f"## {title}\n", "| function | instead |", "|---|---|", *rows, ""])


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
