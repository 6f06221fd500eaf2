"""The JSON formats of change data capture pass what every format must pass."""

from __future__ import annotations

from typing import ClassVar

from tests.formats.suite import FormatSuite


class TestDebeziumJson(FormatSuite):
    name = "debezium-json"


class TestDebeziumJsonWithoutNulls(FormatSuite):
    name = "debezium-json"
    options: ClassVar = {"encode.ignore-null-fields": True, "ignore-parse-errors": True}


class TestCanalJson(FormatSuite):
    name = "canal-json"


class TestMaxwellJson(FormatSuite):
    name = "maxwell-json"


class TestOggJson(FormatSuite):
    name = "ogg-json"
