"""One batch, on the driver: sources read, sinks written, manifest last.

| step | what happens | if it dies here |
|---|---|---|
| 1 | the entry of the batch is written: tasks, positions, clock | the same batch is run again |
| 2 | operators write state files of version v, sinks write | again from state v-1: same files, same rows |
| 3 | sinks are flushed | rows may repeat (at-least-once) |
| 4 | the manifest of v is written by atomic rename | as 3 |
| 5 | sources hear of it, such as to commit offsets of consumer groups, for monitoring only | harmless |
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from pyspark import inheritable_thread_target
from pyspark.accumulators import Accumulator
from pyspark.sql import DataFrame, SparkSession

from rowkind.connectors.contract import Source
from rowkind.failpoints import failpoint
from rowkind.kinds import KIND_COLUMN, RowKind
from rowkind.metrics.job_metrics import JobMetrics
from rowkind.plan import nodes as n
from rowkind.runtime.counters import Tally, counters, total
from rowkind.runtime.dead_letters import DeadLetters
from rowkind.runtime.driver.batch_entry import Batch
from rowkind.runtime.driver.batch_frames import BatchFrames, Versions
from rowkind.runtime.driver.checkpoint import Checkpoint
from rowkind.runtime.driver.delivery import ExactlyOnce
from rowkind.runtime.driver.job_plan import JobPlan
from rowkind.runtime.driver.job_record import JobRecord
from rowkind.runtime.driver.pacing import Pacing
from rowkind.runtime.driver.reporting import batch_report, computed_times, lanes_read
from rowkind.runtime.driver.resuming import Standing
from rowkind.runtime.driver.watermark_tracking import Account
from rowkind.state.files import Folder
from rowkind.state.retention import sweep

if TYPE_CHECKING:
    from rowkind.runtime.driver.job import Progress

SINKS_AT_ONCE = 4
KEPT_VERSIONS = 3
"""Batches back to which state stays readable."""

Row = tuple[str, tuple[Any, ...]]
"""The symbol of a row's kind, and its values."""


