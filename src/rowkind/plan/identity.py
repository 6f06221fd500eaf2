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

from rowkind.connectors.contract import Table
from rowkind.plan import nodes as n
from rowkind.types import DataType, Field

LEFT_OUT = {
    "emit_before": "decides which rows are sent, not what is kept: another reader may change it while a job rests",
    "Aggregate.split_distinct": "follows from the calls",
    "Call.name": "names the result; what is kept goes by the place of the call",
    "Expr.tree": "the expression as it was read; `sql` is what runs",
    "Field.comment": "a comment",
    "Sink.index": "the place of the INSERT in its script",
    "SinkBuffer.interval": "how long rows are held back, which may change while a job rests",
    "SinkBuffer.max_rows": "how many rows are held back, which may change while a job rests",
    "SinkMaterialize.table": "names the table in errors; the key says what is kept",
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
def _(value: Table) -> dict[str, Any]:
    """A table says itself what it is; its columns are told where they are read."""
    return dict(value.identity())


def column_identity(node: n.Node, name: str) -> list[Any]:
    """A column of a table or an operator: its name and type, and of a table's also where in the message it is."""
    column = node.column(name)
    place = node.table.column_place(name) if isinstance(node, n.Scan) else None
    return [name, str(column.type.as_nullable()), place]


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
