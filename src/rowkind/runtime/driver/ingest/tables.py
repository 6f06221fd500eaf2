"""The tables of an ingestion job at one place of the log: what is written of each, and the columns of their topics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b

from rowkind.catalog.tables import resolve
from rowkind.connectors.kafka.table import KafkaTable
from rowkind.connectors.mysql.gathering import Lanes
from rowkind.connectors.mysql.schema_set import SchemaSet
from rowkind.connectors.mysql.schemas import TableId, TableSchema
from rowkind.connectors.mysql.types import Reading, fields
from rowkind.connectors.settings import Side
from rowkind.definitions import PhysicalColumn, TableDefinition
from rowkind.ingest.description import IngestionJob
from rowkind.ingest.endpoints import UpsertKafkaSink
from rowkind.ingest.fitting import Fit, Fitted, fitted
from rowkind.ingest.message_rows import SinkColumn, Target
from rowkind.ingest.planned import planned_tables
from rowkind.ingest.table_output import Bind, TableOutput, table_output
from rowkind.ingest.tables import SourceTable
from rowkind.ingest.topic_schemas import TopicSchema
from rowkind.options.session_values import SessionOptions
from rowkind.types import INT, Field, arrow_type

_UNSENT = {"properties.bootstrap.servers": "-"}
"""Of messages that are only shown."""


@dataclass
class JobTables:
    """Works out what a job does with schemas; what was worked out is kept."""

    job: IngestionJob
    bind: Bind
    prefix: str | None
    """Of transactional ids, with exactly-once."""
    _outputs: dict[TableSchema, TableOutput | None] = field(default_factory=dict)
    _tables: dict[tuple[str, TopicSchema], KafkaTable] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @cached_property
    def reading(self) -> Reading:
        return Reading(tinyint1_as_boolean=self.job.source.tinyint1_as_boolean)

    def output(self, schema: TableSchema) -> TableOutput | None:
        """What is written of a table; None when it is left out, for want of a key."""
        if schema not in self._outputs:
            planned = planned_tables(self.job, [self.source_table(schema)])
            self.notes += planned.notes
            found = [table_output(table, self.bind) for table in planned.tables]
            self._outputs[schema] = found[0] if found else None
        return self._outputs[schema]

    def source_table(self, schema: TableSchema) -> SourceTable:
        return SourceTable(schema.id.database, schema.id.table, fields(schema, self.reading), schema.primary_key)

    def lanes(self, parts: int, schemas: SchemaSet, topics: Mapping[str, TopicSchema]) -> Lanes:
        """How rows of the log are laid into files: by key, and apart where Spark computes on them."""
        apart, unsplit = {}, set()
        for table, schema in schemas.tables.items():
            output = self.output(schema)
            if output is not None and self.computed(output, topics):
                apart[table] = lane_of(table)
            if output is not None and not output.keeps_key:
                unsplit.add(table)
        return Lanes(apart, frozenset(unsplit), parts)

    def computed(self, output: TableOutput, topics: Mapping[str, TopicSchema]) -> bool:
        """Whether Spark computes on the rows of a table: by its transform, or to fit the columns of its topics."""
        if not output.plain:
            return True
        fits = [fit for target in output.targets for fit in fitted(topics[target.topic].columns, output.columns)]
        return any(fit.fit not in (Fit.SAME, Fit.NULL) for fit in fits)

    def kafka_table(self, topic: str, schema: TopicSchema) -> KafkaTable:
        """A topic as the upsert table that SQL would write."""
        place = (topic, schema)
        if place not in self._tables:
            columns = tuple(PhysicalColumn(c.name, c.type) for c in schema.columns)
            definition = TableDefinition(topic, columns, self._options(topic), schema.key)
            table, _ = resolve(definition, SessionOptions(), Side.SINK)
            assert isinstance(table, KafkaTable)
            self._tables[place] = table
        return self._tables[place]

    def any_table(self, topic: str) -> KafkaTable:
        """A table on the job's brokers, whatever its columns are."""
        return self.kafka_table(topic, TopicSchema((Field("id", INT.not_null()),), ("id",), ()))

    def _options(self, topic: str) -> dict[str, str]:
        sink = self.job.sink
        json = {f"{side}.json.{key}": value for key, value in sink.messages.json.items() for side in ("key", "value")}
        formats = {"key.format": "json", "value.format": "json", **json}
        named = {"connector": "upsert-kafka", "topic": topic, **formats}
        return {**named, **(self._written(sink) if isinstance(sink, UpsertKafkaSink) else _UNSENT)}

    def _written(self, sink: UpsertKafkaSink) -> dict[str, str]:
        options = {
            "sink.delivery-guarantee": sink.guarantee.value,
            **{f"properties.{key}": value for key, value in sink.properties.items()},
            **{f"sink.topic.config.{key}": value for key, value in sink.topic_config.items()},
        }
        if sink.topic_partitions is not None:
            options["sink.topic.partitions"] = str(sink.topic_partitions)
        if sink.topic_replication is not None:
            options["sink.topic.replication-factor"] = str(sink.topic_replication)
        if self.prefix is not None:
            options["sink.transactional-id-prefix"] = self.prefix
        return options

    def targets(self, output: TableOutput, topics: Mapping[str, TopicSchema]) -> tuple[Target, ...]:
        """Where the rows of a table go. Those that Spark has computed on have the topic's columns already."""
        computed = self.computed(output, topics)
        headers = self.job.sink.messages.headers
        found = []
        for target in output.targets:
            schema = topics[target.topic]
            fits = fitted(schema.columns, output.columns)
            columns = tuple(_column(fit, fit.column.name if computed else _source(output, fit)) for fit in fits)
            named = target.id.headers if headers else ()
            found.append(Target(self.kafka_table(target.topic, schema), columns, named, output.transform.soft_delete))
        return tuple(found)


def _column(fit: Fitted, source: str | None) -> SinkColumn:
    return SinkColumn(fit.column.name, source, arrow_type(fit.column.type))


def _source(output: TableOutput, fit: Fitted) -> str | None:
    return None if fit.source is None else output.source_of(fit.source)


def lane_of(table: TableId) -> str:
    """A name for a file."""
    return blake2b(str(table).encode(), digest_size=6).hexdigest()
