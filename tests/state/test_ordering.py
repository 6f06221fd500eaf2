"""Sort codes order rows of any type as Flink orders them: NULL smallest, NaN largest."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from rowkind.state.contract import Order
from rowkind.state.ordering import sort_rows

NAN = float("nan")
ASCENDING: dict[pa.DataType, list[Any]] = {
    pa.int8(): [None, -128, 0, 127],
    pa.int64(): [None, -(2**63), -1, 0, 2**63 - 1],
    pa.uint64(): [None, 0, 1, 2**63, 2**64 - 1],
    pa.float64(): [None, -float("inf"), -1.5, -5e-324, 0.0, 5e-324, 2.0, float("inf"), NAN],
    pa.decimal128(10, 2): [None, Decimal("-1.50"), Decimal("0.00"), Decimal("99.99")],
    pa.decimal128(38, 0): [None, Decimal(-(10**37)), Decimal(-1), Decimal(0), Decimal(10**37)],
    pa.string(): [None, "", "A", "a", "ab", "b", "ä"],
    pa.binary(): [None, b"", b"\x00", b"\x7f", b"\xff"],
    pa.bool_(): [None, False, True],
    pa.date32(): [None, -5, 0, 7],
}


@pytest.mark.parametrize("type", list(ASCENDING), ids=str)
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("nulls_first", [None, True, False])
def test_order(type: pa.DataType, descending: bool, nulls_first: bool | None) -> None:
    values = ASCENDING[type]
    ranks = list(range(1, len(values)))
    if descending:
        ranks.reverse()
    first = (not descending) if nulls_first is None else nulls_first
    expected = [0, *ranks] if first else [*ranks, 0]
    mixed = [*range(1, len(values), 2), *range(0, len(values), 2)]
    table = pa.table({"x": pa.array([values[i] for i in mixed], type)})
    order = sort_rows(table, [Order("x", descending, nulls_first)])
    assert [mixed[i] for i in order] == expected


def test_later_columns_break_ties() -> None:
    table = pa.table({"a": ["x", "y", "x", "y"], "b": [1, 2, 3, 4]})
    assert sort_rows(table, [Order("a"), Order("b", descending=True)]).tolist() == [2, 0, 3, 1]
