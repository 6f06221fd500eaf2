"""Writes the page of ingestion options from their declarations: `python -m rowkind.ingest.document`."""

from __future__ import annotations

from pathlib import Path

from rowkind.catalog.document import markdown_table, options_table
from rowkind.ingest.declarations import Declaration, Declared
from rowkind.ingest.kafka_options import PRINT, UPSERT_KAFKA
from rowkind.ingest.mysql_options import MYSQL
from rowkind.ingest.pipeline_options import PIPELINE, ROUTE, TRANSFORM
from rowkind.ingest.schema_changes import FAMILIES, TAGS
from rowkind.ingest.transforms import EVENT_TYPE, NAMESPACE, OP_TS, SCHEMA, TABLE
from rowkind.options.declarations import Option

PAGE = Path("docs/ingestion-options.md")

_INTRODUCTION = """\
# Options of ingestion jobs

This page is generated from the declarations in the code: `python -m rowkind.ingest.document` writes it.

`rowkind ingest job.yaml` runs the job that a file describes: one `source` and one `sink`, both needed, and `route`,
`transform` and `pipeline`, which are not.

```yaml
source:
  type: mysql
  hostname: db.example.com
  username: reader
  password: ${secret_values.reader-password}
  tables: shop.\\.*
  server-id: 5400-5404
  server-time-zone: UTC
sink:
  type: upsert-kafka
  properties.bootstrap.servers: kafka.example.com:9092
route:
  - source-table: shop.order_(\\.*)
    sink-table: orders-$1
transform:
  - source-table: shop.customers
    projection: \\*, UPPER(country) AS country
    filter: active
pipeline:
  name: shop
```

Keys are flat, their case does not matter, and every value is taken as text. A key that is not listed here is refused
with its line. An option *without effect* is accepted with a note; a *refused* one ends the start, unless its value asks
for what is done anyway.

## Variables

`${name}` is filled in by `--var name=value`. `${secret_values.name}` is a secret: a line `name: value` of the file that
`--secrets` names, which nobody else may be able to read, or `ROWKIND_SECRET_NAME` in the environment, in capitals and
with `_` for dots and dashes. A `${name}` that no `--var` gives is looked up among the secrets too. `${name:-value}` has
a default, `$${` stands for `${`. Values are filled in after the file is parsed, so they cannot change its structure. A
secret is shown nowhere, and can only be the value of connection options.
"""

_SCHEMA_CHANGES = f"""\
### Changes of schemas

Two more keys of the sink, both lists: `include.schema.changes` has the changes that the sink follows (all, if it is
not given), `exclude.schema.changes` those that it does not. Exclude beats include. Without the second list, `LENIENT`
leaves out `drop.table` and `truncate.table`; `[]` leaves out nothing. A change that is left out is ignored under every
behaviour. Tags: {", ".join(f"`{tag}`" for tag in TAGS)}; and families, which stand for every tag that they are a part
of: {", ".join(f"`{family}`" for family in FAMILIES)}.

| change of the table | `EVOLVE`, `TRY_EVOLVE` | `LENIENT` | `IGNORE` | `EXCEPTION` |
|---|---|---|---|---|
| add a column | at its place | last, nullable | cut off | the job ends |
| rename a column | renamed | the old one stays and is NULL, the new one is last | the old one is NULL | the job ends |
| change a type | changed | changed | cast to the old type, NULL where that is impossible | the job ends |
| drop a column | dropped | stays and is NULL | stays and is NULL | the job ends |
| truncate or drop the table | nothing is written | nothing is written | nothing is written | the job ends |

What a topic of JSON shows of it is which columns a value has, and in which order.
"""

_METADATA = f"""\
### Columns that every table has

| Column | Type | Value |
|---|---|---|
| `{NAMESPACE}` | STRING | NULL |
| `{SCHEMA}` | STRING | the database |
| `{TABLE}` | STRING | the table |
| `{EVENT_TYPE}` | STRING | `+I`, `-U`, `+U` or `-D` |
| `{OP_TS}` | BIGINT | when the row changed, in milliseconds since 1970; 0 for rows of the first copy |

They are not part of `*`. `{OP_TS}` needs `metadata.list: op_ts` of the source.
"""


def page() -> str:
    """Every option of a job file."""
    return "\n".join(
        [
            _INTRODUCTION,
            _section(MYSQL),
            _section(UPSERT_KAFKA),
            _SCHEMA_CHANGES,
            _section(PRINT),
            _section(ROUTE),
            _section(TRANSFORM),
            _METADATA,
            _section(PIPELINE),
        ]
    )


def _section(declared: Declared) -> str:
    counting = [d.option for d in declared.declarations if d.counts]
    idle = [d for d in declared.declarations if not d.counts and not d.refused]
    refused = [d for d in declared.declarations if d.refused]
    parts = [f"## {declared.title}\n", f"{declared.about}\n", options_table(counting)]
    if idle:
        parts += ["Without effect:\n", markdown_table(("Option", "Why"), (_row(d) for d in idle))]
    if refused:
        parts += ["Refused:\n", markdown_table(("Option", "Why"), (_row(d) for d in refused))]
    return "\n".join(parts)


def _row(declaration: Declaration) -> tuple[str, str]:
    option: Option[object] = declaration.option
    unless = ", ".join(
        f"`{str(value).lower() if isinstance(value, bool) else value}`" for value in declaration.harmless
    )
    return f"`{option.name}`", declaration.why + (f"; {unless} may stand" if unless and declaration.refused else "")


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
