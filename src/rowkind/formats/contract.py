"""What a format is: payload bytes to Arrow columns with row kinds, and back.

A format is chosen and validated on the driver (`Format`), where its options are read. The decoder and the encoder are
built once in each Python worker and called with one Arrow batch after the other; they keep no state between calls but
caches, so a batch that is run again gives the same answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import pyarrow as pa

from rowkind.kinds import ChangelogMode
from rowkind.options.declarations import Option
from rowkind.types import DataType, Field


@dataclass(frozen=True, slots=True)
class BadMessage:
    """A payload that could not be decoded: its position in the batch, and why. The caller decides what follows."""

    index: int
    reason: str


@dataclass(frozen=True, slots=True)
class Decoded:
    """What a decoder made of a batch of payloads.

    `message[i]` is the index of the payload that row i came from, ascending; None means row i came from payload i and
    no payload was left out. `kinds` None means all +I. `ignored` counts what `ignore-parse-errors` dropped or nulled.
    A payload in `bad` gave no rows.
    """

    rows: pa.RecordBatch
    message: pa.Int32Array | None = None
    kinds: pa.Int8Array | None = None
    bad: Sequence[BadMessage] = ()
    ignored: int = 0


class Decoder(Protocol):
    """Runs in a Python worker. Called once per batch of messages of one topic partition, in order."""

    def decode(self, payloads: pa.BinaryArray) -> Decoded:
        """Never raises for bad bytes: they are reported in `bad`."""
        ...


class Encoder(Protocol):
    """Runs in a Python worker. Called once per batch of rows, in order."""

    def encode(self, rows: pa.RecordBatch, kinds: pa.Int8Array | None = None) -> pa.BinaryArray:
        """One payload a row; null is a null payload. Raises RowkindError for a row that cannot be written."""
        ...


@dataclass(frozen=True, slots=True)
class FormatContext:
    """Where a format is used: names it in errors, and gives a schema registry its default subject."""

    table: str
    key: bool = False
    topic: str | None = None
    """The one topic of the table; None with several topics or a pattern."""
    sink: bool = False


@dataclass(frozen=True, slots=True)
class FormatChoice:
    """A format picked by a table: its name, its option values by bare name (all declared ones), and its place."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Not shown: a registry's credentials may be among them."""
    context: FormatContext = field(default_factory=lambda: FormatContext("?"))


class Format(Protocol):
    """One format. Instances have no state; the registry holds one per name."""

    name: str
    options: tuple[Option[Any], ...]
    """Bare names, as `ignore-parse-errors`; a table writes them after `<format>.`, with `key.` or `value.` before."""
    changelog: ChangelogMode
    """INSERT_ONLY, or RETRACT for a CDC format, which reads and writes every kind."""
    metadata: Mapping[str, DataType]
    """Keys that `METADATA FROM 'value.<key>'` may name."""

    def validate(self, columns: Sequence[Field], choice: FormatChoice) -> None:
        """Raise RowkindError for options or column types that this format refuses. Runs on the driver, at planning."""
        ...

    def decoder(self, columns: Sequence[Field], metadata: Sequence[str], choice: FormatChoice) -> Decoder:
        """A decoder whose rows are `columns`, then the named metadata keys (as columns called `value.<key>`)."""
        ...

    def encoder(self, columns: Sequence[Field], choice: FormatChoice) -> Encoder: ...
