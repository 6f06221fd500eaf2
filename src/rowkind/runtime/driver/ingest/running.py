"""A running ingestion job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pyspark import inheritable_thread_target
from pyspark.sql import SparkSession

from rowkind.connectors.contract import SourceContext
from rowkind.connectors.mysql.source import MysqlSource
from rowkind.ingest.description import IngestionJob
from rowkind.ingest.endpoints import UpsertKafkaSink
from rowkind.ingest.standing import standing_lines
from rowkind.metrics.job_metrics import JobMetrics
from rowkind.runtime.driver.delivery import check_latest, settle
from rowkind.runtime.driver.ingest.binding import Binder
from rowkind.runtime.driver.ingest.job import mysql_settings, take_over
from rowkind.runtime.driver.ingest.planner import IngestPlanner
from rowkind.runtime.driver.ingest.runner import IngestRunner, Show, show
from rowkind.runtime.driver.ingest.tables import JobTables
from rowkind.runtime.driver.ingest.topics import TopicCreator, Topics
from rowkind.runtime.driver.job import RunningJob
from rowkind.runtime.driver.pending_batches import PendingBatches
from rowkind.runtime.driver.resuming import GOING_ON, Resuming
from rowkind.runtime.driver.spark import cloned
from rowkind.runtime.driver.spark_tasks import SparkTasks
from rowkind.state.files import Folder


class RunningIngestion(RunningJob):
    """An ingestion job."""

    def __init__(
        self,
        spark: SparkSession,
        job: IngestionJob,
        notify: Callable[[str], None] = print,
        resuming: Resuming = GOING_ON,
        sync: bool = True,
        show: Show = show,
    ) -> None:
        super().__init__(job.name, job.name, job.checkpoint, sync)
        folder = self._checkpoint
        taken = take_over(folder, job, notify)
        named = {"source": job.source.name, "sink": job.sink.name}
        names = {end: name for end, name in named.items() if name}
        self.values = JobMetrics(self.label, restarts=folder.restarts, names=names)
        self._ends = job.ends
        spark = cloned(spark)
        if (zone := job.pipeline.time_zone) not in (None, "default"):
            spark.conf.set("spark.sql.session.timeZone", zone)
        cores = spark.sparkContext.defaultParallelism
        files = f"{folder.uri}/source"
        binder = Binder(spark)
        tables = JobTables(job, binder.columns, job.transactional_id_prefix(taken.id) if job.exactly_once else None)
        settings = mysql_settings(job, tables, cores, folder.sync)
        context = SourceContext(files, SparkTasks(spark, self._nonce))
        self._source = MysqlSource(settings, context, lambda schemas: planner.lanes(schemas, cores))
        planner = self._planner = IngestPlanner(
            self._source, tables, files, folder.sync, inheritable_thread_target(spark)
        )
        used = folder.used()
        topics = Topics(tables, notify, _creator(job), marker=used[0].detail["marker-topic"] if used else None)
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
            markers, notes = settle(used, [tables.any_table(used[0].detail["marker-topic"])], taken.lineage)
            for note in notes:
                notify(note)
            check_latest(folder, taken.standing, markers)
        _sweep(files, taken.standing.pending)
        self._pending = PendingBatches(
            folder, taken.standing, planner, taken.digest, self._stopping, notify, resuming.drain
        )

    @property
    def standing(self) -> Mapping[str, Any]:
        """How far the job is: tables and chunks that are copied, the place in the log, seconds behind it."""
        return self._planner.standing

    @property
    def details(self) -> list[str]:
        """Lines for people: source and sink, tables and chunks that are copied, the place in the log."""
        return list(standing_lines(self._ends, self.standing, self.progress.counts.copy()))

    def _close(self) -> None:
        self._planner.close()


def _creator(job: IngestionJob) -> TopicCreator | None:
    """Who creates topics, if not the brokers."""
    place = job.sink.aliyun if isinstance(job.sink, UpsertKafkaSink) else None
    if place is None:
        return None
    from rowkind.runtime.driver.ingest.control_plane import ControlPlane

    return ControlPlane(place)


def _sweep(folder: str, pending: Mapping[str, Any] | None) -> None:
    """Remove what was gathered for batches that never began."""
    keep = None if pending is None else pending["position"]["token"]
    files = Folder(folder)
    for name in files.names():
        if name.endswith(".arrow") and not (keep and name.startswith(keep)):
            files.remove(name)
