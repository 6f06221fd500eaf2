"""What the rows of a node are made of: its columns in terms of what lies below, and the conditions they have passed.

Steps without state are looked through, down to tables and stateful operators. So two plans that compute the same in
other words, or with other steps beside, have the same lineage.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from rowkind.plan import nodes as n
from rowkind.plan import time_nodes as t
from rowkind.plan.described import described
from rowkind.plan.rules.net_sinks import keeps_state

_TEXT_OR_NAME = re.compile(r"'(?:[^'\\]|\\.)*'|(?<!\.)`((?:[^`]|``)*)`", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Lineage:
    """Columns by name, and the conditions; `origins` are the tables and operators that the rows come from."""

    columns: Mapping[str, str]
    origins: tuple[str, ...]
    conditions: tuple[str, ...] = ()


def lineage(node: n.Node, origin: Callable[[n.Node], str]) -> Lineage:
    """`origin` names the tables and stateful operators where it ends."""
    if isinstance(node, n.Union):
        return _either([lineage(branch, origin) for branch in node.branches], node)
    if not isinstance(node, n.Unary) or keeps_state(node):
        name = origin(node)
        return Lineage({c.name: f"{name}.{c.name}" for c in node.columns}, (name,))
    below = lineage(node.input, origin)
    match node:
        case n.Project():
            made = {e.name: substituted(e.expr.sql, below.columns) for e in node.expressions}
            return replace(below, columns=made)
        case n.Filter():
            passed = substituted(node.condition.sql, below.columns)
            return replace(below, conditions=tuple(sorted({*below.conditions, passed})))
        case n.Unnest():
            elements = substituted(node.collection.sql, below.columns)
            made = {c.name: f"unnest({elements}).{c.name}" for c in node.made}
            return replace(below, columns={**below.columns, **made})
        case t.WindowAssign():
            made = {c.name: f"{described(node)}.{c.name}" for c in node.columns if c.name not in below.columns}
            return replace(below, columns={**below.columns, **made})
    return below


def _either(branches: list[Lineage], node: n.Union) -> Lineage:
    texts = zip(*(branch.columns.values() for branch in branches), strict=True)
    columns = {c.name: " or ".join(text) for c, text in zip(node.columns, texts, strict=True)}
    conditions = tuple(f"{at}: {text}" for at, branch in enumerate(branches) for text in branch.conditions)
    return Lineage(columns, tuple(name for branch in branches for name in branch.origins), conditions)


def substituted(sql: str, columns: Mapping[str, str]) -> str:
    """The expression with other expressions in the place of columns; text in quotes and members of rows stay."""

    def change(found: re.Match[str]) -> str:
        name = (found.group(1) or "").replace("``", "`")
        return f"({columns[name]})" if name in columns else found.group()

    return _TEXT_OR_NAME.sub(change, sql)
