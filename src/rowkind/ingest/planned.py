"""The tables of a job once the database has named them: what is written of each, and where."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rowkind.errors import RowkindError, nearest
from rowkind.ingest.description import IngestionJob
from rowkind.ingest.endpoints import UpsertKafkaSink
from rowkind.ingest.modes import KeylessTables
from rowkind.ingest.place import Place
from rowkind.ingest.routes import routed
from rowkind.ingest.tables import SourceTable, TableId
from rowkind.ingest.topics import control_plane_name, topic_name
from rowkind.ingest.transforms import Transform, transformed


@dataclass(frozen=True, slots=True)
class Target:
    """Where rows of a table go: the id that routes give, and the topic."""

    id: TableId
    topic: str


@dataclass(frozen=True, slots=True)
class PlannedTable:
    transform: Transform
    targets: tuple[Target, ...]

    @property
    def table(self) -> SourceTable:
        return self.transform.table


@dataclass(frozen=True, slots=True)
class PlannedTables:
    tables: tuple[PlannedTable, ...]
    notes: tuple[str, ...] = ()

    @property
    def topics(self) -> dict[str, tuple[PlannedTable, ...]]:
        """The tables of each topic, in order."""
        found: defaultdict[str, list[PlannedTable]] = defaultdict(list)
        for planned in self.tables:
            for topic in dict.fromkeys(target.topic for target in planned.targets):
                found[topic].append(planned)
        return {topic: tuple(tables) for topic, tables in found.items()}


def selected(job: IngestionJob, ids: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Those of the server's tables, as database and name, that the job captures; none at all is an error."""
    known = list(ids)
    tables = job.source.tables
    found = [(d, t) for d, t in known if tables.matches(d, t)]
    if found:
        return found
    (given,) = job.given["source"]
    excluded = tables.excluded is not None and any(tables.included.matches(d, t) for d, t in known)
    option = "tables.exclude" if excluded else "tables"
    setting = given.settings[option]
    close = nearest(setting.text.value, [f"{d}.{t}" for d, t in known])
    raise setting.place.error("INGEST_NO_TABLES", option=option, value=setting.text.value, suggestion=close)


def planned_tables(job: IngestionJob, tables: Sequence[SourceTable]) -> PlannedTables:
    """What the job does with its tables; pure, so that it can be asked again when a table has come or changed."""
    found: list[PlannedTable] = []
    notes: list[str] = []
    for table in tables:
        transform = transformed(job.transforms, table, job.source.metadata, job.pipeline.trim_keys)
        notes += transform.notes
        if _has_key(job, transform, notes):
            found.append(PlannedTable(transform, _targets(job, table)))
    planned = PlannedTables(tuple(found))
    return PlannedTables(planned.tables, (*notes, *_collisions(planned)))


def _has_key(job: IngestionJob, transform: Transform, notes: list[str]) -> bool:
    if transform.primary_key:
        return True
    if job.sink.messages.keyless is KeylessTables.FAIL:
        raise RowkindError("INGEST_TABLE_WITHOUT_KEY", table=transform.table.id)
    notes.append(f"Table {transform.table.id} has no primary key and is left out.")
    return False


def _targets(job: IngestionJob, table: SourceTable) -> tuple[Target, ...]:
    ids = routed(job.routes, job.pipeline.route_mode, table.database, table.name)
    if (topic := job.sink.messages.topic) is not None:
        # One message a row, whatever ids the routes give it.
        return (Target(ids[0], topic),)
    place = _place(job, table)
    for id in ids:
        topic_name(id.text, place)
        if isinstance(job.sink, UpsertKafkaSink) and job.sink.aliyun:
            control_plane_name(id.text, place)
    return tuple(Target(id, id.text) for id in ids)


def _place(job: IngestionJob, table: SourceTable) -> Place:
    """The first route of the table, or else the source's list of tables."""
    (given,) = job.given["source"]
    matching = (r.place for r in job.routes if r.source.matches(table.database, table.name))
    return next(matching, given.settings["tables"].place)


def _collisions(planned: PlannedTables) -> list[str]:
    """Topics in which a row of one table may take the place of another table's: their keys look the same."""
    notes = []
    for topic, tables in planned.topics.items():
        by_key: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
        for planned_table in tables:
            by_key[planned_table.transform.primary_key].append(planned_table.table.id)
        for key, ids in by_key.items():
            if len(ids) > 1:
                listed = ", ".join(ids[:3]) + (f" and {len(ids) - 3} more" if len(ids) > 3 else "")
                notes.append(
                    f"Topic {topic} gets the rows of {listed}: those with the same ({', '.join(key)}) overwrite each "
                    "other. A transform can add __table_name__ to 'primary-keys'."
                )
    return notes
