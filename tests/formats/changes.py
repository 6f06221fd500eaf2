"""Change events for tests: a table of products, and what a CDC decoder makes of messages about it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from rowkind import types as t
from rowkind.formats.contract import Decoded, FormatChoice, FormatContext
from rowkind.formats.registry import format_named
from rowkind.kinds import RowKind
from rowkind.types import Field

PRODUCTS = (
    Field("id", t.INT.not_null()),
    Field("name", t.STRING),
    Field("description", t.STRING),
    Field("weight", t.FLOAT),
)

Row = tuple[Any, ...]


def choice(name: str, sink: bool = False, **options: Any) -> FormatChoice:
    """Options by name, with _ for - and __ for a point."""
    named = {key.replace("__", ".").replace("_", "-"): value for key, value in options.items()}
    return FormatChoice(name, named, FormatContext("products", sink=sink))


def decode(
    name: str,
    *messages: Any,
    columns: Sequence[Field] = PRODUCTS,
    metadata: Sequence[str] = (),
    **options: Any,
) -> Decoded:
    """Messages given as bytes, as text, as what json.dumps takes, or None."""
    payloads = [m if m is None or isinstance(m, bytes) else _bytes(m) for m in messages]
    decoder = format_named(name).decoder(columns, metadata, choice(name, **options))
    return decoder.decode(pa.array(payloads, pa.binary()))


def _bytes(message: Any) -> bytes:
    return (message if isinstance(message, str) else json.dumps(message)).encode()


def rows(decoded: Decoded) -> list[tuple[str, Row]]:
    """Every row with its kind."""
    kinds = [RowKind.INSERT] * decoded.rows.num_rows if decoded.kinds is None else decoded.kinds.to_pylist()
    cells = zip(*(c.to_pylist() for c in decoded.rows.columns), strict=True)
    return [(RowKind(k).symbol, row) for k, row in zip(kinds, cells, strict=True)]


def reasons(decoded: Decoded) -> dict[int, str]:
    return {bad.index: bad.reason for bad in decoded.bad}


def encode(name: str, *changes: tuple[RowKind, Row], columns: Sequence[Field] = PRODUCTS, **options: Any) -> list[str]:
    from rowkind.formats.row_schema import decoded_schema

    schema = decoded_schema(columns)
    cells = [pa.array([row[i] for _, row in changes], f.type) for i, f in enumerate(schema)]
    encoder = format_named(name).encoder(columns, choice(name, sink=True, **options))
    kinds = pa.array([int(kind) for kind, _ in changes], pa.int8())
    written = encoder.encode(pa.RecordBatch.from_arrays(cells, schema=schema), kinds).to_pylist()
    return [value.decode() for value in written if value is not None]
