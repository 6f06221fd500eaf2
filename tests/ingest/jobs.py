"""Job files and tables for tests."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from rowkind.ingest.description import IngestionJob
from rowkind.ingest.loading import parse_job
from rowkind.ingest.tables import SourceTable
from rowkind.ingest.variables import Variables
from rowkind.sql import parse_type
from rowkind.types import DataType, Field

FIXTURES = Path(__file__).parent / "fixtures"
SOURCE = {
    "type": "mysql",
    "hostname": "db",
    "username": "reader",
    "password": "hunter2",
    "tables": r"shop.\.*",
    "server-time-zone": "UTC",
}
SINKS = {
    "upsert-kafka": {"type": "upsert-kafka", "properties.bootstrap.servers": "kafka:9092"},
    "print": {"type": "print"},
}
ALIYUN = {
    "aliyun.kafka.accessKeyId": "LTAI5t",
    "aliyun.kafka.accessKeySecret": "hunter3",
    "aliyun.kafka.instanceId": "alikafka_post",
    "aliyun.kafka.endpoint": "alikafka.cn-hangzhou.aliyuncs.com",
    "aliyun.kafka.regionId": "cn-hangzhou",
}


def quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def text(
    source: dict[str, str | None] | None = None,
    sink: dict[str, str | None] | None = None,
    pipeline: dict[str, str] | None = None,
    route: list[dict[str, str]] | None = None,
    transform: list[dict[str, str]] | None = None,
    lists: str = "",
    sink_type: str = "upsert-kafka",
) -> str:
    """A valid job file with some settings changed, added, or (None) removed."""
    lines = ["source:", *_lines(SOURCE | (source or {}))]
    lines += ["sink:", *_lines(SINKS[sink_type] | (sink or {})), *(f"  {line}" for line in lists.splitlines())]
    if pipeline:
        lines += ["pipeline:", *_lines(dict(pipeline))]
    for name, rules in (("route", route), ("transform", transform)):
        if rules:
            lines.append(f"{name}:")
            for rule in rules:
                first, *others = _lines(dict(rule))
                lines += [f"  - {first.strip()}", *(f"    {line.strip()}" for line in others)]
    return "\n".join(lines) + "\n"


def job(
    *, variables: Variables | None = None, checkpoint: str | None = "/checkpoint", **sections: object
) -> IngestionJob:
    return parse_job(text(**sections), "job.yaml", variables, checkpoint)  # type: ignore[arg-type]


def table(name: str, columns: str, *key: str) -> SourceTable:
    """A table from `database.name` and `column type, column type`."""
    database, _, bare = name.partition(".")
    return SourceTable(database, bare, fields(columns), key)


def fields(columns: str) -> tuple[Field, ...]:
    found = []
    for part in re.split(r",\s*(?![^(]*\))", columns) if columns else []:
        name, _, type = part.strip().partition(" ")
        found.append(Field(name, parse_type(type)))
    return tuple(found)


def shown(columns: tuple[Field, ...]) -> str:
    """Columns as `fields` takes them."""
    return ", ".join(f"{c.name} {c.type}" for c in columns)


def type_(name: str) -> DataType:
    return parse_type(name)


@dataclass(frozen=True, slots=True)
class Refused:
    """A job file that is refused: the condition, its place, and a word of the message."""

    title: str
    condition: str
    line: int
    column: int
    words: tuple[str, ...]
    text: str


def refused(file: str) -> list[Refused]:
    """Cases of a fixture: `=== title | CONDITION line:column | word | word`, and the job file below."""
    found = []
    for part in (FIXTURES / file).read_text("utf-8").split("=== ")[1:]:
        head, _, body = part.partition("\n")
        title, condition, *words = (piece.strip() for piece in head.split(" | "))
        name, place = condition.split()
        line, column = map(int, place.split(":"))
        found.append(Refused(title, name, line, column, tuple(words), body))
    return found


def _lines(settings: dict[str, str | None]) -> list[str]:
    return [f"  {key}: {quoted(value)}" for key, value in settings.items() if value is not None]
