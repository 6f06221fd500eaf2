"""`ogg-json`: change events of Oracle GoldenGate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rowkind.formats.cdc.before_after import BeforeAfterEnvelope
from rowkind.formats.cdc.debezium import before_after_frames
from rowkind.formats.cdc.event_metadata import Key, as_it_is, wall_clock
from rowkind.formats.cdc.format import CdcJsonFormat, ChangeEnvelope, Frame, metadata_fields
from rowkind.formats.cdc.images import Operation
from rowkind.formats.contract import FormatChoice
from rowkind.types import STRING, Field, array, timestamp_ltz

OPERATIONS = {"I": Operation.INSERT, "U": Operation.UPDATE, "D": Operation.DELETE}


class OggJsonFormat(CdcJsonFormat):
    """`before`, `after` and `op_type`."""

    name = "ogg-json"
    keys: Mapping[str, Key] = {
        "table": Key(STRING, Field("table", STRING), as_it_is),
        "primary-keys": Key(array(STRING), Field("primary_keys", array(STRING)), as_it_is),
        "ingestion-timestamp": Key(timestamp_ltz(6), Field("current_ts", STRING), wall_clock),
        "event-timestamp": Key(timestamp_ltz(6), Field("op_ts", STRING), wall_clock),
    }

    def envelope(self, columns: Sequence[Field], metadata: Sequence[str], choice: FormatChoice) -> ChangeEnvelope:
        return BeforeAfterEnvelope("Ogg", "op_type", OPERATIONS, columns, metadata_fields(self.keys, metadata))

    def frames(self, ignore_nulls: bool) -> tuple[Frame, Frame]:
        return before_after_frames(ignore_nulls, ',"op_type":"I"}', ',"op_type":"D"}')
