"""Join conditions that workers evaluate: what is allowed, and that it is evaluated as SQL says."""

from __future__ import annotations

import pickle
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
import sqlglot

from rowkind.errors import RowkindError
from rowkind.operators.join.residual_sql import duck_residual, residual_supported

PAIRS = pa.table(
    {
        "i": pa.array([1, 2, None, 2**31 - 1], pa.int32()),
        "I": pa.array([2, 2, 2, 2**31 - 1], pa.int64()),
        "d": pa.array([Decimal("1.00"), Decimal("2.50"), None, Decimal("0.00")], pa.decimal128(10, 2)),
        "f": pa.array([1.0, float("nan"), -0.0, None], pa.float64()),
        "g": pa.array([0.5, float("nan"), 0.0, 1.0], pa.float32()),
        "s": pa.array(["abc", "a_c", None, "Abd"]),
        "b": pa.array([True, False, None, True]),
        "t": pa.array([datetime(2024, 1, 1, h) for h in range(4)], pa.timestamp("us")),
        "u": pa.array([datetime(2024, 1, 1, 2)] * 4, pa.timestamp("us")),
        "z": pa.array([datetime(2024, 1, 1, h, tzinfo=UTC) for h in range(4)], pa.timestamp("us", "UTC")),
        "day": pa.array([date(2024, 1, 1), None, date(2024, 1, 2), date(2023, 1, 1)]),
        "list": pa.array([[1], [2], [3], None]),
    }
)
TYPES = dict(zip(PAIRS.column_names, PAIRS.schema.types, strict=True))


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("i < I", "1000"),
        ("i = I OR i IS NULL", "0111"),
        ("NOT (i = I)", "1000"),
        ("i + 1 = I AND TRUE", "1000"),
        ("i * 2 > I", "0101"),
        ("-i = -I", "0101"),
        ("i BETWEEN 2 AND I", "0101"),
        ("i IN (1, 7, NULL)", "1000"),
        ("i NOT IN (1, 7)", "0101"),
        ("i IS DISTINCT FROM I", "1010"),
        ("i = d", "1000"),
        ("d > 0.5", "1100"),
        ("f = g", "0110"),
        ("f > 100", "0100"),
        ("s LIKE 'a_c'", "1100"),
        ("s > 'a'", "1100"),
        ("b", "1001"),
        ("(NOT b) IS TRUE", "0100"),
        ("(i > 1) IS NOT TRUE", "1010"),
        ("t < u - INTERVAL '1' HOUR", "1000"),
        ("t + INTERVAL '1' DAY >= u", "1111"),
        ("z > z - INTERVAL '1' SECOND", "1111"),
        ("day >= DATE '2024-01-01'", "1010"),
        ("t <> TIMESTAMP '2024-01-01 02:00:00'", "1101"),
        ("CAST(i AS BIGINT) = I", "0101"),
        ("CAST(i AS DOUBLE) = f", "1000"),
        ("1 = 1", "1111"),
        ("i = NULL", "0000"),
        ("s = 'it''s'", "0000"),
    ],
)
def test_evaluates(sql: str, expected: str) -> None:
    residual = pickle.loads(pickle.dumps(duck_residual(sqlglot.parse_one(sql), TYPES)))
    found = residual.evaluate(PAIRS.select(list(residual.columns)) if residual.columns else PAIRS)
    assert "".join("1" if true else "0" for true in found) == expected


@pytest.mark.parametrize(
    "sql",
    [
        "i / 2 = 1",
        "i % 2 = 1",
        "d + 1 > 2",
        "f * 2 > 1",
        "UPPER(s) = 'A'",
        "s LIKE 'a!_' ESCAPE '!'",
        r"s LIKE 'a\_'",
        "s LIKE s",
        "i = s",
        "t = z",
        "day = t",
        "list = list",
        "i",
        "i AND b",
        "missing = 1",
        "t + INTERVAL '1' MONTH > u",
        "CAST(s AS INT) = 1",
        "CAST(d AS INT) = 1",
        "i IN (SELECT 1)",
        "CASE WHEN b THEN TRUE ELSE FALSE END",
    ],
)
def test_refuses(sql: str) -> None:
    assert not residual_supported(sqlglot.parse_one(sql), TYPES)
    with pytest.raises(RowkindError) as error:
        duck_residual(sqlglot.parse_one(sql), TYPES)
    assert error.value.condition == "JOIN_CONDITION_NOT_SUPPORTED"
