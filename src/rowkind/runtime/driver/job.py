"""A running job: its batches one after the other, its progress, and how it ends."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum
from typing import Any, Protocol, Self

from pyspark import InheritableThread
from pyspark.sql import SparkSession

from rowkind.connectors.contract import SourceContext
from rowkind.errors import RowkindError
from rowkind.metrics.job_metrics import JobMetrics
from rowkind.plan import nodes as n
from rowkind.runtime.driver.batch_planner import BatchPlanner
from rowkind.runtime.driver.batch_runner import BatchRunner, Row
from rowkind.runtime.driver.checkpoint import Checkpoint
from rowkind.runtime.driver.job_handle import JobHandle
from rowkind.runtime.driver.job_plan import JobPlan
from rowkind.runtime.driver.pacing import Pacing
from rowkind.runtime.driver.pending_batches import PendingBatches
from rowkind.runtime.driver.reporting import Waiting, by_lane, job_metrics
from rowkind.runtime.driver.resuming import GOING_ON, Resuming
from rowkind.runtime.driver.shared_folder import check_shared
from rowkind.runtime.driver.spark import cloned, log_file
from rowkind.runtime.driver.spark_tasks import SparkTasks
from rowkind.runtime.driver.taking_over import take_over
from rowkind.runtime.driver.watermark_tracking import Watermarks
from rowkind.runtime.heap import heap_of
from rowkind.runtime.memory import KEEPS, kept_by_workers
from rowkind.runtime.worker_errors import carried, new_nonce, refused_value

IDLE_SECONDS = 5.0
"""After these without a message a job stands still."""


class Status(StrEnum):
    RUNNING = "running"
    FINISHED = "finished"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(slots=True)
class Progress:
    """What a job has done so far."""

    batches: int = 0
    rows_in: int = 0
    rows_out: int = 0
    rows_per_second: float = 0.0
    """Of the last batch, until nothing has come for some seconds."""
    lag: int = 0
    """Messages that wait, those of the batch under way included until it is done."""
    counts: Counter[str] = field(default_factory=Counter)
    rows_shown: int | None = None
    """Changes that a SELECT has given; None for a job that writes."""
    _moved: float = field(default_factory=time.monotonic, repr=False)

    def waiting(self, messages: int) -> None:
        """So many messages wait, seen now."""
        self.lag, now = messages, time.monotonic()
        if messages:
            self._moved = now
        elif now - self._moved > IDLE_SECONDS:
            self.rows_per_second = 0.0


class Runner(Protocol):
    """Runs one batch."""

    def run(self, batch: Any, planned: float = 0.0) -> None: ...


class RunningJob:
    """A handle on a job: `status`, `progress`, `metrics`, `stop()`, `wait()`. Started, it has a thread of its own."""

    values: JobMetrics
    _runner: Runner
    _pending: PendingBatches[Any]

    def __init__(self, name: str, label: str, checkpoint: str | None, sync: bool) -> None:
        """Without a folder for its checkpoint it has one of its own, which goes with it."""
        self.name = name
        self.label = label
        """What tells it from other jobs of its session."""
        self.progress = Progress()
        self.error: RowkindError | None = None
        self.cause: BaseException | None = None
        self._own_folder = None if checkpoint else tempfile.mkdtemp(prefix="rowkind-job-")
        self._checkpoint = Checkpoint(checkpoint or f"{self._own_folder}/checkpoint", sync and checkpoint is not None)
        self._nonce = new_nonce()
        """What the errors of this job's workers are marked with."""
        self._stopping = threading.Event()
        self._ended = threading.Event()

    def start(self) -> Self:
        """Begin with the first batch, or go on where the checkpoint is."""
        InheritableThread(target=self._run, name=f"rowkind {self.name}", daemon=True).start()
        return self

    @property
    def status(self) -> Status:
        return self._outcome if self._ended.is_set() else Status.RUNNING

    @property
    def _outcome(self) -> Status:
        if self.error is not None:
            return Status.FAILED
        return Status.FINISHED if self._pending.finished else Status.STOPPED

    @property
    def metrics(self) -> dict[str, Any]:
        """The values of docs/metrics.md as they are now, as plain data."""
        return self.values.as_dict()

    @property
    def details(self) -> list[str]:
        """Lines for people: a job of SQL has no more to say than its progress."""
        return []

    def stop(self) -> None:
        """Finish the batch under way, then stop. Returns at once; `wait()` waits for it."""
        self._stopping.set()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end; False when the time ran out before. A failed job raises its error."""
        if not self._ended.wait(timeout):
            return False
        if self.error is not None:
            raise self.error from self.cause
        return True

    def _run(self) -> None:
        try:
            for batch in self._pending:
                self._runner.run(batch, self._pending.planned)
        except Exception as cause:
            self._fail(cause)
        finally:
            self._close()
            if self._own_folder:
                shutil.rmtree(self._own_folder, ignore_errors=True)
            with contextlib.suppress(Exception):  # the checkpoint itself may be what failed
                self._checkpoint.leave()
            self.values.ended(self._outcome)
            self._ended.set()

    def _fail(self, cause: Exception) -> None:
        self.cause = cause
        found = self._taken_over() or carried(cause, self._nonce) or refused_value(cause)
        reason, log = _short(str(cause)), log_file() or "its own file"
        self.error = found or RowkindError("JOB_FAILED", job=self.name, reason=reason, log=log)

    def _taken_over(self) -> RowkindError | None:
        """Whatever fails after another run has taken over fails because of it."""
        try:
            self._checkpoint.check_owner()
        except RowkindError as error:
            return error
        except OSError:  # the checkpoint itself is away
            return None
        return None

    def _close(self) -> None:
        """Let go of what the job has opened."""


class Job(RunningJob):
    """A job of SQL."""

    def __init__(
        self,
        spark: SparkSession,
        name: str,
        plan: JobPlan,
        checkpoint: str | None = None,
        interval: timedelta | None = None,
        show: Callable[[tuple[str, ...], list[Row]], None] | None = None,
        notify: Callable[[str], None] = print,
        resuming: Resuming = GOING_ON,
        label: str | None = None,
        sync: bool = True,
    ) -> None:
        super().__init__(name, label or name, checkpoint, sync)
        self.progress.rows_shown = 0 if any(isinstance(root, n.Print) for root in plan.roots) else None
        folder = self._checkpoint
        taken = take_over(folder, self.label, plan, resuming, notify)
        plan = self.plan = replace(plan, partitions=taken.record.partitions)
        self.values = job_metrics(self.label, plan, folder.restarts)
        if plan.stateful:
            check_shared(spark, folder.state, taken.record.id)
        context, heap = spark.sparkContext, heap_of(spark)
        context.environment[KEEPS] = kept_by_workers(heap)
        spark = cloned(spark)
        tasks = SourceContext(f"{folder.uri}/source", SparkTasks(spark, self._nonce))
        sources = self._sources = [table.source(tasks) for table in plan.tables]
        names = [table.name for table in plan.tables]
        pacing = Pacing(names, sources, context.defaultParallelism, interval, heap)
        self._runner = BatchRunner(
            spark,
            name,
            plan,
            folder,
            taken.record,
            taken.standing,
            taken.once,
            sources,
            pacing,
            self.progress,
            self.values,
            show,
            notify,
            self._nonce,
        )
        watermarks = Watermarks(plan.tables, plan.groups, self._runner.time)
        planner = BatchPlanner(
            sources,
            plan.splittable,
            pacing,
            interval,
            watermarks=watermarks,
            watch=self._waiting,
        )
        self._pending = PendingBatches(
            folder, taken.standing, planner, taken.digest, self._stopping, notify, resuming.drain
        )

    def _waiting(self, waiting: Waiting) -> None:
        self.values.waiting(by_lane(self.plan, waiting))
        self.progress.waiting(sum(sum(topics.values()) for topics in waiting))

    def _close(self) -> None:
        for source in self._sources:
            source.close()


def _short(text: str) -> str:
    """The part of a Java or Python trace that tells what happened."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith(("at ", "File "))]
    return lines[-1].strip() if lines and lines[0].startswith("Traceback") else (lines[0].strip() if lines else "")


def wait_for(jobs: Sequence[JobHandle], stop: threading.Event, poll: float = 0.2) -> None:
    """Until every job has ended; the event asks all of them to stop."""
    asked = False
    while any(job.status is Status.RUNNING for job in jobs):
        if stop.is_set() and not asked:
            asked = True
            for job in jobs:
                job.stop()
        if any(job.status is Status.FAILED for job in jobs):
            stop.set()
        time.sleep(poll)
