"""What a job will do, asked of the server without reading a row: for `rowkind ingest --check`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

from rowkind.connectors.mysql.chunks import ChunkSplitter
from rowkind.connectors.mysql.connection import connect
from rowkind.connectors.mysql.facts import check_server, server_facts
from rowkind.connectors.mysql.schemas import TableId, list_tables, read_schemas
from rowkind.connectors.mysql.types import Reading, fields
from rowkind.ingest.addresses import server_address
from rowkind.ingest.description import IngestionJob
from rowkind.ingest.planned import planned_tables, selected
from rowkind.ingest.tables import SourceTable


def preview(job: IngestionJob) -> Iterator[str]:
    """Lines: the server, and of each table its key, about how many chunks it has, and the topics it goes to."""
    reading = Reading(tinyint1_as_boolean=job.source.tinyint1_as_boolean)
    with closing(connect(server_address(job.source))) as connection:
        facts = server_facts(connection)
        yield f"server: {'MariaDB' if facts.mariadb else 'MySQL'} {facts.version}"
        check_server(facts)
        tables = [TableId(*pair) for pair in selected(job, list_tables(connection))]
        schemas = read_schemas(connection, tables)
        found = [
            SourceTable(id.database, id.table, fields(schema, reading), schema.primary_key)
            for id, schema in schemas.items()
        ]
        planned = planned_tables(job, found)
        yield f"tables: {len(planned.tables)}"
        for each in planned.tables:
            schema = schemas[TableId(each.table.database, each.table.name)]
            column = job.source.chunks.key_of(each.table.database, each.table.name)
            chunks = ChunkSplitter(schema, column, job.source.chunks.rows).estimate(connection)
            key = ", ".join(each.transform.primary_key)
            topics = ", ".join(target.topic for target in each.targets)
            yield f"  {each.table.id}: key ({key}), about {chunks} chunks -> {topics}"
        yield from planned.notes
