"""One batch, on the driver: ranges in, sinks written, manifest last.

| step | what happens | if it dies here |
|---|---|---|
| 1 | Spark writes the ranges, the task cut and the clock into its offset log | the same batch is run again |
| 2 | operators write state files of version v, sinks write to Kafka | again from state v-1: same files, same rows |
| 3 | sinks are flushed | rows may repeat (at-least-once) |
| 4 | the manifest of v is written by atomic rename | as 3 |
| 5 | consumer group offsets are committed, for monitoring only | harmless |
| 6 | Spark writes its commit log | the batch is asked for again; its manifest says that it is done: skipped |
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, SparkSession

from rowkind.catalog.kafka_table import KafkaTable
from rowkind.errors import RowkindError
from rowkind.kafka.cluster import Cluster
from rowkind.kafka.groups import commit_offsets, commits_offsets
from rowkind.kinds import KIND_COLUMN, RowKind
from rowkind.plan import nodes as n
from rowkind.runtime.batches import Batch, batch_of, flat
from rowkind.runtime.checkpoint import Checkpoint
from rowkind.runtime.control import FIRST_ROWS, Control, adapted
from rowkind.runtime.counters import counters
from rowkind.runtime.delivery import ExactlyOnce
from rowkind.runtime.failpoints import failpoint
from rowkind.runtime.frames import Frames, Versions
from rowkind.runtime.job_plan import JobPlan
from rowkind.runtime.job_record import JobRecord
from rowkind.runtime.steps import DUE
from rowkind.runtime.watch_step import highest
from rowkind.runtime.watermarks import Account
from rowkind.state.retention import sweep

if TYPE_CHECKING:
    from rowkind.runtime.job import Progress

WANTED = timedelta(seconds=10)
"""How long a batch should take when there is more to read than one batch holds, unless an interval is set."""
SHORTEST = timedelta(seconds=1)
"""With a backlog, batches are not cut smaller than this for a short interval: their fixed costs would eat the speed."""

SINKS_AT_ONCE = 4
KEPT_VERSIONS = 3
"""Batches back to which state stays readable."""

Row = tuple[str, tuple[Any, ...]]
"""The symbol of a row's kind, and its values."""


