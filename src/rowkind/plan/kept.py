"""What an operator keeps, and whether that grows for ever."""

from __future__ import annotations

from functools import singledispatch

from rowkind.aggregate_functions import AGGREGATE_FUNCTIONS, LAG, AggregateFunction, Keeps
from rowkind.kinds import ChangelogMode
from rowkind.plan import nodes as n
from rowkind.plan import time_nodes as t
from rowkind.plan.traits import emits, first_by_time


@singledispatch
def kept(node: n.Node) -> str | None:
    """What an operator keeps in state, and where that grows without bound."""
    return None


@kept.register
def _(node: n.Normalize) -> str:
    return f"last row per ({', '.join(node.key)})"


@kept.register
def _(node: n.Aggregate) -> str:
    what = "accumulators" if node.calls else "a count"
    return f"{what} per ({', '.join(node.keys) or 'the whole table'}){_values(node)}{_growing(node)}"


def _function(call: n.Call) -> AggregateFunction:
    return AGGREGATE_FUNCTIONS[call.function]


def _values(node: n.Aggregate | t.WindowAggregate) -> str:
    """What calls keep beside their accumulators, and of which functions."""
    append_only = emits(node.input) is ChangelogMode.INSERT_ONLY
    found: dict[Keeps, list[str]] = {}
    for call in node.calls:
        if keeps := _function(call).kept(call.distinct, append_only):
            found.setdefault(keeps, []).append(call.function)
    return "".join(f"; {keeps.value} of {', '.join(dict.fromkeys(names))}" for keeps, names in found.items())


@kept.register
def _(node: n.Join) -> str:
    return f"all rows of both sides per join key{_growing(node)}"


@kept.register
def _(node: n.Rank) -> str:
    per = f"per ({', '.join(node.partition)})" if node.partition else "in all"
    if first_by_time(node):
        return (
            f"one row {per} until time has passed it, then that there was one{_growing(node) if node.partition else ''}"
        )
    if emits(node.input) is not ChangelogMode.INSERT_ONLY:
        return f"all rows {per}"
    count = "one row" if node.last == 1 else f"{node.last} rows"
    return f"{count} {per}{_growing(node) if node.partition else ''}"


@kept.register
def _(node: n.SetDifference) -> str:
    return f"a count of every distinct row on both sides{_growing(node)}"


@kept.register
def _(node: t.WindowAssign) -> str | None:
    return "rows of every open session" if node.window.kind is t.WindowKind.SESSION else None


@kept.register
def _(node: t.WindowAggregate) -> str:
    return f"accumulators per ({', '.join(node.keys)}) of open windows{_values(node)}"


@kept.register
def _(node: t.WindowRank) -> str:
    count = "one row" if node.last == 1 else f"{node.last} rows"
    return f"{count} per ({', '.join(node.partition)}) of open windows"


@kept.register
def _(node: t.WindowJoin) -> str:
    return "rows of both sides of open windows"


@kept.register
def _(node: t.IntervalJoin) -> str:
    return "rows of both sides until time has passed their bounds"


@kept.register
def _(node: t.TemporalJoin) -> str:
    if node.proctime:
        return "last row per key of the right side"
    return "left rows until time has passed them; versions per key of the right side that may still be asked for"


@kept.register
def _(node: t.Over) -> str:
    per = f"per ({', '.join(node.partition)})" if node.partition else "in all"
    if not node.calls:
        return "rows until time has passed them"
    if node.time is None and not node.proctime:
        return f"all rows {per}{_growing(node)}"
    waiting = "rows until time has passed them; " if node.time is not None else ""
    if node.preceding is None:
        return f"{waiting}{' and '.join(_carried(node))} {per}{_growing(node) if _grows(node) else ''}"
    return f"{waiting}the rows of the frame {per}{_growing(node) if node.rows and node.partition else ''}"


def _carried(node: t.Over) -> list[str]:
    """What a frame from the first row on keeps of the rows that have passed."""
    kept_by = [_function(call).kept(call.distinct, True) for call in node.calls if call.function != LAG]
    offsets = [call.offset for call in node.calls if call.function == LAG]
    found = ["accumulators"] if any(keeps is not Keeps.LIST for keeps in kept_by) else []
    if Keeps.DISTINCT in kept_by:
        found.append(Keeps.DISTINCT.value)
    if Keeps.LIST in kept_by:
        found.append(Keeps.LIST.value)
    elif offsets:
        found.append(f"the last {max(offsets)} rows")
    return found


def _grows(node: t.Over) -> bool:
    calls = [call for call in node.calls if call.function != LAG]
    return bool(node.partition) or any(_function(call).kept(call.distinct, True) for call in calls)


@kept.register
def _(node: n.SinkMaterialize) -> str:
    return f"live rows per ({', '.join(node.key)})"


@kept.register
def _(node: n.SinkBuffer) -> str:
    return f"the last row per ({', '.join(node.key)}) that waits to be written, below {node.max_rows} a partition"


def _growing(node: n.Node) -> str:
    if any(emits(below) is ChangelogMode.INSERT_ONLY for below in node.inputs):
        return "; grows with the input for ever unless 'table.exec.state.ttl' is set"
    return ""
