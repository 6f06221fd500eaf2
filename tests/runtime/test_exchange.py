from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest

from rowkind.runtime.worker.exchange import PARCELS, TO, packed, unpacked

PARTITIONS = 4
CALL = pa.RecordBatch.from_pylist([{"to": 2, "rows": None}], PARCELS)


def rows(count: int = 1_000) -> pa.Table:
    numbers = range(count)
    return pa.table(
        {
            "key": pa.array([None if n % 9 == 0 else f"k{n % 40}" for n in numbers], pa.string()),
            "number": pa.array(numbers, pa.int64()),
            "nothing": pa.nulls(count),
            "list": pa.array([[n] * (n % 3) for n in numbers], pa.list_(pa.int32())),
            "map": pa.array([[("a", n)] for n in numbers], pa.map_(pa.string(), pa.int64())),
            "flag": pa.array([n % 5 == 0 for n in numbers], pa.bool_()),
        }
    )


def delivered(table: pa.Table, key: Sequence[str], partitions: int) -> dict[int, pa.Table]:
    parcels = list(packed(table, key, partitions))
    found = {}
    for number in range(partitions):
        mine = [p for p in parcels if p.column(TO)[0].as_py() == number]
        if mine:
            found[number] = unpacked(iter(mine), table.schema)[1]
    return found


@pytest.mark.parametrize("table", [rows(), rows().slice(3, 500), pa.concat_tables([rows(), rows(77)])])
def test_every_row_arrives_once_and_all_rows_of_a_key_together(table: pa.Table) -> None:
    found = delivered(table, ["key"], PARTITIONS)
    arrived = pa.concat_tables(found.values())
    arrived.validate(full=True)
    assert arrived.sort_by("number").to_pylist() == table.sort_by("number").to_pylist()
    keys = [set(part.column("key").to_pylist()) for part in found.values()]
    assert sum(map(len, keys)) == len(set().union(*keys))
    assert len(found) == PARTITIONS


def test_rows_of_a_key_keep_their_order() -> None:
    for part in delivered(rows(), ["key"], PARTITIONS).values():
        numbers = part.column("number").to_numpy()
        assert (np.diff(numbers) > 0).all()


def test_without_a_key_all_rows_are_in_one_partition() -> None:
    assert delivered(rows(), [], 1)[0].equals(rows())


def test_no_rows_are_no_parcel() -> None:
    assert list(packed(rows(0), ["key"], PARTITIONS)) == []


def test_a_partition_that_is_merely_called_has_no_rows() -> None:
    number, table = unpacked(iter([CALL]), rows().schema)
    assert (number, table.num_rows, table.schema) == (2, 0, rows().schema)
