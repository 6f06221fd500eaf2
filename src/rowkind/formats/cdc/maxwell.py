"""`maxwell-json`: change events of Maxwell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rowkind.formats.cdc.data_old import DataOldEnvelope
from rowkind.formats.cdc.event_metadata import Key, as_it_is, seconds
from rowkind.formats.cdc.format import CdcJsonFormat, ChangeEnvelope, Frame, metadata_fields
from rowkind.formats.cdc.images import Operation
from rowkind.formats.contract import FormatChoice
from rowkind.types import BIGINT, STRING, Field, array, timestamp_ltz

OPERATIONS = {"insert": Operation.INSERT, "update": Operation.UPDATE, "delete": Operation.DELETE}


class MaxwellJsonFormat(CdcJsonFormat):
    """`data`, `old` and `type`, one row a message."""

    name = "maxwell-json"
    keys: Mapping[str, Key] = {
        "database": Key(STRING, Field("database", STRING), as_it_is),
        "table": Key(STRING, Field("table", STRING), as_it_is),
        "primary-key-columns": Key(array(STRING), Field("primary_key_columns", array(STRING)), as_it_is),
        "ingestion-timestamp": Key(timestamp_ltz(3), Field("ts", BIGINT), seconds),
    }

    def envelope(self, columns: Sequence[Field], metadata: Sequence[str], choice: FormatChoice) -> ChangeEnvelope:
        return DataOldEnvelope("Maxwell", OPERATIONS, columns, metadata_fields(self.keys, metadata))

    def frames(self, ignore_nulls: bool) -> tuple[Frame, Frame]:
        return Frame('{"data":', ',"type":"insert"}'), Frame('{"data":', ',"type":"delete"}')