class BatchStep:
    """The function of foreachBatch. Called by Spark in one thread, once a batch, again for a batch that failed."""

    def __init__(
        self,
        plan: JobPlan,
        checkpoint: Checkpoint,
        record: JobRecord,
        control: Control,
        progress: Progress,
        interval: timedelta | None,
        show: Callable[[tuple[str, ...], list[Row]], None] | None,
        notify: Callable[[str], None],
        tasks: list[int],
    ) -> None:
        self._plan = plan
        self._checkpoint = checkpoint
        self._record = record
        self._control = control
        self._progress = progress
        self._wanted = max(interval or WANTED, SHORTEST)
        self._show = show
        self._notify = notify
        self._tasks = tasks
        self._rows = [min(FIRST_ROWS, t.scan.max_rows_per_batch or FIRST_ROWS) for t in plan.tables]
        self._names = [stage.name for chain in plan.operators.values() for stage in chain]
        last = checkpoint.last()
        done = {} if last is None else checkpoint.manifest(last)["operators"]
        self._bases: dict[str, int] = {name: at for name, at in done.items() if record.owns(name, at)}
        self._once = ExactlyOnce(plan.sinks, checkpoint, record.id)
        self._once.clear()
        self._owner = checkpoint.claim()
        sweep(checkpoint.state, self._bases, KEPT_VERSIONS)
        said = None if last is None else checkpoint.manifest(last).get("time")
        self._time = Account([{} for _ in plan.scans]) if said is None else Account.of_json(said)
        control.set_account(self._time)
        self._clusters: dict[str, Cluster] = {}
        self.finished = threading.Event()
        self.failure: BaseException | None = None

    def __call__(self, ranges: DataFrame, version: int) -> None:
        try:
            self._run(ranges, version)
        except BaseException as failure:
            self.failure = failure
            raise

    def _run(self, ranges: DataFrame, version: int) -> None:
        # What Spark has just logged is what the only row of `ranges` says: no need for a job that fetches it.
        offset = self._checkpoint.begun(version)
        if not offset:
            return  # a job that is stopped before its first batch
        batch = batch_of(offset)
        if not self._checkpoint.done(version):
            self._checkpoint.check_owner(self._owner)
            for note in offset.get("notes", ()):
                self._notify(note)
            started = time.monotonic()
            failpoint("before-sinks", version)
            self._write(ranges.sparkSession, batch, version)
            failpoint("after-sinks", version)
            took = timedelta(seconds=time.monotonic() - started)
            self._checkpoint.check_owner(self._owner)
            self._finish(version, batch)
            failpoint("after-manifest", version)
            self._commit_groups(offset)
            failpoint("after-groups", version)
            self._account(offset, batch, took)
        if batch.final:
            self.finished.set()

    def _finish(self, version: int, batch: Batch) -> None:
        """The manifest of a batch: from here on it is done, and its state is what the next one starts from."""
        self._bases.update(dict.fromkeys(self._names, version))
        content = {"version": version, "number": batch.number, "clock": batch.clock, "operators": self._bases}
        self._checkpoint.finish(version, {**content, "time": self._time.to_json()})
        self._control.set_account(self._time)

    def _write(self, spark: SparkSession, batch: Batch, version: int) -> None:
        added = counters(spark)
        oldest = version - KEPT_VERSIONS
        versions = Versions(self._checkpoint.state, version, self._bases, oldest)
        times = highest(spark)
        frames = Frames(spark, self._plan, batch, versions, added, times)
        try:
            tasks = self._once.tasks(version, {sink.index: frames.sink_tasks(sink) for sink in self._plan.sinks})
            promises = self._once.promises(version, tasks)
            self._evaluate([frames.sink(s, tasks[s.index], promises.get(s.index)) for s in self._plan.sinks])
            for root in self._plan.roots:
                if isinstance(root, n.Print) and self._show is not None:
                    self._show(root.titles, _rows(frames.delta(root.input).frame()))
        finally:
            frames.release()
        self._progress.counts.update(added.value)
        self._note_time(batch, times.value)

    def _note_time(self, batch: Batch, times: dict[tuple[int, int], int]) -> None:
        """What the batch showed of event time, for the watermarks of the next one."""
        self._time.due = -times[DUE] if DUE in times else None
        for scan in self._plan.watermarks:
            table = self._plan.scans.index(scan)
            for number, partition in enumerate(batch.partitions(table)):
                self._time.note(table, partition, times.get((table, number)), batch.clock)

    def _evaluate(self, sinks: list[DataFrame]) -> None:
        """Write the sinks side by side: while one is planned or waits for its last task, another has the cores."""
        if len(sinks) == 1:
            sinks[0].collect()
        elif sinks:
            with ThreadPoolExecutor(min(len(sinks), SINKS_AT_ONCE)) as pool:
                list(pool.map(DataFrame.collect, sinks))

    def _commit_groups(self, offset: dict[str, Any]) -> None:
        for table, until in zip(self._plan.tables, offset["until"], strict=True):
            if not commits_offsets(table.properties):
                continue
            try:
                commit_offsets(self._cluster(table), flat(until))
            except RowkindError as error:
                if error.condition != "KAFKA_UNREACHABLE":
                    raise
                self._progress.counts[f"{table.name}.group-commits-missed"] += 1  # the next batch commits again

    def _cluster(self, table: KafkaTable) -> Cluster:
        if table.name not in self._clusters:
            self._clusters[table.name] = Cluster(table.properties)
        return self._clusters[table.name]

    def _account(self, offset: dict[str, Any], batch: Batch, took: timedelta) -> None:
        progress = self._progress
        progress.batches += 1
        progress.rows_in = sum(c for name, c in progress.counts.items() if name.endswith(".rows-read"))
        progress.rows_out = sum(c for name, c in progress.counts.items() if name.endswith(".rows-written"))
        if batch.rows:  # an empty batch, such as a bounded job's last, says nothing about speed
            progress.rows_per_second = batch.rows / max(took.total_seconds(), 0.001)
        progress.lag = offset["lag"]
        for index, table in enumerate(self._plan.tables):
            read = sum(r.until - r.start for task in batch.tasks.get(index, ()) for r in task)
            cap = table.scan.max_rows_per_batch
            if progress.batches > 1:  # the first one starts workers and opens connections: it says little about speed
                self._rows[index] = adapted(self._rows[index], read, took, self._wanted, cap)
        self._control.set_pace(self._rows, self._tasks)


def _rows(frame: DataFrame) -> list[Row]:
    width = frame.columns.index(KIND_COLUMN)
    return [(RowKind(row[width]).symbol, tuple(row[:width])) for row in frame.collect()]
