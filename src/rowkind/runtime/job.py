"""A running job: one streaming query, its progress, and how it ends."""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from rowkind.errors import RowkindError
from rowkind.runtime.batch import BatchStep, Row
from rowkind.runtime.checkpoint import Checkpoint
from rowkind.runtime.control import Control, Inputs
from rowkind.runtime.job_plan import JobPlan
from rowkind.runtime.remote import carried, refused_value
from rowkind.runtime.source import RangeSource
from rowkind.runtime.spark import log_file

_LATE = "Python worker failed to connect back"
"""Spark gives the process of the range source ten seconds to start, which a busy machine may exceed."""
_SOURCE = "PythonStreamingSourceRunner"
"""Where in Spark an error comes from when that process has died."""
_RESTARTS = 5
"""How many new ones without a single batch done are enough."""
_DISK_FULL = "No space left on device"
"""What the system says to Spark when it cannot write its logs."""


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
    lag: int = 0
    counts: Counter[str] = field(default_factory=Counter)


class Job:
    """A handle on a job: `status`, `progress`, `stop()`, `wait()`.

    The query runs in threads of Spark; a thread of our own watches for its end.
    """

    def __init__(
        self,
        spark: SparkSession,
        name: str,
        plan: JobPlan,
        checkpoint: str | None = None,
        interval: timedelta | None = None,
        show: Callable[[tuple[str, ...], list[Row]], None] | None = None,
        notify: Callable[[str], None] = print,
    ) -> None:
        self.name = name
        self.plan = plan
        self.progress = Progress()
        self.error: RowkindError | None = None
        self.cause: BaseException | None = None
        self._folder = Path(tempfile.mkdtemp(prefix="rowkind-job-"))
        self._checkpoint = Checkpoint(checkpoint or str(self._folder / "checkpoint"))
        record, notes = self._checkpoint.open(plan)
        for note in notes:
            notify(note)
        plan = self.plan = replace(plan, partitions=record.partitions)
        interval = plan.interval(interval)
        inputs = Inputs(plan.tables, plan.splittable, interval, plan.groups)
        cores = spark.sparkContext.defaultParallelism
        self._control = Control.create(self._folder / "control", inputs, cores)
        self._step = BatchStep(
            plan, self._checkpoint, record, self._control, self.progress, interval, show, notify, inputs.tasks(cores)
        )
        self._notify = notify
        self._waiting: str | None = None
        self._ended = threading.Event()
        self._stopping = threading.Event()
        self._spark = spark
        self._query = self._start()
        self._watcher = threading.Thread(target=self._watch, name=f"rowkind {name}", daemon=True)
        self._watcher.start()

    @property
    def status(self) -> Status:
        if not self._ended.is_set():
            return Status.RUNNING
        if self.error is not None:
            return Status.FAILED
        return Status.FINISHED if self._step.finished.is_set() else Status.STOPPED

    def stop(self) -> None:
        """Finish the batch under way, then stop. Returns at once; `wait()` waits for it."""
        if not self._ended.is_set():
            self._stopping.set()
            self._control.stop()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end; False when the time ran out before. A failed job raises its error."""
        if not self._ended.wait(timeout):
            return False
        if self.error is not None:
            raise self.error from self.cause
        return True

    def _start(self) -> StreamingQuery:
        # Spark refuses a name that the thread's active session has, be it another session than the one to register in.
        self._spark._jvm.SparkSession.setActiveSession(self._spark._jsparkSession)  # type: ignore[union-attr]
        self._spark.dataSource.register(RangeSource)
        ranges = self._spark.readStream.format("rowkind-ranges").option("control", str(self._control.folder)).load()
        writer = ranges.writeStream.queryName(f"{self.name}-{id(self)}").foreachBatch(self._step)
        return writer.option("checkpointLocation", self._checkpoint.spark).trigger(processingTime="0 seconds").start()

    def _watch(self) -> None:
        try:
            failure = self._follow()
            restarts = 0
            while failure is not None and _source_is_gone(failure) and restarts < _RESTARTS:
                done, self._query = self.progress.batches, self._start()
                failure = self._follow()
                restarts = 0 if self.progress.batches > done else restarts + 1
            if failure is not None:
                self._fail(failure)
        except Exception as cause:
            self._fail(cause)
        finally:
            self._end()

    def _follow(self) -> Exception | None:
        """Until the query has ended or is to end; what it failed with, if it did."""
        while self._query.isActive and not self._stopping.is_set() and not self._step.finished.wait(0.1):
            self._tell_waiting()
        if self._query.isActive:
            self._query.processAllAvailable()
        return self._query.exception()

    def _tell_waiting(self) -> None:
        waiting = self._control.waiting
        if waiting is not None and self._waiting is None:
            self._notify(f"No Kafka broker answers at {waiting}; the job waits and goes on when one does.")
        elif waiting is None and self._waiting is not None:
            self._notify(f"Kafka answers again at {self._waiting}.")
        self._waiting = waiting

    def _fail(self, cause: BaseException) -> None:
        self.cause = self._step.failure or cause
        found = carried(self.cause) or carried(cause) or refused_value(self.cause)
        reason = _short(str(self.cause))
        if found is None and _DISK_FULL in str(self.cause):
            found = RowkindError("CHECKPOINT_NOT_WRITTEN", file=self._checkpoint.spark, reason=_DISK_FULL)
        self.error = found or RowkindError("JOB_FAILED", job=self.name, reason=reason, log=log_file() or "its own file")

    def _end(self) -> None:
        try:
            self._query.stop()
        except Exception as cause:
            if self.error is None:
                self._fail(cause)
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._ended.set()


def _source_is_gone(failure: Exception) -> bool:
    """Whether the process of the range source did not come up or has died: with a new one the query can go on."""
    if carried(failure) is not None or refused_value(failure) is not None:
        return False
    trace = str(getattr(getattr(failure, "_cause", None), "_stackTrace", ""))
    return _LATE in str(failure) or (_SOURCE in trace and ("EOFException" in trace or "SocketException" in trace))


def _short(text: str) -> str:
    """The part of a Java or Python trace that tells what happened."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith(("at ", "File "))]
    return lines[-1].strip() if lines and lines[0].startswith("Traceback") else (lines[0].strip() if lines else "")


def wait_for(jobs: list[Job], stop: threading.Event, poll: float = 0.2) -> None:
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
