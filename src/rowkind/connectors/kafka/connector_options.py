"""The two connectors, as the options each one takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from rowkind.connectors.kafka.sink_options import APPEND_SINK, UPSERT_SINK
from rowkind.connectors.kafka.source_options import SCAN, STARTUP
from rowkind.connectors.kafka.table_options import BOOTSTRAP_SERVERS, KEY_FIELDS, KEY_FORMAT, SHARED
from rowkind.connectors.settings import Side
from rowkind.options.declarations import Option


@dataclass(frozen=True, slots=True)
class Connector:
    """A connector: its name, and its options by what they are for."""

    name: str
    table: tuple[Option[Any], ...]
    source: tuple[Option[Any], ...]
    sink: tuple[Option[Any], ...]
    upsert: bool = False
    required: tuple[Option[Any], ...] = (BOOTSTRAP_SERVERS,)
    """Beside topic and formats, whose absence has errors of its own."""

    @property
    def options(self) -> tuple[Option[Any], ...]:
        return self.table + self.source + self.sink

    def options_for(self, side: Side) -> tuple[Option[Any], ...]:
        """The options that have a say when the table is read, or written."""
        return self.table + (self.source if side is Side.SOURCE else self.sink)


KAFKA = Connector("kafka", table=(*SHARED, KEY_FIELDS), source=STARTUP + SCAN, sink=APPEND_SINK)

_KEYED = tuple(replace(o, required="yes", unset="") if o is KEY_FORMAT else o for o in SHARED)

UPSERT_KAFKA = Connector("upsert-kafka", table=_KEYED, source=SCAN, sink=UPSERT_SINK, upsert=True)

CONNECTORS = {c.name: c for c in (KAFKA, UPSERT_KAFKA)}
