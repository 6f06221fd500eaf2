"""Numbers, dates and times as text: examples where Java and Python differ, and round trips."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkind.formats import temporal, text
from rowkind.formats.temporal import TimestampStandard


@given(st.floats(allow_nan=False))
def test_doubles_read_back(value: float) -> None:
    assert repr(text.double(text.java_double(value))) == repr(value)


@given(st.floats(width=32, allow_nan=False))
def test_floats_read_back(value: float) -> None:
    assert repr(text.single(text.java_float(value))) == repr(value)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("16777217", 16777216.0),
        ("16777217.00000000000000001", 16777218.0),
        ("16777216.99999999999999999", 16777216.0),
        ("16777219", 16777220.0),
        ("3.40282356779733661637539395458142568448e38", float("inf")),
        ("3.40282356779733661637539395458142568447e38", 3.4028234663852886e38),
        ("1e-46", 0.0),
        ("7.006492321624085e-46", 0.0),
        ("7.1e-46", 1.401298464324817e-45),
        ("-1e999", float("-inf")),
    ],
)
def test_singles_are_rounded_once(written: str, read: float) -> None:
    assert text.single(written) == read


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30))
def test_singles_are_the_nearest_floats(value: Decimal) -> None:
    found = np.float32(text.single(str(value)))
    for other in (np.nextafter(found, np.float32(-np.inf)), np.nextafter(found, np.float32(np.inf))):
        assert abs(Decimal(float(found)) - value) <= abs(Decimal(float(other)) - value)


@pytest.mark.parametrize("written", ["", " 1", "1 ", "1_0", "0b1", "inf", "nan", "1e", "--1", "0x1", "1dd", "٣"])
def test_not_a_float(written: str) -> None:
    with pytest.raises(ValueError, match="is not a number"):
        text.double(written)


@pytest.mark.parametrize("written", ["", "+", "1_0", " 1", "1.0", "0x1", "𝟏"])
def test_not_an_integer(written: str) -> None:
    with pytest.raises(ValueError, match="is not a whole number"):
        text.integer(written)


@pytest.mark.parametrize("written", ["", "1_0", " 1", "NaN", "1e99999999999", "0x1", "1e", "."])
def test_not_a_decimal(written: str) -> None:
    with pytest.raises(ValueError, match="is not a decimal"):
        text.parse_decimal(written)


@pytest.mark.parametrize(
    ("value", "short", "plain"),
    [
        ("0.00", "0", "0.00"),
        ("1.50", "1.5", "1.50"),
        ("100", "1E+2", "100"),
        ("-0.000001", "-0.000001", "-0.000001"),
        ("0.0000001", "1E-7", "0.0000001"),
        ("12345678901234567890123456789012345678", *["12345678901234567890123456789012345678"] * 2),
    ],
)
def test_decimals(value: str, short: str, plain: str) -> None:
    assert text.short_decimal(Decimal(value)) == short
    assert text.plain_decimal(Decimal(value)) == plain


@pytest.mark.parametrize(
    ("value", "fitted"),
    [("2.345", "2.35"), ("-2.345", "-2.35"), ("2.3449999", "2.34"), ("999.994", "999.99"), ("999.995", None),
     ("0.004", "0.00"), ("-0.004", "0.00"), ("0.005", "0.01"), ("1E+9", None), ("1E-99999", "0.00")],
)  # fmt: skip
def test_decimals_fit_half_up_or_not_at_all(value: str, fitted: str | None) -> None:
    found = text.fit_decimal(Decimal(value), 5, 2)
    assert (found if found is None else str(found)) == fitted


@given(st.binary())
def test_base64_reads_back(value: bytes) -> None:
    assert text.from_base64(text.base64_text(value)) == value


@given(st.dates())
def test_dates(day: date) -> None:
    days = (day - date(1970, 1, 1)).days
    assert temporal.parse_date(day.isoformat()) == days
    assert temporal.render_date(days) == day.isoformat()


@given(st.integers(-(2**31), 2**31 - 1))
def test_days_of_any_year_read_back(days: int) -> None:
    assert temporal.parse_date(temporal.render_date(days)) == days


@given(st.integers(-(2**63), 2**63 - 1), st.sampled_from(TimestampStandard), st.booleans())
def test_timestamps_read_back(micros: int, standard: TimestampStandard, local_zone: bool) -> None:
    written = temporal.render_timestamp(micros, standard, local_zone)
    assert temporal.parse_timestamp(written, standard, local_zone) == micros


@given(st.datetimes(timezones=st.just(UTC)))
def test_timestamps_agree_with_python(moment: datetime) -> None:
    micros = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // (datetime.resolution)
    assert temporal.parse_timestamp(moment.strftime("%Y").zfill(4) + moment.strftime("-%m-%d %H:%M:%S.%f"),
                                    TimestampStandard.SQL, False) == micros  # fmt: skip
