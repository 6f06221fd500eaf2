"""`blackhole`: takes every row and forgets it, to see how fast the rest of a query is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from rowkind.connectors.connector import Connector
from rowkind.connectors.contract import Sink, Table, WriteContext, Writer
from rowkind.connectors.settings import Guarantee, ReadSettings, Side, WriteSettings
from rowkind.connectors.usage import Options, Usage
from rowkind.connectors.writing_options import SINK_PARALLELISM
from rowkind.kinds import ChangelogMode
from rowkind.metrics.traffic import Traffic


class BlackholeSink(Sink):
    @property
    def guarantees(self) -> frozenset[Guarantee]:
        return frozenset({Guarantee.NONE, Guarantee.AT_LEAST_ONCE})

    def prepare(self) -> list[str]:
        return []


class BlackholeWriter(Writer):
    def __init__(self, table: str, context: WriteContext) -> None:
        self._context = context
        self._traffic = context.traffic.setdefault(table, Traffic())

    def write(self, rows: pa.RecordBatch) -> None:
        self._context.counts["rows-written"] += rows.num_rows
        self._traffic.wrote(rows.num_rows, rows.nbytes)

    def flush(self, wait: bool) -> None:
        """There is nothing to wait for."""

    def close(self, failed: bool) -> None:
        """Nothing is open."""


@dataclass(frozen=True, slots=True)
class BlackholeTable(Table):
    def __hash__(self) -> int:
        return hash(self.definition.name)

    @property
    def bounded(self) -> bool:
        return True

    @property
    def parts(self) -> tuple[str, ...]:
        return (self.name,)

    def identity(self) -> dict[str, Any]:
        return {"": "BlackholeTable", "name": self.name, "connector": self.connector}

    def sink(self) -> Sink:
        return BlackholeSink()

    def writer(self, context: WriteContext) -> Writer:
        return BlackholeWriter(self.name, context)


class BlackholeConnector(Connector[Usage]):
    """`blackhole`."""

    name = "blackhole"
    about = "Rows go nowhere. It is written only, and takes every change."
    sides = frozenset({Side.SINK})
    options = Options(writing=(SINK_PARALLELISM,))

    def table(self, usage: Usage) -> tuple[Table, list[str]]:
        writing = WriteSettings(parallelism=usage.given.get(SINK_PARALLELISM))
        table = BlackholeTable(
            usage.definition, usage.side, self.name, ChangelogMode.RETRACT, (), ReadSettings(), writing
        )
        return table, []
