"""print and blackhole: the suite of sinks, and how rows are shown."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from rowkind.connectors.contract import Table, WriteContext
from rowkind.connectors.print import PrintTable, shower
from rowkind.connectors.settings import Side
from rowkind.kinds import KIND_COLUMN
from rowkind.sql import parse_type
from tests.connectors.suite import SinkSuite, resolved


def ddl(connector: str, **options: str) -> str:
    given = "".join(f", '{key.replace('_', '-')}' = '{value}'" for key, value in options.items())
    return f"CREATE TABLE t (id BIGINT, name STRING) WITH ('connector' = '{connector}'{given})"


class TestPrint(SinkSuite):
    @pytest.fixture
    def ddl(self) -> str:
        return ddl("print", print_identifier="seen")

    def test_a_task_that_fails_has_shown_nothing(
        self, table: Table, rows: pa.RecordBatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.test_a_task_may_fail_at_any_time(table, rows)
        assert capsys.readouterr().out == ""


class TestBlackhole(SinkSuite):
    @pytest.fixture
    def ddl(self) -> str:
        return ddl("blackhole")


def shown(table: Table, rows: pa.RecordBatch, task: int, tasks: int) -> None:
    table.sink().prepare()
    writer = table.writer(WriteContext("0:t", task, tasks))
    assert writer is not None
    writer.write(rows)
    writer.flush(wait=True)
    writer.close(failed=False)


def changes(table: Table) -> pa.RecordBatch:
    columns = {"id": [1, 1, 1, None], "name": ["a", "a", "b", None], KIND_COLUMN: [0, 1, 2, 3]}
    return pa.RecordBatch.from_pydict(columns, table.row_schema)


@pytest.mark.parametrize(
    ("options", "tasks", "prefix"),
    [
        ({}, 1, ""),
        ({}, 2, "2> "),
        ({"print_identifier": "seen"}, 1, "seen> "),
        ({"print_identifier": "seen"}, 2, "seen:2> "),
    ],
)
def test_lines_are_those_of_flink(
    options: dict[str, str], tasks: int, prefix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    table = resolved(ddl("print", **options), Side.SINK)
    shown(table, changes(table), tasks - 1, tasks)
    lines = ["+I[1, a]", "-U[1, a]", "+U[1, b]", "-D[null, null]"]
    assert capsys.readouterr().out.splitlines() == [prefix + line for line in lines]


def test_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    table = resolved(ddl("print", standard_error="true"), Side.SINK)
    shown(table, changes(table), 0, 1)
    captured = capsys.readouterr()
    assert (captured.out, len(captured.err.splitlines())) == ("", 4)


def test_where_nobody_listens_the_worker_prints_itself(capsys: pytest.CaptureFixture[str]) -> None:
    table = resolved(ddl("print"), Side.SINK)
    assert isinstance(table, PrintTable)
    away = PrintTable(**{**{name: getattr(table, name) for name in table.__dataclass_fields__}, "terminal": "/nowhere"})
    writer = away.writer(WriteContext("0:t", 0, 1))
    writer.write(changes(away))
    writer.flush(wait=True)
    assert len(capsys.readouterr().out.splitlines()) == 4


@pytest.mark.parametrize(
    ("type", "value", "text"),
    [
        ("INT", None, "null"),
        ("BOOLEAN", True, "true"),
        ("DOUBLE", 1e10, "1.0E10"),
        ("FLOAT", 0.5, "0.5"),
        ("DECIMAL(9, 2)", Decimal("1.50"), "1.50"),
        ("DATE", date(2024, 1, 2), "2024-01-02"),
        ("TIME", time(10, 15), "10:15"),
        ("TIMESTAMP(3)", datetime(2024, 1, 2, 3, 4), "2024-01-02T03:04"),
        ("TIMESTAMP(3)", datetime(2024, 1, 2, 3, 4, 5, 120_000), "2024-01-02T03:04:05.120"),
        ("TIMESTAMP_LTZ(3)", datetime(2024, 1, 2, 3, 4, tzinfo=UTC), "2024-01-02T03:04:00Z"),
        ("BYTES", b"\x01\xff", "[1, -1]"),
        ("ARRAY<INT>", [1, None], "[1, null]"),
        ("MAP<STRING, INT>", [("a", 1), ("b", None)], "{a=1, b=null}"),
        ("ROW<x INT, y ROW<z STRING>>", {"x": 1, "y": {"z": "q"}}, "+I[1, +I[q]]"),
        ("INTERVAL DAY TO SECOND", timedelta(hours=25, seconds=1), "PT25H1S"),
        ("INTERVAL YEAR TO MONTH", 14, "P1Y2M"),
        ("STRING", "a\x1b[2J\nb", "a\\x1b[2J\\nb"),
    ],
)
def test_values_are_shown_as_java_does(type: str, value: Any, text: str) -> None:
    assert shower(parse_type(type))(value) == text
