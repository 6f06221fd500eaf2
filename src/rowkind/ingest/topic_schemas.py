"""The columns of every topic of a job, as they are at one place of the log; they follow the tables' changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rowkind.ingest.description import IngestionJob
from rowkind.ingest.evolution import emptied, evolved
from rowkind.ingest.schema_changes import DropTable, TruncateTable
from rowkind.ingest.table_output import TableOutput
from rowkind.ingest.widening import widest_columns
from rowkind.sql import parse_type
from rowkind.types import Field


@dataclass(frozen=True, slots=True)
class TopicSchema:
    """Columns of the values, and those that are the key."""

    columns: tuple[Field, ...]
    key: tuple[str, ...]
    tables: tuple[str, ...]
    """That write into it."""

    def to_json(self) -> dict[str, Any]:
        columns = [[c.name, str(c.type)] for c in self.columns]
        return {"columns": columns, "key": list(self.key), "tables": list(self.tables)}

    @staticmethod
    def of_json(said: Mapping[str, Any]) -> TopicSchema:
        columns = tuple(Field(name, parse_type(type)) for name, type in said["columns"])
        return TopicSchema(columns, tuple(said["key"]), tuple(said["tables"]))


@dataclass(frozen=True, slots=True)
class Evolution:
    """Topics after a change, with what to tell and to count."""

    topics: Mapping[str, TopicSchema]
    notes: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)


def first_topics(outputs: Iterable[TableOutput]) -> dict[str, TopicSchema]:
    """Of the tables that a job begins with."""
    topics: dict[str, TopicSchema] = {}
    for output in outputs:
        topics = with_table(topics, output)
    return topics


def with_table(topics: Mapping[str, TopicSchema], output: TableOutput) -> dict[str, TopicSchema]:
    """With one table more: a topic that others write, or that had the table before, takes the columns of all."""
    found, table = dict(topics), output.table.id
    for topic in dict.fromkeys(target.topic for target in output.targets):
        known = found.get(topic)
        if known is None:
            found[topic] = TopicSchema(output.columns, output.transform.primary_key, (table,))
        else:
            columns = widest_columns([known.columns, output.columns])
            tables = dict.fromkeys((*known.tables, table))
            found[topic] = TopicSchema(columns, known.key, tuple(tables))
    return found


def after_alter(
    job: IngestionJob,
    topics: Mapping[str, TopicSchema],
    before: TableOutput,
    after: TableOutput,
    renamed: Mapping[str, str] | None = None,
) -> Evolution:
    """After an ALTER of a table."""
    found, counts = dict(topics), Counter[str]()
    notes: list[str] = []
    for topic in dict.fromkeys(target.topic for target in after.targets):
        known = found[topic]
        policy = job.policy(shared=len(known.tables) > 1)
        change = evolved(after.table.id, known.columns, before.columns, after.columns, policy, renamed)
        found[topic] = TopicSchema(change.columns, known.key, known.tables)
        notes += change.notes
        counts.update(change.counts)
    return Evolution(found, tuple(dict.fromkeys(notes)), dict(counts))


def after_emptying(
    job: IngestionJob, topics: Mapping[str, TopicSchema], output: TableOutput, dropped: bool
) -> Evolution:
    """After TRUNCATE or DROP of a table: nothing is written, since the keys are not known."""
    notes: tuple[str, ...] = ()
    counts: Mapping[str, int] = {}
    for topic in dict.fromkeys(target.topic for target in output.targets):
        known = topics[topic]
        change = emptied(output.table.id, known.columns, DropTable() if dropped else TruncateTable(), job.policy(False))
        notes, counts = change.notes, change.counts
    return Evolution(topics, notes, counts)
