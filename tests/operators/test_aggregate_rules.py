"""Rules of aggregates one by one: empty input, suppression, vanishing groups, overflow, TTL, types."""

from __future__ import annotations

import pickle
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from rowkind.errors import RowkindError
from rowkind.kinds import KIND_COLUMN, RowKind
from rowkind.operators.aggregate.aggregate_call import AggregateCall
from rowkind.operators.aggregate.distinct import two_stages
from rowkind.operators.aggregate.group_aggregate import Aggregate
from rowkind.operators.changes import STALE, SUPPRESSED
from tests.operators.harness import Change, Engine, delta_of

KIND = pa.field(KIND_COLUMN, pa.int8(), nullable=False)
INPUT = pa.schema([("g", pa.string()), ("x", pa.int64()), KIND])
COUNT = AggregateCall("COUNT", None, pa.int64(), "n")
SUM = AggregateCall("SUM", "x", pa.int64(), "total")
MAX = AggregateCall("MAX", "x", pa.int64(), "top")


def add(g: str | None, x: Any = None) -> Change:
    return RowKind.INSERT, {"g": g, "x": x}


def take(g: str | None, x: Any = None) -> Change:
    return RowKind.DELETE, {"g": g, "x": x}


def run(engine: Engine, *changes: Change, clock_ms: int = 0) -> list[tuple[Any, ...]]:
    rows = engine.batch(delta_of(changes, engine.operators[0].input_schemas[0]), clock_ms=clock_ms).to_pylist()
    return [(RowKind(row.pop(KIND_COLUMN)).symbol, *row.values()) for row in rows]


def test_global_aggregate_has_a_row_for_empty_input(tmp_path: Path) -> None:
    engine = Engine([Aggregate(INPUT, (), (COUNT, SUM))], tmp_path)
    assert run(engine) == [("+I", 0, None)]
    assert run(engine) == []
    assert run(engine, add("a", 5)) == [("-U", 0, None), ("+U", 1, 5)]
    assert run(engine, take("a", 5)) == [("-U", 1, 5), ("+U", 0, None)]


def test_group_vanishes_with_its_last_row(tmp_path: Path) -> None:
    engine = Engine([Aggregate(INPUT, ("g",), (COUNT, SUM, MAX))], tmp_path)
    assert len(run(engine, add("a", 1), add(None, 2))) == 2
    assert run(engine, take("a", 1)) == [("-D", "a", 1, 1, 1)]
    assert run(engine, add("a", 7)) == [("+I", "a", 1, 7, 7)]
    assert run(engine, take("a", 7), add("a", 7)) == []


def test_unchanged_results_are_suppressed_and_counted(tmp_path: Path) -> None:
    engine = Engine([Aggregate(INPUT, ("g",), (MAX,))], tmp_path)
    assert run(engine, add("a", 9)) == [("+I", "a", 9)]
    assert run(engine, add("a", 3)) == []
    assert engine.counters[SUPPRESSED] == 1
    assert run(engine, take("a", 9)) == [("-U", "a", 9), ("+U", "a", 3)]


def test_select_distinct(tmp_path: Path) -> None:
    for append_only in (True, False):
        engine = Engine([Aggregate(INPUT, ("g", "x"), (), append_only)], tmp_path / str(append_only), partitions=1)
        assert set(run(engine, add("a", 1), add("a", 1), add(None))) == {("+I", None, None), ("+I", "a", 1)}
        assert run(engine, add("a", 1)) == []
    assert run(engine, take("a", 1), take("a", 1)) == []
    assert run(engine, take("a", 1)) == [("-D", "a", 1)]


def test_retractions_of_unknown_rows_are_counted(tmp_path: Path) -> None:
    engine = Engine([Aggregate(INPUT, ("g",), (COUNT, MAX))], tmp_path)
    assert run(engine, take("a", 1)) == []
    assert engine.counters[STALE] == 2
    assert run(engine, add("a", 1)) == [("+I", "a", 1, 1)]


@pytest.mark.parametrize(
    ("argument", "result", "values"),
    [
        (pa.int32(), pa.int32(), [2**31 - 1, 1]),
        (pa.int64(), pa.int64(), [2**63 - 1, 1]),
        (pa.int64(), pa.int64(), [-(2**63), -1]),
        (pa.int8(), pa.int8(), [100, 100]),
        (pa.decimal128(38, 0), pa.decimal128(38, 0), [Decimal(10**38 - 1), Decimal(1)]),
        (pa.decimal128(38, 2), pa.decimal128(38, 2), [Decimal(6 * 10**35)] * 2),
    ],
    ids=str,
)
def test_overflow_is_an_error(tmp_path: Path, argument: Any, result: Any, values: list[Any]) -> None:
    schema = pa.schema([("g", pa.string()), ("x", argument), KIND])
    call = AggregateCall("SUM", "x", result, "total")
    engine = Engine([Aggregate(schema, ("g",), (call,))], tmp_path)
    # what overflows and comes back within a batch is no overflow
    run(engine, add("a", values[0]), add("a", values[1]), take("a", values[1]))
    with pytest.raises(RowkindError) as error:
        run(engine, *(add("a", value) for value in values[1:]))
    assert error.value.condition == "SUM_OVERFLOW"


