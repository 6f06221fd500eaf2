"""An ingestion job: its checkpoint taken over, its source, planner and runner put together, and started."""

from __future__ import annotations

import json
import secrets
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from rowkind.connectors.mysql.positions import BinlogPosition
from rowkind.connectors.mysql.schemas import TableId
from rowkind.connectors.mysql.source import MysqlSettings, Startup
from rowkind.connectors.mysql.types import Reading
from rowkind.errors import RowkindError
from rowkind.ingest.addresses import server_address
from rowkind.ingest.description import IngestionJob, check_resumable
from rowkind.ingest.endpoints import TableChoice
from rowkind.runtime.driver.checkpoint import Checkpoint
from rowkind.runtime.driver.ingest.tables import JobTables
from rowkind.runtime.driver.job_record import FORMAT
from rowkind.runtime.driver.resuming import Standing


@dataclass(frozen=True, slots=True)
class Captures:
    """Whether a table is captured; goes to workers."""

    tables: TableChoice

    def __call__(self, table: TableId) -> bool:
        return self.tables.matches(table.database, table.table)


def mysql_settings(job: IngestionJob, tables: JobTables, cores: int, sync: bool) -> MysqlSettings:
    """The source as the job file says."""
    said, start = job.source, job.source.start
    position = None
    if start.gtids or start.file:
        position = BinlogPosition(start.file or "", start.position or 4, start.gtids or "")
    return MysqlSettings(
        address=server_address(said),
        server_id=_server_id(job),
        captures=Captures(said.tables),
        reading=Reading(tinyint1_as_boolean=said.tinyint1_as_boolean),
        startup=Startup(start.mode, position, start.timestamp_ms or 0),
        chunk_size=said.chunks.rows,
        chunk_key=lambda table: said.chunks.key_of(table.database, table.table),
        factors=(said.chunks.even_lower, said.chunks.even_upper),
        heartbeat_seconds=said.heartbeat.total_seconds(),
        parallelism=job.chunks_at_once(cores),
        takes_new_tables=said.newly_added,
        takes_created_tables=said.binlog_newly_added,
        wants=lambda schema: tables.output(schema) is not None,
        sync=sync,
    )


def _server_id(job: IngestionJob) -> int:
    """Only one connection reads the binlog at a time, so one id is enough."""
    if job.source.server_ids is not None:
        return job.source.server_ids.first
    return 5400 + secrets.randbelow(1001)


@dataclass(frozen=True, slots=True)
class Taken:
    """A checkpoint that this run owns, as it found it."""

    id: str
    lineage: str
    standing: Standing
    digest: str


def take_over(folder: Checkpoint, job: IngestionJob, notify: Callable[[str], None]) -> Taken:
    """Open a checkpoint for an ingestion job: become its owner, then read how far it is."""
    _agreed(folder, job)  # what is refused is refused before a job that runs is disturbed
    folder.claim()
    found = _agreed(folder, job)
    id = str(uuid.uuid4()) if found is None else str(found["id"])
    for note in [] if found is None else check_resumable(found["ingestion"], job):
        notify(note)
    folder.keep_record({"version": FORMAT, "kind": "ingestion", "id": id, "ingestion": job.to_json()})
    return Taken(id, folder.lineage(id), folder.standing(), digest_of(job))


def _agreed(folder: Checkpoint, job: IngestionJob) -> Mapping[str, Any] | None:
    found = folder.any_record()
    if found is None:
        return None
    if found.get("kind") != "ingestion":
        raise RowkindError(
            "CHECKPOINT_OF_ANOTHER_JOB", checkpoint=folder.uri, stored="a job of SQL", given="an ingestion job"
        )
    check_resumable(found["ingestion"], job)
    return found


def digest_of(job: IngestionJob) -> str:
    """What decides how the rows of a batch that was begun are written."""
    said = job.to_json()
    decisive = {key: said[key] for key in ("route", "transform", "schema_changes")}
    decisive["sink"] = {k: v for k, v in said["sink"].items() if not k.startswith("properties.")}
    return blake2b(json.dumps(decisive, sort_keys=True).encode(), digest_size=12).hexdigest()
