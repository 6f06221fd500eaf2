"""What a job will do, asked of the server without reading a row: for `rowkind ingest --check`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, TypeVar

from rowkind.connectors.mysql.chunks import ChunkSplitter
from rowkind.connectors.mysql.connection import connect
from rowkind.connectors.mysql.facts import ServerFacts, server_facts, server_problems, zone_offset
from rowkind.connectors.mysql.positions import BinlogPosition, check_available
from rowkind.connectors.mysql.schemas import TableId, TableSchema, list_tables, read_schemas
from rowkind.connectors.mysql.types import Reading, fields
from rowkind.errors import RowkindError
from rowkind.ingest.addresses import server_address
from rowkind.ingest.description import IngestionJob
from rowkind.ingest.modes import StartMode
from rowkind.ingest.planned import PlannedTable, planned_tables, selected
from rowkind.ingest.tables import SourceTable
from rowkind.options.session_options import utc_offset

if TYPE_CHECKING:
    import pymysql

T = TypeVar("T")

ZONES_DIFFER = 1800
"""Seconds; less is a summer time that begins."""


def preview(job: IngestionJob, problems: list[RowkindError]) -> Iterator[str]:
    """Lines: the server, and of each table its key, about how many chunks it has, and the topics it goes to.

    Everything that would end the job at its start is added to `problems`, not only the first of it.
    """
    with closing(connect(server_address(job.source))) as connection:
        facts = server_facts(connection)
        yield f"server: {'MariaDB' if facts.mariadb else 'MySQL'} {facts.version}"
        problems += server_problems(facts)
        yield from _about_zone(job, connection)
        _check_start(job, connection, facts, problems)
        tables = [TableId(*pair) for pair in selected(job, list_tables(connection))]
        schemas = read_schemas(connection, tables)
        found = [table for schema in schemas.values() if (table := _kept(problems, _source_table, job, schema))]
        planned = planned_tables(job, [table for table in found if _kept(problems, planned_tables, job, [table])])
        yield f"tables: {len(planned.tables)}"
        for each in planned.tables:
            schema = schemas[TableId(each.table.database, each.table.name)]
            chunks = _kept(problems, _chunks, job, schema, connection) if job.source.start.copies else None
            yield _line(each, chunks)
        yield from planned.notes


def _kept(problems: list[RowkindError], ask: Callable[..., T], *arguments: Any) -> T | None:
    """The answer; None when there is a problem, which is kept."""
    try:
        return ask(*arguments)
    except RowkindError as error:
        problems.append(error)
        return None


def _source_table(job: IngestionJob, schema: TableSchema) -> SourceTable:
    reading = Reading(tinyint1_as_boolean=job.source.tinyint1_as_boolean)
    return SourceTable(schema.id.database, schema.id.table, fields(schema, reading), schema.primary_key)


def _chunks(job: IngestionJob, schema: TableSchema, connection: pymysql.Connection[Any]) -> int:
    chunks = job.source.chunks
    column = chunks.key_of(schema.id.database, schema.id.table)
    splitter = ChunkSplitter(schema, column, chunks.rows, chunks.even_lower, chunks.even_upper)
    return splitter.estimate(connection)


def _line(planned: PlannedTable, chunks: int | None) -> str:
    key = ", ".join(planned.transform.primary_key)
    topics: Sequence[str] = [target.topic for target in planned.targets]
    size = "" if chunks is None else f", about {chunks} chunks"
    return f"  {planned.table.id}: key ({key}){size} -> {', '.join(topics)}"


def _about_zone(job: IngestionJob, connection: pymysql.Connection[Any]) -> Iterator[str]:
    """TIMESTAMPs are read in UTC, so that a wrong zone does no harm here; it would elsewhere."""
    zone, own = job.source.server_time_zone, zone_offset(connection)
    if zone is not None and own is not None and abs(own - utc_offset(zone)) > ZONES_DIFFER:
        yield (
            f"The server's time zone is {(own - utc_offset(zone)) / 3600:+g} hours from 'server-time-zone: {zone}'. "
            "TIMESTAMPs are right all the same: they are read in UTC."
        )


def _check_start(
    job: IngestionJob, connection: pymysql.Connection[Any], facts: ServerFacts, problems: list[RowkindError]
) -> None:
    start = job.source.start
    if start.mode is StartMode.SPECIFIC and facts.log_bin:
        position = BinlogPosition(start.file or "", start.position or 4, start.gtids or "")
        _kept(problems, check_available, connection, facts, position)