def test_sums_are_exact(tmp_path: Path) -> None:
    average = AggregateCall("AVG", "x", pa.int64(), "average")
    engine = Engine([Aggregate(INPUT, ("g",), (SUM, average))], tmp_path)
    big = 2**63 - 1
    run(engine, add("a", big), add("a", -big), add("a", -7))
    assert run(engine, add("a", 5), add("a", -1)) == [("-U", "a", -7, -2), ("+U", "a", -3, 0)]
    averages = Engine([Aggregate(INPUT, ("g",), (average,))], tmp_path / "average")
    assert run(averages, add("a", big), add("a", big), add("a", big - 1)) == [("+I", "a", big - 1)]


def test_decimal_average_rounds_half_up(tmp_path: Path) -> None:
    schema = pa.schema([("g", pa.string()), ("x", pa.decimal128(38, 6)), KIND])
    call = AggregateCall("AVG", "x", pa.decimal128(38, 6), "average")
    engine = Engine([Aggregate(schema, ("g",), (call,))], tmp_path)
    assert run(engine, add("a", Decimal("0.000001")), add("a", Decimal("0"))) == [("+I", "a", Decimal("0.000001"))]
    assert run(engine, take("a", Decimal("0.000001")), add("a", Decimal("-0.000001")))[-1][2] == Decimal("-0.000001")
    assert run(engine, take("a", Decimal("0")), add("a", Decimal(10**31)))[-1][2] == Decimal("5" + "0" * 30)


def test_deviation_of_integers_is_an_integer(tmp_path: Path) -> None:
    """As Flink computes it: (9 - 25 / 3) / 2 with integer division is 0, (41 - 81 / 2) / 1 is 1."""
    calls = [AggregateCall(f, "x", pa.int64(), f) for f in ("VAR_SAMP", "VAR_POP", "STDDEV_SAMP", "STDDEV_POP")]
    engine = Engine([Aggregate(INPUT, ("g",), tuple(calls))], tmp_path)
    assert run(engine, add("a", 1), add("a", 2), add("a", 2)) == [("+I", "a", 0, 0, 0, 0)]
    assert run(engine, add("b", 4), add("b", 5)) == [("+I", "b", 1, 0, 1, 0)]
    assert run(engine, add("c", -100), add("c", 100)) == [("+I", "c", 20000, 10000, 141, 100)]
    assert run(engine, add("d", 7)) == [("+I", "d", None, 0, None, 0)]


def test_float_sum_forgets_special_values_that_were_taken_back(tmp_path: Path) -> None:
    schema = pa.schema([("g", pa.string()), ("x", pa.float64()), KIND])
    call = AggregateCall("SUM", "x", pa.float64(), "total")
    engine = Engine([Aggregate(schema, ("g",), (call,))], tmp_path)
    nan, inf = float("nan"), float("inf")
    assert str(run(engine, add("a", nan), add("a", inf), add("a", 1.5))) == "[('+I', 'a', nan)]"
    assert run(engine, take("a", nan))[-1] == ("+U", "a", inf)
    assert run(engine, take("a", inf))[-1] == ("+U", "a", 1.5)


def test_expired_groups_start_again(tmp_path: Path) -> None:
    distinct = AggregateCall("COUNT", "x", pa.int64(), "u", distinct=True)
    for append_only in (True, False):
        root = tmp_path / str(append_only)
        engine = Engine([Aggregate(INPUT, ("g",), (COUNT, distinct), append_only, ttl_ms=100)], root)
        assert run(engine, add("a", 1), clock_ms=0) == [("+I", "a", 1, 1)]
        assert run(engine, add("a", 1), clock_ms=60) == [("-U", "a", 1, 1), ("+U", "a", 2, 1)]
        assert run(engine, add("a", 1), clock_ms=159) == [("-U", "a", 2, 1), ("+U", "a", 3, 1)]
        assert run(engine, add("a", 1), clock_ms=259) == [("+I", "a", 1, 1)]


def test_unchanged_results_keep_downstream_alive_under_a_ttl(tmp_path: Path) -> None:
    engine = Engine([Aggregate(INPUT, ("g",), (MAX,), ttl_ms=100)], tmp_path)
    run(engine, add("a", 9))
    assert run(engine, add("a", 3)) == [("-U", "a", 9), ("+U", "a", 9)]


def test_distinct_in_two_stages_spreads_a_hot_group(tmp_path: Path) -> None:
    distinct = AggregateCall("COUNT", "x", pa.int64(), "u", distinct=True)
    stages = two_stages(Aggregate(INPUT, ("g",), (COUNT, distinct)))
    engine = Engine(stages, tmp_path, partitions=4)
    assert run(engine, *(add("hot", x % 50) for x in range(200))) == [("+I", "hot", 200, 50)]
    assert run(engine, *(take("hot", x) for x in range(50))) == [("-U", "hot", 200, 50), ("+U", "hot", 150, 50)]
    assert run(engine, *(take("hot", 7) for _ in range(3))) == [("-U", "hot", 150, 50), ("+U", "hot", 147, 49)]
    used = [p for p in range(4) if [*(tmp_path / "op0" / str(p)).glob("counts1.0-0.*.arrow")]]
    assert len(used) > 1


def test_unsupported_argument_is_refused() -> None:
    call = AggregateCall("SUM", "g", pa.string(), "total")
    with pytest.raises(RowkindError) as error:
        _ = Aggregate(INPUT, ("g",), (call,)).exchange_schema
    assert error.value.condition == "AGGREGATE_NOT_SUPPORTED"


def test_definitions_can_be_sent_to_workers() -> None:
    aggregate = Aggregate(INPUT, ("g",), (COUNT, SUM, MAX))
    assert aggregate.output_schema.names == ["g", "n", "total", "top", KIND_COLUMN]
    assert pickle.loads(pickle.dumps(aggregate)) == aggregate
