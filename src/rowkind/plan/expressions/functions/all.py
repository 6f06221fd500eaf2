"""Every built-in scalar function of Flink 2.2, once."""

from __future__ import annotations

from rowkind.aggregate_functions import UNSUPPORTED_AGGREGATES
from rowkind.plan.expressions.functions.call import Function
from rowkind.plan.expressions.functions.collections import COLLECTIONS
from rowkind.plan.expressions.functions.conditional import CONDITIONAL, CONSTRUCTORS
from rowkind.plan.expressions.functions.json import JSON
from rowkind.plan.expressions.functions.numbers import NUMBERS
from rowkind.plan.expressions.functions.strings import HASHES, STRINGS
from rowkind.plan.expressions.functions.temporal import TEMPORAL
from rowkind.plan.expressions.functions.unsupported import NOT_REPEATABLE, UNSUPPORTED

CATEGORIES: dict[str, tuple[Function, ...]] = {
    "Arithmetic": NUMBERS,
    "Strings": STRINGS,
    "Dates and times": TEMPORAL,
    "Conditions and conversions": CONDITIONAL,
    "Arrays and maps": COLLECTIONS,
    "JSON": JSON,
    "Value construction": CONSTRUCTORS,
    "Hashes": HASHES,
}

FUNCTIONS: dict[str, Function] = {f.name: f for functions in CATEGORIES.values() for f in functions}

REFUSED: dict[str, str] = {**UNSUPPORTED, **UNSUPPORTED_AGGREGATES, **NOT_REPEATABLE}
"""Functions that may not be called, and what to do instead."""
