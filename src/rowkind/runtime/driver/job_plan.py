"""A job as it runs: the plans of its sinks, the tables it reads, and what batches must know of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from rowkind.catalog.inserts import check_sink_parallelism
from rowkind.connectors.contract import Table
from rowkind.operators.aggregate.distinct import telling
from rowkind.operators.contract import Operator
from rowkind.options.constraints import USUAL, Constraints
from rowkind.plan import nodes as n
from rowkind.plan import time_nodes as t
from rowkind.plan.identity import identity
from rowkind.plan.traits import emits, keeps_state, stateful
from rowkind.plan.watermarks import ScanWatermark, follows_watermark, scan_watermarks, watermarked_below
from rowkind.runtime.driver.operator_names import OperatorName, operator_names
from rowkind.runtime.driver.plan_operators import operators_for


@dataclass(frozen=True)
class NamedOperator:
    """An operator, under the name that its state has in the checkpoint."""

    name: str
    operator: Operator


@dataclass(frozen=True)
class JobPlan:
    """One job: every INSERT of a statement set, or one SELECT."""

    roots: tuple[n.Node, ...]
    scans: tuple[n.Scan, ...]
    splittable: tuple[bool, ...]
    """For each scan, whether a partition may be read by several tasks at once."""
    operators: Mapping[n.Node, tuple[NamedOperator, ...]]
    names: Mapping[n.Node, OperatorName]
    uses: Counter[n.Node]
    partitions: int
    """Of keyed state."""
    constraints: Constraints
    watermarks: Mapping[n.Scan, ScanWatermark] = field(default_factory=dict)
    """Of scans whose event time an operator follows."""
    partitions_given: bool = False
    """Whether the number of state partitions was asked for, and is not just the usual one."""

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The scans, by number, that each operator follows; equal ones once."""
        return tuple(dict.fromkeys(found for node in self.operators if (found := self.group(node))))

    def group(self, node: n.Node) -> tuple[int, ...]:
        if not follows_watermark(node):
            return ()
        return tuple(sorted(self.scans.index(scan) for scan in watermarked_below(node)))

    @property
    def timed(self) -> tuple[n.Node, ...]:
        """The roots that have an operator below them which follows event time."""
        return tuple(root for root in self.roots if any(self.group(node) for node in n.walk(root)))

    @property
    def tables(self) -> tuple[Table, ...]:
        return tuple(scan.table for scan in self.scans)

    @property
    def sinks(self) -> tuple[n.Sink, ...]:
        return tuple(root for root in self.roots if isinstance(root, n.Sink))

    @property
    def bounded(self) -> bool:
        return all(table.bounded for table in self.tables)

    @property
    def stateful(self) -> bool:
        return any(stateful(root) for root in self.roots)


def job_plan(
    roots: Sequence[n.Node],
    partitions: int,
    constraints: Constraints = USUAL,
    ttl: timedelta = timedelta(0),
    partitions_given: bool = False,
) -> JobPlan:
    """Put the plans of one job together; a scan that several of them use is read once.

    The order of scans is that of their names, so that statements may change places while a job rests.
    """
    for root in roots:
        if isinstance(root, n.Sink):
            check_sink_parallelism(root.table, emits(root.input), _tasks(root.input, partitions))
    uses: Counter[n.Node] = Counter()
    for root in roots:
        _count(root, uses)
    scans = tuple(sorted((node for node in uses if isinstance(node, n.Scan)), key=_place))
    names = operator_names(uses)
    asked = {below for node in names if (below := _ranked_groups(node, uses)) is not None}
    operators = {node: _stages(node, name.name, ttl, node in asked) for node, name in names.items()}
    followed = {scan for node in operators if follows_watermark(node) for scan in watermarked_below(node)}
    followed |= {scan for scan in scans if scan.table.reading.alignment is not None}
    return JobPlan(
        roots=tuple(roots),
        scans=scans,
        splittable=tuple(_splittable(scan, roots) for scan in scans),
        operators=operators,
        names=names,
        uses=uses,
        partitions=partitions,
        constraints=constraints,
        watermarks={scan: mark for scan, mark in scan_watermarks(roots).items() if scan in followed},
        partitions_given=partitions_given,
    )


def _place(scan: n.Scan) -> str:
    """What orders scans; those that differ by hints only keep their order too."""
    return json.dumps([scan.table.name, identity(scan), sorted(scan.table.definition.options.items())], sort_keys=True)


def _tasks(node: n.Node, partitions: int) -> int | None:
    """In how many tasks the rows of a node are; None where that follows from how a batch is cut."""
    if isinstance(node, n.Values):
        return 1
    if keeps_state(node):
        return partitions
    below = [_tasks(inner, partitions) for inner in node.inputs]
    return None if not below or None in below else sum(tasks for tasks in below if tasks is not None)


def _ranked_groups(node: n.Node, uses: Counter[n.Node]) -> n.Aggregate | None:
    """The grouping whose results a ranking takes as they come: it must say when they came, as ties go by that.

    Where Spark computes something on the way, or others read the same results, the order of tasks has to do.
    """
    below = node.input if isinstance(node, n.Rank) else None
    while isinstance(below, n.Project) and uses[below] == 1 and all(e.expr.column for e in below.expressions):
        below = below.input
    return below if isinstance(below, n.Aggregate) and uses[below] == 1 else None


def _stages(node: n.Node, name: str, ttl: timedelta, tells: bool) -> tuple[NamedOperator, ...]:
    """The operators of a node, one behind the other, each with its own state."""
    stages = operators_for(node, int(ttl.total_seconds() * 1000))
    stages = telling(stages) if tells else stages
    names = [f"{name}.{i}" if i else name for i in range(len(stages))]
    return tuple(map(NamedOperator, names, stages))


def _count(node: n.Node, uses: Counter[n.Node]) -> None:
    uses[node] += 1
    if uses[node] == 1:
        for below in node.inputs:
            _count(below, uses)


ORDERING = (
    n.Normalize,
    n.Aggregate,
    n.Join,
    n.Rank,
    n.SetDifference,
    n.SinkMaterialize,
    n.SinkBuffer,
    t.WindowAggregate,
    t.WindowRank,
    t.WindowJoin,
    t.IntervalJoin,
    t.TemporalJoin,
    t.Over,
)
"""Operators to which rows tell their place in the input, or that do not depend on it."""


def _splittable(scan: n.Scan, roots: Sequence[n.Node]) -> bool:
    """A partition's order matters on its way into a sink until an operator is passed that is known to see to it."""
    return not any(_reaches(root, scan) for root in roots)


def _reaches(node: n.Node, scan: n.Scan) -> bool:
    """Whether rows of the scan come to this node without passing an operator that puts them in order by itself."""
    if isinstance(node, ORDERING) or _sessions(node):
        return False
    return node == scan or any(_reaches(below, scan) for below in node.inputs)


def _sessions(node: n.Node) -> bool:
    return isinstance(node, t.WindowAssign) and node.window.kind is t.WindowKind.SESSION
