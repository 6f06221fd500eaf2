"""Where time comes from: each scan's watermark in terms of its own columns, and the scans an operator follows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import exp

from rowkind.plan import nodes as n
from rowkind.plan import time_nodes as t
from rowkind.plan.lineage import substituted
from rowkind.plan.traits import first_by_time
from rowkind.sql import interval_length


@dataclass(frozen=True, slots=True)
class ScanWatermark:
    """The watermark of a scan: an expression over its columns, or where it is as simple a column and a delay."""

    sql: str
    column: str | None = None
    delay: int = 0
    """Microseconds that it runs behind the column."""


def scan_watermarks(roots: Iterable[n.Node]) -> dict[n.Scan, ScanWatermark]:
    """The watermarks of scans that have one. It is taken before anything happens to the rows of a scan."""
    assigners = {node for root in roots for node in n.walk(root) if isinstance(node, n.WatermarkAssigner)}
    return dict(_traced(node) for node in assigners)


def _traced(node: n.WatermarkAssigner) -> tuple[n.Scan, ScanWatermark]:
    sql = node.watermark.expr.sql
    column, delay = _simple(node.watermark.expr.tree)
    below = node.input
    while not isinstance(below, n.Scan):
        if isinstance(below, n.Project):
            made = {e.name: e.expr for e in below.expressions}
            sql = substituted(sql, {name: expr.sql for name, expr in made.items()})
            column = made[column].column if column is not None else None
        assert isinstance(below, n.Unary)
        below = below.input
    return below, ScanWatermark(sql, column, delay if column is not None else 0)


def _simple(tree: exp.Expr) -> tuple[str | None, int]:
    """The column and the delay of `time` and `time - INTERVAL …`."""
    tree = tree.unnest()
    if isinstance(tree, exp.Column):
        return tree.name, 0
    if isinstance(tree, exp.Sub):
        time, delay = tree.this.unnest(), tree.expression.unnest()
        if isinstance(time, exp.Column) and isinstance(delay, exp.Interval) and not interval_length(delay).months:
            return time.name, interval_length(delay).microseconds
    return None, 0


def follows_watermark(node: n.Node) -> bool:
    """Whether an operator does something when event time moves on."""
    match node:
        case t.WindowAssign():
            return node.window.kind is t.WindowKind.SESSION and not node.window.proctime
        case t.WindowAggregate() | t.WindowRank():
            return not node.window.proctime
        case t.WindowJoin():
            return True
        case t.IntervalJoin() | t.TemporalJoin():
            return not node.proctime
        case t.Over():
            return node.time is not None
    return first_by_time(node)


def watermarked_below(node: n.Node) -> frozenset[n.Scan]:
    """The scans below a node that have a watermark; time in the node is the least of theirs."""
    return frozenset(
        below
        for assigner in n.walk(node)
        if isinstance(assigner, n.WatermarkAssigner)
        for below in n.walk(assigner)
        if isinstance(below, n.Scan)
    )
