"""A running ingestion job."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from pyspark import InheritableThread, inheritable_thread_target
from pyspark.sql import SparkSession

from rowkind.connectors.contract import SourceContext
from rowkind.connectors.mysql.source import MysqlSource
from rowkind.errors import RowkindError
from rowkind.ingest.description import IngestionJob
from rowkind.ingest.endpoints import UpsertKafkaSink
from rowkind.ingest.standing import standing_lines
from rowkind.metrics.job_metrics import JobMetrics
from rowkind.runtime.driver.checkpoint import Checkpoint
from rowkind.runtime.driver.delivery import check_latest, settle
from rowkind.runtime.driver.ingest.binding import Binder
from rowkind.runtime.driver.ingest.job import mysql_settings, take_over
from rowkind.runtime.driver.ingest.planner import IngestPlanner
from rowkind.runtime.driver.ingest.runner import IngestRunner, Show, show
from rowkind.runtime.driver.ingest.tables import JobTables
from rowkind.runtime.driver.ingest.topics import TopicCreator, Topics
from rowkind.runtime.driver.job import Progress, Status, _short
from rowkind.runtime.driver.pending_batches import PendingBatches
from rowkind.runtime.driver.resuming import GOING_ON, Resuming
from rowkind.runtime.driver.spark import cloned, log_file
from rowkind.runtime.worker_errors import carried, new_nonce, refused_value, reported
from rowkind.state.files import Folder


class RunningIngestion:
    """A handle on an ingestion job, as that of a job of SQL: `status`, `progress`, `metrics`, `stop()`, `wait()`."""

    def __init__(
        self,
        spark: SparkSession,
        job: IngestionJob,
        notify: Callable[[str], None] = print,
        resuming: Resuming = GOING_ON,
        sync: bool = True,
        show: Show = show,
    ) -> None:
        self.name = self.label = job.name
        self.progress = Progress()
        self.error: RowkindError | None = None
        self.cause: BaseException | None = None
        self._own_folder = None if job.checkpoint else tempfile.mkdtemp(prefix="rowkind-job-")
        sync = sync and job.checkpoint is not None
        folder = self._checkpoint = Checkpoint(job.checkpoint or f"{self._own_folder}/checkpoint", sync)
        taken = take_over(folder, job, notify)
        named = {"source": job.source.name, "sink": job.sink.name}
        names = {end: name for end, name in named.items() if name}
        self.values = JobMetrics(self.label, restarts=folder.restarts, names=names)
        self._ends = job.ends
        self._nonce = new_nonce()
        spark = cloned(spark)
        if (zone := job.pipeline.time_zone) not in (None, "default"):
            spark.conf.set("spark.sql.session.timeZone", zone)
        cores = spark.sparkContext.defaultParallelism
        files = f"{folder.uri}/source"
        binder = Binder(spark)
        tables = JobTables(job, binder.columns, job.transactional_id_prefix(taken.id) if job.exactly_once else None)
        settings = mysql_settings(job, tables, cores, sync)
        context = SourceContext(files, partial(_run_tasks, spark, self._nonce))
        self._source = MysqlSource(settings, context, lambda schemas: planner.lanes(schemas, cores))
        planner = self._planner = IngestPlanner(self._source, tables, files, sync, inheritable_thread_target(spark))
        used = folder.used()
        topics = Topics(tables, notify, _creator(job), marker=used[0].marker_topic if used else None)
        self._runner = IngestRunner(
            spark,
            job,
            folder,
            taken,
            self._source,
            tables,
            binder,
            planner,
            topics,
            files,
            self.progress,
            self.values,
            self._nonce,
            notify,
            show,
        )
        if used:
            markers, notes = settle(used, [tables.any_table(used[0].marker_topic)], taken.lineage)
            for note in notes:
                notify(note)
            check_latest(folder, taken.standing, markers)
        _sweep(files, taken.standing.pending)
        self._stopping = threading.Event()
        self._ended = threading.Event()
        self._upcoming = PendingBatches(
            folder, taken.standing, planner, taken.digest, self._stopping, notify, resuming.drain
        )

    def start(self) -> RunningIngestion:
        InheritableThread(target=self._run, name=f"rowkind {self.name}", daemon=True).start()
        return self

    @property
    def status(self) -> Status:
        return self._outcome if self._ended.is_set() else Status.RUNNING

    @property
    def _outcome(self) -> Status:
        if self.error is not None:
            return Status.FAILED
        return Status.FINISHED if self._upcoming.finished else Status.STOPPED

    @property
    def metrics(self) -> dict[str, Any]:
        """The values of docs/metrics.md as they are now, as plain data."""
        return self.values.as_dict()

    @property
    def standing(self) -> Mapping[str, Any]:
        """How far the job is: tables and chunks that are copied, the place in the log, seconds behind it."""
        return self._planner.standing

    @property
    def details(self) -> list[str]:
        """Lines for people: source and sink, tables and chunks that are copied, the place in the log."""
        return list(standing_lines(self._ends, self.standing, self.progress.counts.copy()))

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
            for entry in self._upcoming:
                self._runner.run(entry, self._upcoming.planned)
        except Exception as cause:
            self._fail(cause)
        finally:
            self._planner.close()
            if self._own_folder:
                shutil.rmtree(self._own_folder, ignore_errors=True)
            self.values.ended(self._outcome)
            self._ended.set()

    def _fail(self, cause: Exception) -> None:
        self.cause = cause
        found = self._taken_over() or carried(cause, self._nonce) or refused_value(cause)
        reason = _short(str(cause))
        self.error = found or RowkindError("JOB_FAILED", job=self.name, reason=reason, log=log_file() or "its own file")

    def _taken_over(self) -> RowkindError | None:
        """Whatever fails after another run has taken over fails because of it."""
        try:
            self._checkpoint.check_owner()
        except RowkindError as error:
            return error
        except OSError:
            return None
        return None


def _creator(job: IngestionJob) -> TopicCreator | None:
    """Who creates topics, if not the brokers."""
    place = job.sink.aliyun if isinstance(job.sink, UpsertKafkaSink) else None
    if place is None:
        return None
    from rowkind.runtime.driver.ingest.control_plane import ControlPlane

    return ControlPlane(place)


def _run_tasks(spark: SparkSession, nonce: str, function: Callable[[Any], Any], arguments: Sequence[Any]) -> list[Any]:
    """Run a function for each argument as a task of Spark; errors come back under their names."""
    if not arguments:
        return []
    tasks = list(enumerate(arguments))
    run = spark.sparkContext.parallelize(tasks, len(tasks)).map(partial(_call, function, nonce))
    try:
        return [answer for _, answer in sorted(run.collect(), key=lambda pair: pair[0])]
    except Exception as cause:
        found = carried(cause, nonce)
        if found is None:
            raise
        raise found from cause


def _call(function: Callable[[Any], Any], nonce: str, task: tuple[int, Any]) -> tuple[int, Any]:
    number, argument = task
    return number, reported(nonce, function, argument)


def _sweep(folder: str, pending: Mapping[str, Any] | None) -> None:
    """Remove what was gathered for batches that never began."""
    keep = None if pending is None else pending["position"]["token"]
    files = Folder(folder)
    for name in files.names():
        if name.endswith(".arrow") and not (keep and name.startswith(keep)):
            files.remove(name)
