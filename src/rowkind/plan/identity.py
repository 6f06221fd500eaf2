"""What a plan is, as plain data: by its digest a checkpoint knows an operator's state again, and a plan as a whole.

Every field of every node is in it, by its name, and of every call every argument; an expression is the SQL that runs.
What is left out is listed with its reason. How EXPLAIN describes a node plays no part, so words may change freely.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from functools import singledispatch
from typing import Any

from rowkind.connectors.kafka.table import KafkaTable
from rowkind.formats.contract import FormatChoice
from rowkind.plan import nodes as n
from rowkind.types import DataType, Field

LEFT_OUT = {
    "emit_before": "decides which rows are sent, not what is kept: another reader may change it while a job rests",
    "Call.name": "names the result; what is kept goes by the place of the call",
    "Expr.tree": "the expression as it was read; `sql` is what runs",
    "Field.comment": "a comment",
    "Sink.index": "the place of the INSERT in its script",
    "SinkBuffer.interval": "how long rows are held back, which may change while a job rests",
    "SinkBuffer.max_rows": "how many rows are held back, which may change while a job rests",
    "SinkMaterialize.table": "names the table in errors; the key says what is kept",
    "KafkaTable.definition": "its columns are told where they are read, its options are below",
    "KafkaTable.side": "Scan and Sink differ already",
    "KafkaTable.changelog": "follows from connector and format",
    "KafkaTable.properties": "how the brokers are reached",
    "KafkaTable.key_columns": "columns are told where they are read",
    "KafkaTable.key_payload": "columns are told where they are read",
    "KafkaTable.value_columns": "columns are told where they are read",
    "KafkaTable.metadata": "columns are told where they are read",
    "KafkaTable.scan": "where to start and how fast: the checkpoint's positions count",
    "KafkaTable.sink": "how rows are sent",
    "FormatChoice.options": "may hold credentials; what decides a key's bytes is recorded by itself",
    "FormatChoice.context": "for errors",
}
"""Fields that are no part of an identity, of one class or of all, and why."""


def left_out(owner: type, field: str) -> bool:
    return field in LEFT_OUT or f"{owner.__name__}.{field}" in LEFT_OUT


@singledispatch
def identity(value: object) -> Any:
    """A node without its inputs, or what it holds, as what JSON can hold. Raises TypeError for what it does not know.

    >>> identity(n.Order("price", descending=True))
    {'': 'Order', 'arrival': False, 'column': 'price', 'descending': True, 'nulls_first': True}
    """
    if not is_dataclass(value):
        raise TypeError(f"no identity of a {type(value).__name__}")
    owner = type(value)
    told = {f.name: getattr(value, f.name) for f in fields(value) if not left_out(owner, f.name)}
    return {"": owner.__name__, **{name: identity(told[name]) for name in sorted(told) if not _below(told[name])}}


def _below(value: object) -> bool:
    """Whether it is a node's input: what lies below a node is told by itself."""
    return isinstance(value, n.Node) or (isinstance(value, tuple) and any(isinstance(v, n.Node) for v in value))


@identity.register
def _(value: None) -> None:
    return None


@identity.register(str)
@identity.register(int)
def _(value: str | int) -> str | int:
    return value if isinstance(value, (bool, int)) else str(value)


@identity.register
def _(value: tuple) -> list[Any]:  # type: ignore[type-arg]
    return [identity(member) for member in value]


@identity.register
def _(value: DataType) -> str:
    return str(value)


@identity.register
def _(value: Field) -> list[str]:
    return [value.name, str(value.type)]


@identity.register
def _(value: n.Expr) -> list[str]:
    return [value.sql, str(value.type)]


@identity.register
def _(value: FormatChoice) -> str:
    return value.name


@identity.register
def _(value: KafkaTable) -> dict[str, Any]:
    pattern = value.topic_pattern.pattern if value.topic_pattern else None
    return {
        "": "KafkaTable",
        "name": value.name,
        "connector": value.connector,
        "topics": identity(value.topics),
        "topic_pattern": pattern,
        "key_format": identity(value.key_format),
        "value_format": identity(value.value_format),
    }


def column_identity(node: n.Node, name: str) -> list[Any]:
    """A column of a table or an operator: its name and type, and of a table's also where in the message it is."""
    column = node.column(name)
    place = _places(node.table).get(name, "value") if isinstance(node, n.Scan) else None
    return [name, str(column.type.as_nullable()), place]


def _places(table: KafkaTable) -> dict[str, str]:
    key = {c.name: f"key {place}" for place, c in enumerate(table.key_columns)}
    return key | {m.name: f"metadata {m.key}" for m in table.metadata}


def digest(what: object) -> str:
    """A short name of what JSON can hold: equal for equal content, on every machine and in every run."""
    text = json.dumps(what, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


def plan_digest(roots: Iterable[n.Node]) -> str:
    """The digest of a whole job. Statements may change places, but those that write the same table may not."""
    told = [(_target(root), _whole(root)) for root in roots]
    return digest(sorted(told, key=lambda pair: pair[0]))


def _target(root: n.Node) -> str:
    return digest(identity(root.table)) if isinstance(root, n.Sink) else ""


def _whole(node: n.Node) -> list[Any]:
    """A node with all that lies below it."""
    columns: Sequence[Any] = [column_identity(node, c.name) for c in node.columns]
    return [identity(node), columns, [_whole(below) for below in node.inputs]]
