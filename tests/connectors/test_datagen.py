"""datagen: the suite of sources, and what its options make."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from rowkind.catalog.tables import resolve
from rowkind.connectors.datagen.connector import DataGenTable
from rowkind.connectors.datagen.generators import Rows
from rowkind.connectors.datagen.source import made
from rowkind.connectors.settings import Side
from rowkind.errors import RowkindError
from rowkind.options.session_values import SessionOptions
from tests.connectors.suite import PACE, SourceSuite, condition, defined, resolved

CLOCK = 1_700_000_000_000_000


def ddl(columns: str, **options: str) -> str:
    given = "".join(f", '{key.replace('__', '.').replace('_', '-')}' = '{value}'" for key, value in options.items())
    return f"CREATE TABLE t ({columns}) WITH ('connector' = 'datagen'{given})"


def column(type: str, rows: int = 1_000, seed: int = 7, /, **options: str) -> pa.Array:
    """A column `c` of a type, with its options named without `fields.c.`."""
    table = resolved(ddl(f"c {type}", **{f"fields__c__{key}": value for key, value in options.items()}), Side.SOURCE)
    assert isinstance(table, DataGenTable)
    return made(table, Rows(np.arange(rows), seed, CLOCK, CLOCK)).column(0)


class TestDataGen(SourceSuite):
    @pytest.fixture
    def ddl(self) -> str:
        return ddl("id BIGINT, s STRING, f DOUBLE, a ARRAY<INT>", number_of_rows="23", fields__f__null_rate="0.5")


class TestSequences(SourceSuite):
    @pytest.fixture
    def ddl(self) -> str:
        return ddl("id INT, s STRING", fields__id__kind="sequence", fields__id__start="5", fields__id__end="20")

    def test_the_sequence_is_the_whole_table(self, table: DataGenTable, source: Any) -> None:
        share = source.share(source.offer(source.start()), PACE, True)
        reader = table.reader()
        from rowkind.connectors.contract import ReadContext

        found = [rows.column("id") for task in share.tasks for _, rows in reader.read(task, ReadContext())]
        assert pa.chunked_array(found).to_pylist() == list(range(5, 21))


@pytest.mark.parametrize("kind", ["TINYINT", "SMALLINT", "INT", "BIGINT", "DECIMAL(9, 2)", "FLOAT", "DOUBLE"])
def test_numbers_keep_to_their_limits_and_reach_them(kind: str) -> None:
    found = column(kind, min="-3", max="4").cast(pa.float64())
    low, high = pc.min(found).as_py(), pc.max(found).as_py()
    assert -3 <= low < -2
    assert 3 < high <= 4
    assert len(set(found.to_pylist())) >= 8


def test_whole_numbers_use_all_of_their_type() -> None:
    found = column("BIGINT", 10_000).to_pylist()
    assert min(found) < -(1 << 62)
    assert max(found) > 1 << 62
    assert set(column("TINYINT", 10_000).to_pylist()) == set(range(-128, 128))


def test_every_value_is_as_likely() -> None:
    counts = Counter(column("INT", 100_000, min="1", max="10").to_pylist())
    assert set(counts) == set(range(1, 11))
    assert all(9_500 < count < 10_500 for count in counts.values())


def test_columns_and_seeds_differ() -> None:
    table = resolved(ddl("a INT, b INT"), Side.SOURCE)
    assert isinstance(table, DataGenTable)
    rows = made(table, Rows(np.arange(100), 7, CLOCK, CLOCK))
    assert rows.column("a") != rows.column("b")
    assert column("INT") != column("INT", 1_000, 8)


def test_texts_have_their_length() -> None:
    assert set(pc.utf8_length(column("STRING")).to_pylist()) == {100}
    assert set(pc.utf8_length(column("VARCHAR(9)")).to_pylist()) == {9}
    assert set(pc.utf8_length(column("CHAR(3)")).to_pylist()) == {3}
    assert set(pc.utf8_length(column("STRING", length="5")).to_pylist()) == {5}
    assert set(pc.utf8_length(column("STRING", length="5", var_len="true")).to_pylist()) == {1, 2, 3, 4, 5}
    assert set(pc.binary_length(column("BYTES", length="6")).to_pylist()) == {6}
    assert set("".join(column("STRING").to_pylist())) == set("0123456789abcdef")


def test_a_share_is_null() -> None:
    assert 400 < column("INT", null_rate="0.5").null_count < 600
    assert column("INT", null_rate="0").null_count == 0
    assert column("STRING", null_rate="1").null_count == 1_000


def test_timestamps_are_now_or_in_the_past() -> None:
    assert set(column("TIMESTAMP(3)").cast(pa.int64()).to_pylist()) == {CLOCK}
    past = column("TIMESTAMP_LTZ(3)", max_past="1 h").cast(pa.int64()).to_pylist()
    assert CLOCK - 3_600_000_000 < min(past) < CLOCK - 3_000_000_000
    assert CLOCK - 600_000_000 < max(past) <= CLOCK


def test_collections_and_rows() -> None:
    assert set(pc.list_value_length(column("ARRAY<INT>")).to_pylist()) == {3}
    assert set(pc.list_value_length(column("ARRAY<INT>", length="2")).to_pylist()) == {2}
    flat = column("ARRAY<INT>", element__min="1", element__max="2").flatten()
    assert set(flat.to_pylist()) == {1, 2}
    rows = column("ROW<x INT, y ROW<z STRING>>", x__max="2", x__min="1", y__z__length="4").to_pylist()
    assert {row["x"] for row in rows} == {1, 2}
    assert {len(row["y"]["z"]) for row in rows} == {4}
    maps = column("MAP<BOOLEAN, INT>").to_pylist()
    assert all(len(dict(pairs)) == len(pairs) for pairs in maps)


@pytest.mark.parametrize("kind", ["TINYINT", "INT", "BIGINT", "DOUBLE", "DECIMAL(9, 2)", "STRING", "CHAR(3)", "BYTES"])
def test_sequences_count(kind: str) -> None:
    found = column(kind, 3, kind="sequence", start="8", end="12").to_pylist()
    if kind == "BYTES":
        found = [int.from_bytes(value, "big") for value in found]
    assert [int(value) for value in found] == [8, 9, 10]


@pytest.mark.parametrize(
    ("type", "options"),
    [
        ("INT", {"min": "4", "max": "3"}),
        ("TINYINT", {"max": "200"}),
        ("VARCHAR(3)", {"length": "4"}),
        ("INT", {"kind": "sequence", "start": "1"}),
        ("INT", {"kind": "sequence", "start": "2", "end": "1"}),
        ("TINYINT", {"kind": "sequence", "start": "1", "end": "1000"}),
        ("BOOLEAN", {"kind": "sequence", "start": "1", "end": "2"}),
    ],
)
def test_a_column_that_cannot_be_made_is_named(type: str, options: dict[str, str]) -> None:
    with pytest.raises(RowkindError) as refused:
        column(type, **options)
    assert (refused.value.condition, refused.value.params["column"]) == ("DATAGEN_COLUMN", "c")


@pytest.mark.parametrize(
    ("columns", "options", "name"),
    [
        ("c STRING", {"fields__c__min": "1"}, "UNKNOWN_OPTION"),
        ("c INT", {"fields__d__min": "1"}, "UNKNOWN_OPTION"),
        ("c INT", {"fields__c__min": "1.5"}, "INVALID_OPTION_VALUE"),
        ("c INT", {"fields__c__kind": "both"}, "INVALID_OPTION_VALUE"),
        ("c INT", {"fields__c__null_rate": "2"}, "INVALID_OPTION_VALUE"),
        ("c INT", {"rows_per_second": "0"}, "INVALID_OPTION_VALUE"),
        ("c INT METADATA", {}, "UNKNOWN_METADATA"),
    ],
)
def test_options_are_checked(columns: str, options: dict[str, str], name: str) -> None:
    assert condition(ddl(columns, **options), Side.SOURCE) == name


def test_names_of_columns_keep_their_case() -> None:
    table = "CREATE TABLE t (`Ab` INT) WITH ('connector' = 'datagen', 'FIELDS.Ab.MIN' = '1', 'fields.Ab.max' = '1')"
    found, warnings = resolve(defined(table), SessionOptions(), Side.SOURCE)
    assert isinstance(found, DataGenTable)
    assert set(made(found, Rows(np.arange(9), 1, 0, 0)).column(0).to_pylist()) == {1}
    assert len(warnings) == 1


def test_rows_come_at_their_rate() -> None:
    """An unbounded table offers what is due: the rows of the first second at its beginning."""
    source = resolved(ddl("c INT", rows_per_second="7"), Side.SOURCE).source(None)  # type: ignore[arg-type]
    offer = source.offer(source.start())
    assert not offer.bounded
    assert sum(waiting.rows for waiting in offer.splits.values()) == 7
