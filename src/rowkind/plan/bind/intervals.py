"""Interval joins: a join condition that keeps the times of both rows within bounds of each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from rowkind.kinds import ChangelogMode
from rowkind.plan.attributes import TimeAttribute, time_attribute
from rowkind.plan.nodes import Node
from rowkind.plan.traits import emits
from rowkind.sql import interval_length


@dataclass(frozen=True, slots=True)
class Interval:
    """right.time - left.time lies in [lower, upper] microseconds; `rest` is what else the condition says."""

    left_time: str
    right_time: str
    lower: int
    upper: int
    proctime: bool
    rest: tuple[exp.Expr, ...]


@dataclass(frozen=True, slots=True)
class _Limit:
    """One inequality: right.time - left.time is at least `lower` or at most `upper`."""

    left_time: str
    right_time: str
    lower: int | None = None
    upper: int | None = None


def interval_of(parts: Sequence[exp.Expr], left: Node, right: Node) -> Interval | None:
    """The bounds that resolved conditions set between two time attributes of append-only inputs, if they set both."""
    if any(emits(side) is not ChangelogMode.INSERT_ONLY for side in (left, right)):
        return None
    limits: list[_Limit] = []
    rest: list[exp.Expr] = []
    for part in parts:
        found = [_limit(one, left, right) for one in _inequalities(part)]
        if found and all(limit is not None for limit in found):
            limits += [limit for limit in found if limit is not None]
        else:
            rest.append(part)
    lowers = [limit.lower for limit in limits if limit.lower is not None]
    uppers = [limit.upper for limit in limits if limit.upper is not None]
    if not lowers or not uppers or len({(limit.left_time, limit.right_time) for limit in limits}) != 1:
        return None
    times = limits[0].left_time, limits[0].right_time
    proctime = time_attribute(left, times[0]) is TimeAttribute.PROCTIME
    return Interval(*times, max(lowers), min(uppers), proctime, tuple(rest))


def _inequalities(part: exp.Expr) -> Iterator[tuple[type[exp.Expr], exp.Expr, exp.Expr]]:
    if isinstance(part, exp.Between) and not part.args.get("symmetric"):
        yield exp.GTE, part.this, part.args["low"]
        yield exp.LTE, part.this, part.args["high"]
    elif isinstance(part, (exp.LT, exp.LTE, exp.GT, exp.GTE)):
        yield type(part), part.this, part.expression


def _limit(inequality: tuple[type[exp.Expr], exp.Expr, exp.Expr], left: Node, right: Node) -> _Limit | None:
    kind, first, second = inequality
    a, b = _moved(first), _moved(second)
    if a is None or b is None:
        return None
    if a[0] in {c.name for c in right.columns}:
        a, b, kind = b, a, _MIRRORED[kind]
    kinds = time_attribute(left, a[0]), time_attribute(right, b[0]) if b[0] != a[0] else None
    if kinds[0] is None or kinds[0] is not kinds[1]:
        return None
    if left.column(a[0]).type.root is not right.column(b[0]).type.root:
        return None
    # left + x <= right + y says right - left >= x - y; times are whole microseconds.
    distance = a[1] - b[1]
    match kind:
        case exp.LT | exp.LTE:
            return _Limit(a[0], b[0], lower=distance + (kind is exp.LT))
        case _:
            return _Limit(a[0], b[0], upper=distance - (kind is exp.GT))


_MIRRORED: dict[type[exp.Expr], type[exp.Expr]] = {exp.LT: exp.GT, exp.LTE: exp.GTE, exp.GT: exp.LT, exp.GTE: exp.LTE}


def _moved(tree: exp.Expr) -> tuple[str, int] | None:
    """A column moved by intervals: its name and by how many microseconds."""
    tree = tree.unnest()
    if isinstance(tree, exp.Column):
        return tree.name, 0
    if not isinstance(tree, (exp.Add, exp.Sub)):
        return None
    first, second = tree.this.unnest(), tree.expression.unnest()
    if isinstance(tree, exp.Add) and isinstance(first, exp.Interval):
        first, second = second, first
    inner = _moved(first)
    if inner is None or not isinstance(second, exp.Interval) or interval_length(second).months:
        return None
    length = interval_length(second).microseconds
    return inner[0], inner[1] + (length if isinstance(tree, exp.Add) else -length)
