"""JOIN … USING and NATURAL JOIN: equal names, and one column for each in the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from rowkind.join_kind import JoinKind
from rowkind.plan.bind.context import Context
from rowkind.plan.bind.joins import both_sides, joined
from rowkind.plan.bind.scope import Merged, Scope
from rowkind.plan.columns import passed, reference
from rowkind.plan.nodes import Named, Project


def bind_using(left: Scope, right: Scope, join: exp.Join, kind: JoinKind, context: Context) -> Scope:
    """The join on columns of the same name; a column of both sides stands in the result once."""
    names = join.args.get("using") or _common(left, right, join, context)
    pairs = [(left.resolve(exp.column(n.copy())), right.resolve(exp.column(n.copy()))) for n in names]
    parts = [exp.EQ(this=a, expression=b) for a, b in pairs]
    node = joined(left.node, right.node, kind, parts, context)
    scope = replace(both_sides(left, right), node=node)
    merged = {name.name: (a.name, b.name) for name, (a, b) in zip(names, pairs, strict=True)}
    if kind is JoinKind.FULL:
        scope = _either(scope, merged, context)
    columns = {}
    for name, (a, b) in merged.items():
        before = [m for m in (left.merged.get(name), right.merged.get(name)) if m is not None]
        sources = frozenset({a, b}).union(*(m.sources for m in before))
        columns[name] = Merged({JoinKind.RIGHT: b, JoinKind.FULL: f"${name}"}.get(kind, a), sources)
    kept = {name: m for name, m in scope.merged.items() if name not in columns}
    return replace(scope, merged={**columns, **kept})


def _either(scope: Scope, merged: Mapping[str, tuple[str, str]], context: Context) -> Scope:
    """A FULL JOIN pads either side: the column is the one that is there."""
    trees = [exp.Anonymous(this="COALESCE", expressions=[reference(a), reference(b)]) for a, b in merged.values()]
    made = [Named(f"${name}", expr) for name, expr in zip(merged, context.exprs(trees, scope.types), strict=True)]
    taken = {m.name for m in made}
    kept = [Named(c.name, passed(c.name, scope.node)) for c in scope.node.columns if c.name not in taken]
    return replace(scope, node=Project(scope.node, (*kept, *made)))


def _common(left: Scope, right: Scope, join: exp.Join, context: Context) -> list[exp.Identifier]:
    on_right = {name for name, _ in right.star(None)}
    found = list(dict.fromkeys(name for name, _ in left.star(None) if name in on_right))
    if not found:
        raise context.error("NATURAL_JOIN_WITHOUT_COLUMNS", join.this)
    return [exp.to_identifier(name, quoted=True) for name in found]
