"""What the rows of a node are made of: its columns in terms of what lies below, and the conditions they have passed.

Steps without state are looked through, down to tables and stateful operators. So two plans that compute the same in
other words, or with other steps beside, have the same lineage.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from rowkind.plan import nodes as n
from rowkind.plan import time_nodes as t
from rowkind.plan.identity import column_identity, digest, identity
from rowkind.plan.traits import keeps_state

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
        return Lineage({c.name: _text(name, *column_identity(node, c.name)) for c in node.columns}, (name,))
    below = lineage(node.input, origin)
    match node:
        case n.Project():
            made = {e.name: substituted(e.expr.sql, below.columns) for e in node.expressions}
            return replace(below, columns=made)
        case n.Filter():
            return _passed(below, substituted(node.condition.sql, below.columns))
        case n.Unnest():
            return _repeated(node, below, substituted(node.collection.sql, below.columns))
        case t.WindowAssign():
            return _repeated(node, below, below.columns[node.window.time])
    return below


def _passed(rows: Lineage, condition: str) -> Lineage:
    return replace(rows, conditions=tuple(sorted({*rows.conditions, condition})))


def _repeated(node: n.Unnest | t.WindowAssign, below: Lineage, by: str) -> Lineage:
    """Rows that a step repeats, or leaves out: so it counts as a condition too, whoever reads its columns."""
    step = _text(type(node).__name__, digest(identity(node)), by)
    made = {c.name: _text(step, c.name) for c in node.columns if c.name not in below.columns}
    return _passed(replace(below, columns={**below.columns, **made}), step)


def _text(*parts: object) -> str:
    return json.dumps(parts, ensure_ascii=False)


def _either(branches: list[Lineage], node: n.Union) -> Lineage:
    texts = zip(*(branch.columns.values() for branch in branches), strict=True)
    columns = {c.name: _text(*text) for c, text in zip(node.columns, texts, strict=True)}
    conditions = tuple(_text(at, text) for at, branch in enumerate(branches) for text in branch.conditions)
    return Lineage(columns, tuple(name for branch in branches for name in branch.origins), conditions)


def substituted(sql: str, columns: Mapping[str, str]) -> str:
    """The expression with other expressions in the place of columns; text in quotes and members of rows stay."""

    def change(found: re.Match[str]) -> str:
        name = (found.group(1) or "").replace("``", "`")
        return f"({columns[name]})" if name in columns else found.group()

    return _TEXT_OR_NAME.sub(change, sql)
