"""GROUP BY and aggregate calls: one projection below, the aggregate, and the SELECT list rewritten above it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from rowkind.aggregate_functions import UNSUPPORTED_AGGREGATES
from rowkind.plan.bind.calls import bind_call
from rowkind.plan.bind.context import Context
from rowkind.plan.bind.grouping_sets import GROUPINGS, SET_COLUMN, SetsOfKeys, expanded, grouping, written_sets
from rowkind.plan.bind.inputs import Inputs
from rowkind.plan.bind.scope import Item, Scope
from rowkind.plan.bind.windows import aggregate
from rowkind.plan.columns import reference
from rowkind.plan.expressions.scope import failure
from rowkind.plan.nodes import Call, Node
from rowkind.sql import render
from rowkind.sql.tree_nodes import is_aggregate


def bind_grouping(
    select: exp.Select, scope: Scope, items: Sequence[Item], having: exp.Expr | None, context: Context
) -> tuple[Node, list[Item], exp.Expr | None]:
    """The aggregate, and the SELECT items and HAVING in terms of its columns."""
    inputs = Inputs(scope, context)
    group = select.args.get("group")
    sets = [[scope.resolve(tree) for tree in one] for one in written_sets(group)] if group else [[]]
    keys = {render(tree): inputs.column(tree).name for one in sets for tree in one}
    calls: dict[str, Call] = {}
    marked = [*(item.tree for item in items), *([having] if having is not None else [])]
    for tree in marked:
        for found in _calls(tree):
            if render(found) not in calls:
                name = f"${found.find(exp.Anonymous).name}{len(calls)}"  # type: ignore[union-attr]
                calls[render(found)] = bind_call(found, inputs, name)
    kept = SetsOfKeys(tuple(dict.fromkeys(keys.values())), tuple(frozenset(keys[render(t)] for t in s) for s in sets))
    node = _aggregated(inputs, kept, tuple(calls.values()))
    rewrite = _Rewriting(keys, {text: call.name for text, call in calls.items()}, kept, scope)
    rewritten = [Item(item.name, rewrite(item.tree)) for item in items]
    return node, rewritten, None if having is None else rewrite(having)


def _aggregated(inputs: Inputs, keys: SetsOfKeys, calls: tuple[Call, ...]) -> Node:
    if len(keys.sets) == 1:
        return aggregate(inputs.only(), keys.names, calls)
    return expanded(inputs.scope.node, tuple(inputs.made.values()), keys, calls, inputs.context)


def _calls(tree: exp.Expr) -> list[exp.Expr]:
    """Aggregate calls in a tree with the FILTER around them; those under OVER belong to the window."""
    found: list[exp.Expr] = []
    for node in tree.find_all(exp.Anonymous):
        if not is_aggregate(node):
            continue
        whole: exp.Expr = node
        while isinstance(whole.parent, (exp.Filter, exp.IgnoreNulls, exp.RespectNulls)):
            whole = whole.parent
        if not isinstance(whole.parent, exp.Window) or whole.arg_key != "this":
            found.append(whole)
    return found


@dataclass(frozen=True, slots=True)
class _Rewriting:
    """Puts columns of the aggregate in the place of group expressions, aggregate calls and GROUPING()."""

    keys: dict[str, str]
    calls: dict[str, str]
    sets: SetsOfKeys
    scope: Scope

    def __call__(self, tree: exp.Expr) -> exp.Expr:
        rewritten = tree.copy().transform(self._node)
        known = {*self.keys.values(), *self.calls.values(), SET_COLUMN}
        for column in rewritten.find_all(exp.Column):
            if column.name not in known:
                self._known_aggregate(column)
                raise self.scope.error("NOT_GROUPED", column, name=column.name.rpartition(".")[2])
        return rewritten

    def _known_aggregate(self, column: exp.Expr) -> None:
        """An aggregate function that rowkind does not have is what is wrong, not the column in it."""
        call = column.find_ancestor(exp.Anonymous)
        while call is not None:
            if instead := UNSUPPORTED_AGGREGATES.get(call.name.upper()):
                raise failure("FUNCTION_NOT_SUPPORTED", call, function=call.name, instead=instead)
            call = call.find_ancestor(exp.Anonymous)

    def _node(self, node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Anonymous) and node.name.upper() in GROUPINGS:
            return grouping(node, self.keys, self.sets, self.scope)
        text = render(node)
        name = self.calls.get(text) or self.keys.get(text)
        return reference(name) if name else node
