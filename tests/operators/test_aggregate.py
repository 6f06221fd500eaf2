"""Aggregates against a recomputation from the current input, after every batch of a random changelog."""

from __future__ import annotations

import math
import random
from collections import Counter
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from rowkind.aggregate_functions import Keeps
from rowkind.kinds import KIND_COLUMN, RowKind
from rowkind.operators.aggregate.aggregate_call import AggregateCall
from rowkind.operators.aggregate.distinct import two_stages
from rowkind.operators.aggregate.group_aggregate import Aggregate
from rowkind.operators.changes import STALE
from tests.operators.harness import Change, Engine, Row, Table, canonical, delta_of
from tests.seeds import seeds

INPUT = pa.schema(
    [
        ("g", pa.string()),
        ("h", pa.int32()),
        ("i", pa.int32()),
        ("b", pa.int64()),
        ("d", pa.decimal128(12, 2)),
        ("f", pa.float64()),
        ("s", pa.string()),
        ("ok", pa.bool_()),
        pa.field(KIND_COLUMN, pa.int8(), nullable=False),
    ]
)
CALLS = (
    AggregateCall("COUNT", None, pa.int64(), "count_all"),
    AggregateCall("COUNT", "i", pa.int64(), "count_i"),
    AggregateCall("COUNT", "s", pa.int64(), "count_distinct_s", distinct=True),
    AggregateCall("COUNT", "s", pa.int64(), "count_distinct_s_ok", distinct=True, filter="ok"),
    AggregateCall("SUM", "i", pa.int32(), "sum_i"),
    AggregateCall("SUM", "i", pa.int32(), "sum_distinct_i", distinct=True),
    AggregateCall("SUM", "b", pa.int64(), "sum_b_ok", filter="ok"),
    AggregateCall("SUM", "d", pa.decimal128(38, 2), "sum_d"),
    AggregateCall("SUM", "f", pa.float64(), "sum_f"),
    AggregateCall("AVG", "i", pa.int32(), "avg_i"),
    AggregateCall("AVG", "d", pa.decimal128(38, 6), "avg_d"),
    AggregateCall("AVG", "f", pa.float64(), "avg_f"),
    AggregateCall("AVG", "d", pa.decimal128(38, 6), "avg_distinct_d", distinct=True),
    AggregateCall("MIN", "f", pa.float64(), "min_f"),
    AggregateCall("MAX", "f", pa.float64(), "max_f"),
    AggregateCall("MIN", "s", pa.string(), "min_s"),
    AggregateCall("MAX", "d", pa.decimal128(12, 2), "max_d_ok", filter="ok"),
    AggregateCall("MAX", "i", pa.int32(), "max_distinct_i", distinct=True),
    AggregateCall("STDDEV_POP", "d", pa.float64(), "stddev_pop_d"),
    AggregateCall("STDDEV_SAMP", "b", pa.float64(), "stddev_samp_b"),
    AggregateCall("VAR_POP", "h", pa.float64(), "var_pop_distinct_h", distinct=True),
    AggregateCall("VAR_SAMP", "i", pa.float64(), "var_samp_i"),
    AggregateCall("FIRST_VALUE", "s", pa.string(), "first_s"),
    AggregateCall("LAST_VALUE", "i", pa.int32(), "last_i"),
    AggregateCall("LISTAGG", "s", pa.string(), "listagg_s", separator="|"),
    AggregateCall("LISTAGG", "s", pa.string(), "listagg_distinct_s", distinct=True),
    AggregateCall("ARRAY_AGG", "i", pa.list_(pa.int32()), "array_i"),
    AggregateCall("COLLECT", "s", pa.map_(pa.string(), pa.int32()), "collect_s"),
)


def random_row(rng: random.Random) -> Row:
    return {
        "g": rng.choice([None, "", "a", "b", "c" * 300]),
        "h": rng.choice([None, 1, 2]),
        "i": rng.choice([None, -3, 0, 1, 7, 2**31 - 1 if rng.random() < 0.02 else 5]),
        "b": rng.choice([None, -(2**63), 2**62, 10, 11, -12]) if rng.random() < 0.1 else rng.randrange(-50, 50),
        "d": rng.choice([None, Decimal("0.01"), Decimal("-7.50"), Decimal("1234567.89"), Decimal("3.33")]),
        "f": rng.choice([None, -0.0, 0.0, 1.5, -2.25, 1e6, float("nan"), float("inf"), -float("inf")]),
        "s": rng.choice([None, "", "x", "y", "zebra", "äö"]),
        "ok": rng.choice([None, True, True, False]),
    }


class Source:
    """A table that changes at random; its rows in order of arrival."""

    def __init__(self, rng: random.Random, append_only: bool) -> None:
        self.rng = rng
        self.append_only = append_only
        self.rows: list[Row] = []
        self.log: list[Change] = []

    def changes(self, count: int) -> list[Change]:
        changes = [change for _ in range(count) for change in self._change()]
        self.log += changes
        return changes

    def _change(self) -> list[Change]:
        draw = self.rng.random()
        if self.append_only or not self.rows or draw < 0.45:
            row = random_row(self.rng)
            self.rows.append(row)
            return [(RowKind.INSERT, row)]
        old = self._remove(self.rng.randrange(len(self.rows)))
        if draw < 0.75:
            return [(RowKind.DELETE, old)]
        new = random_row(self.rng)
        if self.rng.random() < 0.5:
            new = {**old, self.rng.choice(list(old)): None}
        self.rows.append(new)
        return [(RowKind.UPDATE_BEFORE, old), (RowKind.UPDATE_AFTER, new)]

    def _remove(self, at: int) -> Row:
        return self.rows.pop(at)


