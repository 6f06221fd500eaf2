"""Aggregates over every type that a column can have, with the Arrow types that the catalog gives them."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from rowkind import types as t
from rowkind.aggregate_functions import AGGREGATE_FUNCTIONS, AggregateFunction
from rowkind.kinds import KIND_COLUMN, RowKind
from rowkind.operators.aggregate.aggregate_call import AggregateCall
from rowkind.operators.aggregate.group_aggregate import Aggregate
from rowkind.types import DataType, Root, arrow_type
from tests.operators.harness import Change, Engine, Table, canonical, delta_of

SAMPLES: dict[DataType, list[Any]] = {
    t.BOOLEAN: [False, True],
    t.TINYINT: [-128, 0, 127],
    t.BIGINT: [-(2**63), 0, 2**63 - 1],
    t.FLOAT: [-0.5, 0.0, 2.5],
    t.decimal(38, 10): [Decimal("-" + "9" * 28), Decimal("0.0000000001"), Decimal("1e20")],
    t.STRING: ["", "a", "ä", "zz"],
    t.BYTES: [b"", b"\x00", b"\xff\x00"],
    t.DATE: [date(1, 1, 1), date(1970, 1, 1), date(9999, 12, 31)],
    t.time(): [time(0), time(12, 30), time(23, 59, 59)],
    t.timestamp(3): [datetime(1, 1, 1), datetime(2024, 2, 29, 12)],
    t.timestamp_ltz(3): [datetime(1970, 1, 1, tzinfo=UTC), datetime(2024, 2, 29, 12, tzinfo=UTC)],
}
NESTED: dict[DataType, list[Any]] = {
    t.array(t.INT): [[], [1], [1, None]],
    t.row(("a", t.INT), ("b", t.STRING)): [{"a": 1, "b": "x"}, {"a": None, "b": "x"}],
    t.map_of(t.STRING, t.INT): [[], [("k", 1)]],
}


def hashable(value: Any) -> Any:
    return repr(value)


@pytest.mark.parametrize("type", [*SAMPLES, *NESTED], ids=str)
def test_values_of_every_type(tmp_path: Path, type: DataType) -> None:
    rng = random.Random(str(type))
    nested = type in NESTED
    samples = [None, *(NESTED if nested else SAMPLES)[type]]
    arrow = arrow_type(type)
    input = pa.schema([("g", arrow), ("x", arrow), pa.field(KIND_COLUMN, pa.int8(), nullable=False)])
    calls = [
        AggregateCall("COUNT", "x", pa.int64(), "count", distinct=True),
        AggregateCall("ARRAY_AGG", "x", arrow_type(t.array(type)), "values"),
        AggregateCall("LAST_VALUE", "x", arrow, "last"),
    ]
    if not nested:
        multiset = DataType(Root.MULTISET, element=type.not_null())
        calls += [
            AggregateCall("MIN", "x", arrow, "least"),
            AggregateCall("MAX", "x", arrow, "most"),
            AggregateCall("COLLECT", "x", arrow_type(multiset), "bag"),
        ]
    engine = Engine([Aggregate(input, ("g",), tuple(calls))], tmp_path, 2, rng)
    rows: list[dict[str, Any]] = []
    out = Table(("g",)) if not nested else None
    for _ in range(4):
        changes: list[Change] = []
        for _ in range(12):
            if rows and rng.random() < 0.4:
                changes.append((RowKind.DELETE, rows.pop(0)))
            else:
                rows.append({"g": rng.choice(samples), "x": rng.choice(samples)})
                changes.append((RowKind.INSERT, rows[-1]))
        result = engine.batch(delta_of(changes, input))
        if out is not None:
            out.apply(result)
    if out is None:
        return
    for (g,), got in out.rows.items():
        values = [row["x"] for row in rows if canonical(row["g"]) == g]
        there = [v for v in values if v is not None]
        assert got["count"] == len({hashable(v) for v in there})
        assert got["values"] == tuple(canonical(v) for v in values)
        assert got["last"] == (canonical(there[-1]) if there else None)
        assert got["least"] == (canonical(min(there)) if there else None)
        assert got["most"] == (canonical(max(there)) if there else None)
        assert sum(n for _, n in got["bag"]) == len(there)
    assert out.rows.keys() == {(canonical(row["g"]),) for row in rows}


@pytest.mark.parametrize("append_only", [True, False], ids=["append-only", "updated"])
@pytest.mark.parametrize("function", AGGREGATE_FUNCTIONS.values(), ids=lambda function: function.name)
def test_a_declared_function_runs(tmp_path: Path, function: AggregateFunction, append_only: bool) -> None:
    """Over all that it takes, with DISTINCT and without; what was taken back has left no trace."""
    for number, type in enumerate(type for type in SAMPLES if type.root in function.takes.roots):
        arrow = arrow_type(type)
        input = pa.schema([("g", pa.int64()), ("x", arrow), pa.field(KIND_COLUMN, pa.int8(), nullable=False)])
        result = arrow_type(function.result(type.not_null()))
        calls = [AggregateCall(function.name, "x", result, f"{d}", distinct=d) for d in (False, True)]
        engine = Engine([Aggregate(input, ("g",), tuple(calls), append_only)], tmp_path / str(number))
        least, value, *_ = SAMPLES[type]
        # the variance of the least and a large one does not fit their type
        one, other = {"g": 1, "x": least}, {"g": 1, "x": least if function.name.startswith("VAR") else value}
        out = Table(("g",))
        out.apply(engine.batch(delta_of([(RowKind.INSERT, one)], input)))
        alone = dict(out.rows)
        assert None not in alone[(1,)].values() or function.name.endswith("_SAMP")
        if not append_only:
            for kind in (RowKind.INSERT, RowKind.DELETE):
                out.apply(engine.batch(delta_of([(kind, other)], input)))
            assert out.rows == alone
