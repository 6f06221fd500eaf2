"""The schemas of all captured tables at one place of the binlog, in a file of the checkpoint.

Positions name the set by its digest. It changes with DDL only, so neither an entry nor a task grows with the number of
tables, and a job that is started again before an ALTER decodes with the schema of that place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from rowkind.connectors.mysql.schemas import TableId, TableSchema
from rowkind.state.contents import contents, keep_contents


@dataclass(frozen=True, slots=True)
class SchemaSet:
    """Schemas by table."""

    tables: Mapping[TableId, TableSchema]

    def keep(self, folder: str, sync: bool) -> str:
        """Write the set down, unless it is there; its digest."""
        said = [schema.to_json() for _, schema in sorted(self.tables.items())]
        return keep_contents(folder, "schemas", said, sync)

    def with_table(self, schema: TableSchema) -> SchemaSet:
        return SchemaSet({**self.tables, schema.id: schema})

    def without(self, table: TableId) -> SchemaSet:
        return SchemaSet({id: schema for id, schema in self.tables.items() if id != table})


@lru_cache(maxsize=8)
def schema_set(folder: str, digest: str) -> SchemaSet:
    """A set that was written down."""
    found = map(TableSchema.from_json, contents(folder, "schemas", digest))
    return SchemaSet({schema.id: schema for schema in found})
