"""Every built-in scalar function of Flink 2.2, once."""

from __future__ import annotations

from rowkind.plan.expressions.functions.call import Function
from rowkind.plan.expressions.functions.conditional import CONDITIONAL, CONSTRUCTORS
from rowkind.plan.expressions.functions.numbers import NUMBERS
from rowkind.plan.expressions.functions.strings import HASHES, STRINGS

CATEGORIES: dict[str, tuple[Function, ...]] = {
    "Arithmetic": NUMBERS,
    "Strings": STRINGS,
    "Conditions and conversions": CONDITIONAL,
    "Value construction": CONSTRUCTORS,
    "Hashes": HASHES,
}

FUNCTIONS: dict[str, Function] = {f.name: f for functions in CATEGORIES.values() for f in functions}

UNSUPPORTED: dict[str, str] = {}
"""Functions of Flink that have no counterpart here, and what to do instead."""
