"""What an operator does, in words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

from rowkind.aggregate_functions import LAG
from rowkind.connectors.contract import Table
from rowkind.plan import nodes as n
from rowkind.plan import time_nodes as t


@singledispatch
def described(node: n.Node) -> str:
    """One operator in words."""
    return type(node).__name__


@described.register
def _(node: n.Scan) -> str:
    return f"Scan {node.table.name} ({_table(node.table)})"


@described.register
def _(node: n.Sink) -> str:
    net = ", net change per key and batch" if node.net else ", every row"
    return f"Sink {node.table.name} ({_table(node.table)}{net})"


def _table(table: Table) -> str:
    return ", ".join([table.connector, *table.details])


@described.register
def _(node: n.Values) -> str:
    return f"Values ({len(node.rows)} rows)"


@described.register
def _(node: n.Project) -> str:
    return f"Project ({', '.join(_named(e) for e in node.expressions)})"


def _named(made: n.Named) -> str:
    if made.expr.column == made.name:
        return made.name
    return f"{made.expr.sql} AS {made.name}"


@described.register
def _(node: n.Filter) -> str:
    return f"Filter ({node.condition.sql})"


@described.register
def _(node: n.Union) -> str:
    return "UnionAll"


@described.register
def _(node: n.WatermarkAssigner) -> str:
    return f"Watermark ({node.watermark.column}: {node.watermark.expr.sql})"


@described.register
def _(node: n.Normalize) -> str:
    pushed = f", filter {node.filter.sql}" if node.filter else ""
    return f"Normalize (key {', '.join(node.key)}{pushed})"


@described.register
def _(node: n.Aggregate) -> str:
    if not node.calls:
        return f"Distinct ({', '.join(node.keys)})"
    by = f"by {', '.join(node.keys)}: " if node.keys else ""
    stages = "; DISTINCT split by value" if node.split_distinct else ""
    return f"GroupAggregate ({by}{', '.join(_call(c) for c in node.calls)}{stages})"


def _call(call: n.Call) -> str:
    if call.function == LAG:
        value, *default = call.arguments
        return f"{'LEAD' if call.offset < 0 else 'LAG'}({', '.join([value, str(abs(call.offset)), *default])})"
    arguments = ("DISTINCT " if call.distinct else "") + (", ".join(call.arguments) or "*")
    return f"{call.function}({arguments})" + (f" FILTER {call.filter}" if call.filter else "")


@described.register
def _(node: n.Join) -> str:
    null_aware = ", NULLs as NOT IN has them" if node.null_aware else ""
    return f"{node.kind.capitalize()}Join ({_on(node)}{null_aware})"


def _on(node: n.Join | t.WindowJoin | t.IntervalJoin | t.TemporalJoin) -> str:
    keys = " AND ".join(f"{a} = {b}" for a, b in zip(node.left_keys, node.right_keys, strict=True)) or "no keys"
    return keys + (f", {node.residual.sql}" if node.residual else "")


@described.register
def _(node: n.Rank) -> str:
    last = node.last if node.last is not None else "end"
    number = f", number as {node.rank}" if node.rank else ""
    name = {"ROW_NUMBER": "TopN" if node.order else "Limit"}.get(node.function, f"{node.function} TopN")
    return f"{name} ({_by(node.partition)}{_order(node.order)}, {node.first} to {last}{number})"


def _by(columns: Sequence[str]) -> str:
    return f"by {', '.join(columns)}, " if columns else ""


def _order(order: Sequence[n.Order]) -> str:
    return f"order {', '.join(_ordered(o) for o in order) or 'of arrival'}"


def _ordered(order: n.Order) -> str:
    direction = "DESC" if order.descending else "ASC"
    nulls = "" if order.nulls_first is not order.descending else f" NULLS {'FIRST' if order.nulls_first else 'LAST'}"
    return f"{'arrival' if order.arrival else order.column} {direction}{nulls}"


@described.register
def _(node: n.SetDifference) -> str:
    return f"{'Intersect' if node.intersect else 'Except'}{'All' if node.all else ''}"


@described.register
def _(node: n.Unnest) -> str:
    outer = "LEFT " if node.outer else ""
    return f"Unnest ({outer}{node.collection.sql} AS {', '.join(f.name for f in node.made)})"


@described.register
def _(node: t.WindowAssign) -> str:
    return f"Window ({_window(node.window)})"


def _window(window: t.WindowSpec) -> str:
    lengths = [_length(part) for part in (window.slide, window.size) if part is not None]
    offset = f", offset {_length(window.offset)}" if window.offset else ""
    keys = f" by {', '.join(window.partition)}" if window.partition else ""
    time = f"processing time {window.time}" if window.proctime else window.time
    return f"{window.kind} {' of '.join(lengths)}{offset}{keys} on {time}"


def _length(micros: int) -> str:
    for unit, size in (("d", 86_400_000_000), ("h", 3_600_000_000), ("min", 60_000_000), ("s", 1_000_000)):
        if micros % size == 0 and micros:
            return f"{micros // size} {unit}"
    return f"{micros // 1000} ms" if micros % 1000 == 0 else f"{micros} µs"


@described.register
def _(node: t.WindowAggregate) -> str:
    calls = ", ".join(_call(c) for c in node.calls) or "distinct rows"
    others = [key for key in node.keys if key not in (node.start, node.end)]
    by = f", by {', '.join(others)}" if others else ""
    return f"WindowAggregate ({node.start} to {node.end}{by}: {calls})"


@described.register
def _(node: t.WindowRank) -> str:
    number = f", number as {node.rank}" if node.rank else ""
    order = _order(node.order)
    return f"WindowTopN ({_by(node.partition)}window to {node.end}, {order}, {node.first} to {node.last}{number})"


@described.register
def _(node: t.WindowJoin) -> str:
    return f"Window{node.kind.capitalize()}Join ({_on(node)}, window to {node.left_end})"


@described.register
def _(node: t.IntervalJoin) -> str:
    bounds = f"{_signed(node.lower)} to {_signed(node.upper)}"
    return f"Interval{node.kind.capitalize()}Join ({_on(node)}, {node.right_time} - {node.left_time} from {bounds})"


def _signed(micros: int) -> str:
    return f"-{_length(-micros)}" if micros < 0 else _length(micros)


@described.register
def _(node: t.TemporalJoin) -> str:
    when = "now" if node.proctime else f"at {node.left_time}, versions by {node.right_time}"
    return f"Temporal{node.kind.capitalize()}Join ({_on(node)}, {when})"


@described.register
def _(node: t.Over) -> str:
    if not node.calls:
        return f"TemporalSort ({_order(node.order)})"
    calls = ", ".join(_call(c) for c in node.calls)
    return f"Over ({_by(node.partition)}{_order(node.order)}, {_frame(node)}: {calls})"


def _frame(node: t.Over) -> str:
    word = "rows" if node.rows else "range"
    if node.preceding is None:
        return f"{word} from the first"
    return f"{word} from {node.preceding if node.rows else _length(node.preceding)} before"


@described.register
def _(node: n.SinkMaterialize) -> str:
    return f"SinkMaterialize (key {', '.join(node.key)})"


@described.register
def _(node: n.SinkBuffer) -> str:
    return f"SinkBuffer ({node.table}, key {', '.join(node.key)})"


@described.register
def _(node: n.Print) -> str:
    return f"Print (final rows, {_order(node.order)})" if node.order else "Print"
