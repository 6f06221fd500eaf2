"""What every connector must do, whatever it is connected to: subclass the suites that fit, and give them a table."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from rowkind.catalog.tables import resolve
from rowkind.connectors.contract import (
    Offer,
    Pace,
    Position,
    ReadContext,
    Share,
    Source,
    SourceContext,
    Table,
    WriteContext,
)
from rowkind.connectors.registry import connector_named
from rowkind.connectors.settings import Side
from rowkind.definitions import TableDefinition
from rowkind.errors import RowkindError
from rowkind.kinds import KIND_COLUMN
from rowkind.options.session_values import SessionOptions
from rowkind.sql import parse_script
from rowkind.sql.statements import CreateTable

PACE = Pace(rows=1_000, bytes=1 << 30, tasks=3, rows_per_task=2)


def defined(ddl: str) -> TableDefinition:
    (statement,) = parse_script(ddl)
    assert isinstance(statement, CreateTable)
    return statement.definition


def resolved(ddl: str, side: Side) -> Table:
    return resolve(defined(ddl), SessionOptions(), side)[0]


def condition(ddl: str, side: Side) -> str:
    with pytest.raises(RowkindError) as refused:
        resolve(defined(ddl), SessionOptions(), side)
    return refused.value.condition


class TableSuite:
    """Of a table on one side."""

    side: Side

    @pytest.fixture
    def ddl(self) -> str:
        """CREATE TABLE of the table `t`."""
        raise NotImplementedError

    @pytest.fixture
    def table(self, ddl: str) -> Table:
        return resolved(ddl, self.side)

    def test_a_table_goes_to_workers_and_into_sets(self, table: Table, ddl: str) -> None:
        assert pickle.loads(pickle.dumps(table)) == table
        assert len({table, resolved(ddl, self.side)}) == 1

    def test_its_identity_is_json_and_lasts(self, table: Table, ddl: str) -> None:
        assert json.loads(json.dumps(table.identity())) == resolved(ddl, self.side).identity()

    def test_an_option_that_is_unknown_is_refused(self, ddl: str) -> None:
        more = ddl.replace("WITH (", "WITH ('no.such-option' = '1', ")
        assert condition(more, self.side) == "UNKNOWN_OPTION"

    def test_an_option_is_declared_once_and_explained(self, table: Table) -> None:
        options = connector_named(table.connector, "t").options.all
        assert len({option.name for option in options}) == len(options)
        assert all(option.description.endswith((".", ")")) for option in options)

    def test_the_other_side_is_refused_by_name(self, table: Table, ddl: str) -> None:
        other = Side.SINK if self.side is Side.SOURCE else Side.SOURCE
        if other not in connector_named(table.connector, "t").sides:
            assert condition(ddl, other) == ("TABLE_NOT_WRITABLE" if other is Side.SINK else "TABLE_NOT_READABLE")


class SourceSuite(TableSuite):
    """Of a table that has some rows and an end."""

    side = Side.SOURCE

    @pytest.fixture
    def context(self, tmp_path: Any) -> SourceContext:
        return SourceContext(str(tmp_path), lambda call, arguments: [call(argument) for argument in arguments])

    @pytest.fixture
    def source(self, table: Table, context: SourceContext) -> Source:
        return table.source(context)

    def test_positions_and_ranges_are_json(self, source: Source) -> None:
        start = source.start()
        share = source.share(offered(source, start), PACE, True)
        assert share.rows
        for said in (start, share.until, list(share.tasks)):
            assert json.loads(json.dumps(said)) == said

    def test_a_range_gives_the_same_rows_again(self, source: Source, table: Table) -> None:
        share = source.share(offered(source, source.start()), PACE, True)
        first = rows_of(table, share)
        assert first == rows_of(table, share)
        assert len(first) == sum(share.rows.values())

    def test_rows_have_the_columns_of_the_table_and_are_counted(self, source: Source, table: Table) -> None:
        share, context = source.share(offered(source, source.start()), PACE, True), ReadContext()
        reader = table.reader()
        read = [rows for task in share.tasks for _, rows in reader.read(task, context)]
        assert all(rows.schema.equals(table.row_schema) for rows in read)
        assert rows_in(read) == context.counts["rows-read"] == sum(t.records for t in context.traffic.values())
        assert context.counts["bytes-read"] > 0

    def test_pieces_are_the_whole(self, source: Source, table: Table, context: SourceContext) -> None:
        """Nothing twice and nothing lost, however much is taken at once, by several tasks, after several starts."""
        start = source.start()
        whole = rows_of(table, source.share(offered(source, start), PACE, False))
        pieces: list[Any] = []
        at = start
        while len(pieces) < len(whole):
            again = table.source(context)  # as after a restart: all it knows is a position that was JSON
            share = again.share(offered(again, json.loads(json.dumps(at))), Pace(2, 1 << 30, 2, 1), True)
            pieces += rows_of(table, share)
            at = share.until
        assert sorted(map(repr, pieces)) == sorted(map(repr, whole))

    def test_it_ends(self, source: Source) -> None:
        at = source.start()
        offer = source.offer(at)
        while any(waiting.rows for waiting in offer.splits.values()):
            at = source.share(offered(source, at), PACE, True).until
            offer = source.offer(at)
        assert offer.bounded
        assert not source.share(offer, PACE, True).tasks

    def test_a_pace_of_no_rows_reads_nothing(self, source: Source) -> None:
        share = source.share(offered(source, source.start()), Pace(0, 1 << 30, 1, 1), True)
        assert (list(share.tasks), dict(share.rows)) == ([], {})

    def test_the_size_of_a_row_is_known_or_not(self, source: Source) -> None:
        size = source.row_bytes(source.offer(source.start()))
        assert size is None or size > 0


def offered(source: Source, at: Position) -> Offer:
    return source.offer(at)


def rows_of(table: Table, share: Share) -> list[Any]:
    reader, context = table.reader(), ReadContext()
    return [row for task in share.tasks for _, rows in reader.read(task, context) for row in rows.to_pylist()]


def rows_in(batches: Sequence[pa.RecordBatch]) -> int:
    return sum(batch.num_rows for batch in batches)


class SinkSuite(TableSuite):
    """Of a table with the columns `id BIGINT, name STRING`."""

    side = Side.SINK

    @pytest.fixture
    def rows(self, table: Table) -> pa.RecordBatch:
        """New rows, which every table takes."""
        columns = {"id": [1, 2, 3], "name": ["a", None, "c"], KIND_COLUMN: [0, 0, 0]}
        return pa.RecordBatch.from_pydict(columns, table.row_schema)

    def test_it_can_promise_what_it_was_asked_for(self, table: Table) -> None:
        assert table.writing.guarantee in table.sink().guarantees

    def test_it_is_prepared_more_than_once(self, table: Table) -> None:
        table.sink().prepare()
        assert table.sink().prepare() == []

    def test_what_is_written_is_counted(self, table: Table, rows: pa.RecordBatch) -> None:
        table.sink().prepare()
        context = WriteContext("0:t", 0, 1)
        writer = table.writer(context)
        assert writer is not None
        writer.write(rows)
        writer.flush(wait=True)
        writer.close(failed=False)
        assert context.counts["rows-written"] == 3
        assert sum(traffic.records for traffic in context.traffic.values()) == 3

    def test_a_task_may_fail_at_any_time(self, table: Table, rows: pa.RecordBatch) -> None:
        table.sink().prepare()
        for written in (False, True):
            writer = table.writer(WriteContext("0:t", 0, 1))
            assert writer is not None
            if written:
                writer.write(rows)
            writer.close(failed=True)
