"""UNNEST in Spark's words."""

from __future__ import annotations

from rowkind.kinds import KIND_COLUMN
from rowkind.plan.nodes import Unnest
from rowkind.types import Root, quote

_AT, _KEY, _ITEM = "__at", "__key", "__item"


def generator(node: Unnest, collection: str) -> str:
    """The generator that gives one row an element."""
    if node.collection.type.root is Root.MULTISET:
        collection = f"flatten(transform(map_entries({collection}), e -> array_repeat(e.key, e.value)))"
    name = ("posexplode" if node.ordinality else "explode") + ("_outer" if node.outer else "")
    made = [_AT] * node.ordinality + ([_KEY, _ITEM] if node.collection.type.root is Root.MAP else [_ITEM])
    return f"{name}({collection}) AS ({', '.join(made)})"


def unnested(node: Unnest) -> list[str]:
    """The columns over the generator's: those of the input, those of the element, and the kind."""
    type, names = node.collection.type, [quote(c.name) for c in node.made]
    if type.root is Root.MAP:
        made = [_KEY, _ITEM]
    elif type.element is not None and type.element.root is Root.ROW:
        made = [f"{_ITEM}.{quote(f.name)}" for f in type.element.fields]
    else:
        made = [_ITEM]
    made += [f"{_AT} + 1"] * node.ordinality
    kept = [quote(c.name) for c in node.input.columns]
    return [*kept, *(f"{sql} AS {name}" for sql, name in zip(made, names, strict=True)), KIND_COLUMN]
