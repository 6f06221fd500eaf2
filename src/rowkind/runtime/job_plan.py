"""A job as it runs: the plans of its sinks, the tables it reads, and what batches must know of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rowkind.catalog.kafka_table import KafkaTable
from rowkind.catalog.modes import NotNullEnforcer
from rowkind.plan import nodes as n
from rowkind.plan.rules.net_sinks import stateful


@dataclass(frozen=True)
class JobPlan:
    """One streaming query: every INSERT of a statement set, or one SELECT."""

    roots: tuple[n.Node, ...]
    scans: tuple[n.Scan, ...]
    ordered: tuple[bool, ...]
    """For each scan, whether an operator needs the order of a key's rows beyond the task that reads them."""
    splittable: tuple[bool, ...]
    """For each scan, whether a partition may be read by several tasks at once."""
    uses: Counter[n.Node]
    partitions: int
    enforcer: NotNullEnforcer

    @property
    def tables(self) -> tuple[KafkaTable, ...]:
        return tuple(scan.table for scan in self.scans)

    @property
    def sinks(self) -> tuple[n.Sink, ...]:
        return tuple(root for root in self.roots if isinstance(root, n.Sink))

    @property
    def bounded(self) -> bool:
        return all(table.bounded.ends for table in self.tables)

    @property
    def stateful(self) -> bool:
        return any(stateful(root) for root in self.roots)


def job_plan(roots: Sequence[n.Node], partitions: int, enforcer: NotNullEnforcer = NotNullEnforcer.ERROR) -> JobPlan:
    """Put the plans of one job together; a scan that several of them use is read once."""
    uses: Counter[n.Node] = Counter()
    for root in roots:
        _count(root, uses)
    scans = tuple(node for node in uses if isinstance(node, n.Scan))
    normalized = {node.input for node in uses if isinstance(node, n.Normalize)}
    return JobPlan(
        roots=tuple(roots),
        scans=scans,
        ordered=tuple(scan in normalized for scan in scans),
        splittable=tuple(_splittable(scan, roots) for scan in scans),
        uses=uses,
        partitions=partitions,
        enforcer=enforcer,
    )


def _count(node: n.Node, uses: Counter[n.Node]) -> None:
    uses[node] += 1
    if uses[node] == 1:
        for below in node.inputs:
            _count(below, uses)


def _splittable(scan: n.Scan, roots: Sequence[n.Node]) -> bool:
    """A partition's order matters on a stateless way into a sink; behind a state operator it no longer does."""
    return not any(_reaches(root, scan) for root in roots)


def _reaches(node: n.Node, scan: n.Scan) -> bool:
    """Whether rows of the scan come to this node without passing an operator that puts them in order by itself."""
    if node == scan:
        return True
    if isinstance(node, (n.Sink, n.Print, n.Project, n.Filter, n.Union, n.WatermarkAssigner)):
        return any(_reaches(below, scan) for below in node.inputs)
    return False