def oracle(log: list[Change], group: tuple[str, ...], calls: tuple[AggregateCall, ...]) -> dict[tuple[Any, ...], Row]:
    groups: dict[tuple[Any, ...], list[Change]] = {} if group else {(): []}
    for kind, row in log:
        groups.setdefault(tuple(canonical(row[name]) for name in group), []).append((kind, row))
    return {
        key: {
            **dict(zip(group, key, strict=True)),
            **{call.name: canonical(recomputed(call, changes)) for call in calls},
        }
        for key, changes in groups.items()
        if not group or sum(1 if kind.adds else -1 for kind, _ in changes) != 0
    }


def current_values(call: AggregateCall, changes: list[Change]) -> list[Any]:
    """In order of arrival; what is taken back is the oldest equal value."""
    values: list[Any] = []
    for kind, row in changes:
        if call.filter is None or row[call.filter]:
            value = row[call.argument] if call.argument else 1
            if kind.adds:
                values.append(value)
            else:
                del values[[canonical(v) for v in values].index(canonical(value))]
    return values


def recomputed(call: AggregateCall, changes: list[Change]) -> Any:
    everything = current_values(call, changes)
    values = [v for v in everything if v is not None]
    if call.distinct:
        values = list({canonical(v): v for v in reversed(values)}.values())[::-1]
    if call.distinct and call.function == "LISTAGG":
        values = list(dict.fromkeys(v for v in everything if v is not None))
    if call.function == "COUNT":
        return len(values)
    if call.function == "ARRAY_AGG":
        return everything or None
    if call.function == "COLLECT":
        return list(Counter(values).items())
    if not values:
        return None
    return _SCALAR[call.function](call, values)


def average(call: AggregateCall, values: list[Any]) -> Any:
    if isinstance(values[0], Decimal):
        return (sum(values) / len(values)).quantize(Decimal(1).scaleb(-call.type.scale), ROUND_HALF_UP)
    if isinstance(values[0], float):
        return sum(values) / len(values)
    total = sum(values)
    return abs(total) // len(values) * (1 if total >= 0 else -1)


def variance(values: list[Any], sample: bool) -> float | None:
    n = len(values)
    if n - sample <= 0:
        return None
    return float(Fraction(n * sum(v * v for v in values) - sum(values) ** 2) / n / (n - sample))


def in_order(value: Any) -> Any:
    return (value != value, value) if isinstance(value, float) else value


_SCALAR: dict[str, Any] = {
    "SUM": lambda call, values: sum(values),
    "AVG": average,
    "MIN": lambda call, values: min(values, key=in_order),
    "MAX": lambda call, values: max(values, key=in_order),
    "STDDEV_POP": lambda call, values: math.sqrt(variance(values, False) or 0.0),
    "STDDEV_SAMP": lambda call, values: None if len(values) < 2 else math.sqrt(variance(values, True) or 0.0),
    "VAR_POP": lambda call, values: variance(values, False),
    "VAR_SAMP": lambda call, values: variance(values, True),
    "FIRST_VALUE": lambda call, values: values[0],
    "LAST_VALUE": lambda call, values: values[-1],
    "LISTAGG": lambda call, values: call.separator.join(values),
}


def fits(rows: list[Row], group: tuple[str, ...]) -> bool:
    """Whether no sum leaves its type: overflow is another test."""
    for key in {tuple(row[name] for name in group) for row in rows}:
        members = [row for row in rows if tuple(row[name] for name in group) == key]
        if abs(sum(row["i"] or 0 for row in members)) >= 2**31 - 1:
            return False
        if abs(sum(row["b"] or 0 for row in members if row["ok"])) >= 2**63 - 1:
            return False
    return True


def close(left: Any, right: Any) -> bool:
    if isinstance(left, float) and isinstance(right, float) and math.isfinite(left):
        return math.isclose(left, right, rel_tol=1e-6, abs_tol=1e-5)
    return bool(left == right)


def assert_same(table: Table, expected: dict[tuple[Any, ...], Row]) -> None:
    assert table.rows.keys() == expected.keys()
    for key, row in expected.items():
        wrong = {name: (table.rows[key][name], v) for name, v in row.items() if not close(table.rows[key][name], v)}
        assert not wrong, f"in group {key}: (got, expected) is {wrong}"


@pytest.mark.parametrize("seed", seeds(12))
def test_random_changelogs(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    append_only = rng.random() < 0.3
    group = rng.choice([(), ("g",), ("g",), ("h", "g"), ("f",)])
    calls = tuple(rng.sample(CALLS, rng.randrange(1, 8)))
    # one NaN leaves nothing else to see
    plain = rng.random() < 0.7
    aggregate = Aggregate(INPUT, group, calls, append_only, update_before=rng.random() < 0.7)
    distinct = any(slot.keeps is Keeps.DISTINCT for slot in aggregate.slots)
    operators = two_stages(aggregate) if rng.random() < 0.4 and distinct else (aggregate,)
    engine = Engine(operators, tmp_path, rng.choice([1, 2, 3]), rng)
    source, table = Source(rng, append_only), Table(group, upsert=not aggregate.update_before)
    for _ in range(rng.randrange(3, 9)):
        before, logged = list(source.rows), len(source.log)
        changes = source.changes(rng.choice([0, 1, 3, 20, 60]))
        if plain:
            for _, row in changes:
                row["f"] = row["f"] if row["f"] is None or math.isfinite(row["f"]) else 0.5
        if not fits(source.rows, group):
            source.rows = before
            del source.log[logged:]
            continue
        table.apply(engine.batch(delta_of(changes, INPUT), tasks=rng.choice([1, 2, 5])))
        assert_same(table, oracle(source.log, group, calls))
    assert not engine.counters[STALE]