class BatchRunner:
    """Runs the batches of a job, one at a time, in the thread of the job."""

    def __init__(
        self,
        spark: SparkSession,
        name: str,
        plan: JobPlan,
        checkpoint: Checkpoint,
        record: JobRecord,
        standing: Standing,
        once: ExactlyOnce,
        sources: Sequence[Source],
        pacing: Pacing,
        progress: Progress,
        metrics: JobMetrics,
        show: Callable[[tuple[str, ...], list[Row]], None] | None,
        notify: Callable[[str], None],
        nonce: str,
    ) -> None:
        self._spark = spark
        self._name = name
        self._plan = plan
        self._checkpoint = checkpoint
        self._id, self._hash_key = record.id, bytes.fromhex(record.hash_key)
        self._sources = sources
        self._pacing = pacing
        self._progress = progress
        self._metrics = metrics
        self._show = show
        self._notify = notify
        self._nonce = nonce
        done = standing.manifest
        self._bases: dict[str, int] = {name: at for name, at in done["operators"].items() if record.owns(name, at)}
        self._once = once
        if standing.pending is None:  # otherwise an older run may still be writing files of that batch
            sweep(checkpoint.state, self._bases, KEPT_VERSIONS, record.id)
        for folder in ("", "/batches", "/manifests"):
            Folder(f"{checkpoint.uri}{folder}").clear_abandoned()
        said = done.get("time")
        self.time = Account([{} for _ in plan.scans]) if said is None else Account.of_json(said)
        """What batches have shown of event time."""
        if self.time.due is not None:
            self.time.due = 0  # how long rows are held back may have been changed: the operators tell it anew

    def run(self, batch: Batch, planned: float = 0.0) -> None:
        """One batch; `planned` is how many seconds its planning took."""
        self._metrics.begun(lanes_read(self._plan, batch))
        self._checkpoint.check_owner()
        for note in batch.notes:
            self._notify(note)
        started = time.monotonic()
        failpoint("before-sinks", batch.number)
        counted = Tally()
        if roots := self._roots(batch):
            with counters(self._spark) as added:
                self._write(batch, roots, added)
                counted = total(added)
            self._note_time(batch, counted)
            computed_times(self._plan, batch, counted)
        failpoint("after-sinks", batch.number)
        written, took = time.time_ns() // 1_000_000, timedelta(seconds=time.monotonic() - started)
        size = self._finish(batch)
        failpoint("after-manifest", batch.number)
        self._release(batch)
        failpoint("after-groups", batch.number)
        self._account(batch, took, counted)
        run = took.total_seconds()
        phases = {"plan": planned, "run": run, "commit": time.monotonic() - started - run}
        milliseconds = {phase: seconds * 1000 for phase, seconds in phases.items()}
        self._metrics.committed(batch_report(self._plan, batch, counted, self.time, written, milliseconds, size))

    def _finish(self, batch: Batch) -> int:
        """The manifest of a batch: from here on it is done, and its state is what the next one starts from."""
        told = {"clock": batch.clock, "operators": self._bases, "time": self.time.to_json()}
        return self._checkpoint.finish(batch.number, {"version": batch.number, **told})

    def _write(self, batch: Batch, roots: Sequence[n.Node], added: Accumulator[Any]) -> None:
        spark, version = self._spark, batch.number
        letters = DeadLetters(self._checkpoint.letters, version)
        oldest, sync = version - KEPT_VERSIONS, self._checkpoint.sync
        versions = Versions(self._checkpoint.state, version, self._bases, oldest, self._id, self._hash_key, sync)
        spark.sparkContext.setJobDescription(f"{self._name}: batch {version}")
        frames = BatchFrames(spark, self._plan, batch, versions, letters, added, self._nonce)
        try:
            tasks = self._once.tasks(version, {sink: frames.sink_tasks(sink) for sink in self._plan.sinks})
            promises = self._once.promises(version, batch.id, tasks)
            sinks = [frames.sink(s, tasks[s], promises.get(s)) for s in roots if isinstance(s, n.Sink)]
            shown = {r: frames.delta(r.input).frame() for r in roots if isinstance(r, n.Print)}
            frames.materialize()
            self._evaluate(sinks)
            for root, frame in shown.items():
                if self._show is not None:
                    rows = _rows(frame)
                    self._show(root.titles, rows)
                    self._progress.rows_shown = (self._progress.rows_shown or 0) + len(rows)
        finally:
            frames.release()
        letters.send(self._plan.tables)
        self._bases.update(dict.fromkeys(frames.stages, version))

    def _roots(self, batch: Batch) -> Sequence[n.Node]:
        """What a batch computes: the last one has no rows, so only what an operator may hold back for a later time."""
        return self._plan.roots if not batch.final or self.time.due is not None else self._plan.timed

    def _note_time(self, batch: Batch, told: Tally) -> None:
        """What the batch showed of event time, for the watermarks of the next one."""
        self.time.due = told.due
        for scan in self._plan.watermarks:
            table = self._plan.scans.index(scan)
            for number, split in enumerate(batch.inputs[table].splits):
                self.time.note(table, split, told.marks.get((table, number)), batch.clock)

    def _evaluate(self, sinks: list[DataFrame]) -> None:
        """Write the sinks side by side: while one is planned or waits for its last task, another has the cores."""
        if len(sinks) == 1:
            sinks[0].collect()
        elif sinks:
            with ThreadPoolExecutor(min(len(sinks), SINKS_AT_ONCE)) as pool:
                list(pool.map(inheritable_thread_target(self._spark)(DataFrame.collect), sinks))

    def _release(self, batch: Batch) -> None:
        """Each source hears that the batch is done."""
        for table, source, read in zip(self._plan.tables, self._sources, batch.inputs, strict=True):
            self._count(table.name, source.done(read.until))

    def _count(self, table: str, counts: Mapping[str, int]) -> None:
        self._progress.counts.update({f"{table}.{name}": count for name, count in counts.items()})

    def _account(self, batch: Batch, took: timedelta, counted: Counter[str]) -> None:
        progress = self._progress
        progress.counts.update(counted)
        for table, read in zip(self._plan.tables, batch.inputs, strict=True):
            self._count(table.name, read.counts)
        progress.batches += 1
        progress.rows_in = sum(c for name, c in progress.counts.items() if name.endswith(".rows-read"))
        progress.rows_out = sum(c for name, c in progress.counts.items() if name.endswith(".rows-written"))
        if batch.rows:  # an empty batch, such as a bounded job's last, says nothing about speed
            progress.rows_per_second = batch.rows / max(took.total_seconds(), 0.001)
        progress.lag = batch.lag
        self._pacing.learn(batch, took, counted)


def _rows(frame: DataFrame) -> list[Row]:
    width = frame.columns.index(KIND_COLUMN)
    return [(RowKind(row[width]).symbol, tuple(row[:width])) for row in frame.collect()]
