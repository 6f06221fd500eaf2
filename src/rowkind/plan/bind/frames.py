"""ROWS and RANGE: which rows before the current one an aggregate OVER a window reads."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rowkind.plan.attributes import TimeAttribute
from rowkind.plan.bind.context import Context
from rowkind.plan.nodes import Node, Order
from rowkind.sql import interval_length


def bind_frame(
    window: exp.Window, order: Sequence[Order], time: TimeAttribute | None, node: Node, context: Context
) -> tuple[bool, int | None]:
    """Whether rows are counted, and how far back the frame goes: in rows or microseconds, None for all of them."""
    spec = window.args.get("spec")
    if spec is None:
        return False, None
    if spec.args.get("end_side") == "FOLLOWING" or spec.args.get("start_side") == "FOLLOWING":
        raise context.unsupported(window, "a frame with FOLLOWING rows", _INSTEAD)
    if spec.args.get("end") != "CURRENT ROW":
        raise context.unsupported(window, "a frame that ends before the current row", _INSTEAD)
    rows, start = spec.args["kind"] == "ROWS", spec.args["start"]
    if start in ("UNBOUNDED", "CURRENT ROW"):
        return rows, None if start == "UNBOUNDED" else 0
    if rows:
        return True, _count(start, window, context)
    if time is None or len(order) != 1:
        raise context.unsupported(window, "a RANGE of values", "Order by a time attribute, or use ROWS.")
    return False, _length(start, window, context)


_INSTEAD = "Use ROWS or RANGE BETWEEN … PRECEDING AND CURRENT ROW."


def _count(tree: exp.Expr, window: exp.Window, context: Context) -> int:
    if isinstance(tree, exp.Literal) and not tree.is_string and tree.name.isdigit():
        return int(tree.name)
    raise context.unsupported(window, "a number of PRECEDING rows that is not a literal", _INSTEAD)


def _length(tree: exp.Expr, window: exp.Window, context: Context) -> int:
    if isinstance(tree, exp.Interval) and not interval_length(tree).months:
        return interval_length(tree).microseconds
    raise context.unsupported(window, "this RANGE", "Write it as an INTERVAL of days, hours, minutes or seconds.")
