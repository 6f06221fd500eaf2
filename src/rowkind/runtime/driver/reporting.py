"""What a job tells its metrics: which topics it has, what waits in them, and what each batch has done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rowkind.metrics.job_metrics import BatchReport, JobMetrics
from rowkind.metrics.traffic import Lane, Side
from rowkind.runtime.counters import Tally
from rowkind.runtime.driver.batch_entry import Batch
from rowkind.runtime.driver.job_plan import JobPlan
from rowkind.runtime.driver.watermark_tracking import Account

Waiting = Sequence[Mapping[str, int]]
"""Rows by the name of the split, for each table that is read."""


def job_metrics(job: str, plan: JobPlan, restarts: int) -> JobMetrics:
    """The metrics of a job, with all that is known of it before it starts."""
    read = [Lane(Side.READ, table.name, topic) for table in plan.tables for topic in table.parts]
    written = [Lane(Side.WRITTEN, sink.table.name, topic) for sink in plan.sinks for topic in sink.table.parts]
    operators = [stage.name for chain in plan.operators.values() for stage in chain]
    return JobMetrics(job, [*read, *written], operators, restarts)


def lanes_read(plan: JobPlan, batch: Batch) -> set[Lane]:
    """What a batch reads of."""
    return {
        Lane(Side.READ, table.name, split.name)
        for table, read in zip(plan.tables, batch.inputs, strict=True)
        for split in read.splits
    }


def by_lane(plan: JobPlan, waiting: Waiting) -> dict[Lane, int]:
    """A table that is read twice, by scans that differ, has the rows of both."""
    found: dict[Lane, int] = {}
    for table, names in zip(plan.tables, waiting, strict=True):
        for name, rows in names.items():
            lane = Lane(Side.READ, table.name, name)
            found[lane] = found.get(lane, 0) + rows
    return found


def watermarks(plan: JobPlan, account: Account) -> dict[Lane, int]:
    """The lowest of the splits of a name, in milliseconds."""
    found: dict[Lane, int] = {}
    for scan in plan.watermarks:
        for split, mark in account.marks[plan.scans.index(scan)].items():
            if mark.time is not None:
                lane, time = Lane(Side.READ, scan.table.name, split.name), mark.time // 1000
                found[lane] = min(time, found.get(lane, time))
    return found


def computed_times(plan: JobPlan, batch: Batch, told: Tally) -> None:
    """Event time that Spark computes from other columns is known by the watermarks that were seen."""
    found: dict[Lane, int] = {}
    for scan, mark in plan.watermarks.items():
        table, watermark = plan.scans.index(scan), scan.table.definition.watermark
        read = {c.name for c in scan.table.physical} | {m.name for m in scan.table.metadata}
        if watermark is None or watermark.column in read:
            continue
        for number, split in enumerate(batch.inputs[table].splits):
            lane, seen = Lane(Side.READ, scan.table.name, split.name), told.marks.get((table, number))
            if seen is not None:
                found[lane] = max((seen + mark.delay) // 1000, found.get(lane, 0))
    for lane, time in found.items():
        told.traffic_of(lane).event_time = time


def batch_report(
    plan: JobPlan,
    batch: Batch,
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
        pending=by_lane(plan, [read.left for read in batch.inputs]),
        states=told.states,
        watermarks=watermarks(plan, account),
        phases=phases,
        manifest_bytes=manifest_bytes,
    )
