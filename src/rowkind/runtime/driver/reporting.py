"""What a job tells its metrics: which topics it has, what waits in them, and what each batch has done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rowkind.metrics.job_metrics import BatchReport, JobMetrics
from rowkind.metrics.traffic import Lane, Side
from rowkind.runtime.counters import Tally
from rowkind.runtime.driver.batch_planner import Batch
from rowkind.runtime.driver.job_plan import JobPlan
from rowkind.runtime.driver.watermark_tracking import Account

Waiting = Sequence[Mapping[str, int]]
"""Messages by topic, for each table that is read."""


def job_metrics(job: str, plan: JobPlan, restarts: int) -> JobMetrics:
    """The metrics of a job, with all that is known of it before it starts."""
    read = [Lane(Side.READ, table.name, topic) for table in plan.tables for topic in table.parts]
    written = [Lane(Side.WRITTEN, sink.table.name, topic) for sink in plan.sinks for topic in sink.table.parts]
    operators = [stage.name for chain in plan.operators.values() for stage in chain]
    return JobMetrics(job, [*read, *written], operators, restarts)


def lanes_read(plan: JobPlan, batch: Batch) -> set[Lane]:
    """What a batch reads of."""
    return {
        Lane(Side.READ, table.name, partition.topic)
        for number, table in enumerate(plan.tables)
        for partition in batch.partitions(number)
    }


def by_lane(plan: JobPlan, waiting: Waiting) -> dict[Lane, int]:
    """A table that is read twice, by scans that differ, has the messages of both."""
    found: dict[Lane, int] = {}
    for table, topics in zip(plan.tables, waiting, strict=True):
        for topic, messages in topics.items():
            lane = Lane(Side.READ, table.name, topic)
            found[lane] = found.get(lane, 0) + messages
    return found


def watermarks(plan: JobPlan, account: Account) -> dict[Lane, int]:
    """The lowest of the partitions of each topic, in milliseconds."""
    found: dict[Lane, int] = {}
    for scan in plan.watermarks:
        for partition, mark in account.marks[plan.scans.index(scan)].items():
            if mark.time is not None:
                lane, time = Lane(Side.READ, scan.table.name, partition.topic), mark.time // 1000
                found[lane] = min(time, found.get(lane, time))
    return found


def computed_times(plan: JobPlan, batch: Batch, times: Mapping[tuple[int, int], int], told: Tally) -> None:
    """Event time that Spark computes from other columns is known by the watermarks that were seen."""
    found: dict[Lane, int] = {}
    for scan, mark in plan.watermarks.items():
        table, watermark = plan.scans.index(scan), scan.table.definition.watermark
        read = {c.name for c in scan.table.physical} | {m.name for m in scan.table.metadata}
        if watermark is None or watermark.column in read:
            continue
        for number, partition in enumerate(batch.partitions(table)):
            lane, seen = Lane(Side.READ, scan.table.name, partition.topic), times.get((table, number))
            if seen is not None:
                found[lane] = max((seen + mark.delay) // 1000, found.get(lane, 0))
    for lane, time in found.items():
        told.traffic_of(lane).event_time = time


def batch_report(
    plan: JobPlan,
    entry: Mapping[str, Any],
    told: Tally,
    account: Account,
    written: int,
    phases: Mapping[str, float],
    manifest_bytes: int,
) -> BatchReport:
    """What a batch has done, when it is committed."""
    return BatchReport(
        traffic=told.traffic,
        written=written,
        counts=told,
        pending=by_lane(plan, entry["pending"]) if "pending" in entry else {},
        states=told.states,
        watermarks=watermarks(plan, account),
        phases=phases,
        manifest_bytes=manifest_bytes,
    )
