"""The json format passes what every format must pass."""

from __future__ import annotations

from typing import ClassVar

from rowkind.formats.temporal import TimestampStandard
from tests.formats.suite import FormatSuite


class TestJson(FormatSuite):
    name = "json"


class TestJsonIsoTimestamps(FormatSuite):
    name = "json"
    options: ClassVar = {
        "timestamp-format.standard": TimestampStandard.ISO_8601,
        "encode.decimal-as-plain-number": True,
    }


class TestJsonTreeParserWithoutNulls(FormatSuite):
    name = "json"
    options: ClassVar = {"decode.json-parser.enabled": False, "encode.ignore-null-fields": True}
