"""The size of batches: fitted to the time that one should take."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from rowkind.kafka.ranges import OffsetRange
from rowkind.runtime.batches import Batch, Pace
from rowkind.runtime.pacing import FIRST_ROWS, Pacing, adapted
from tests.runtime.tables import APPEND, table

SECOND = timedelta(seconds=1)


def test_a_batch_that_was_full_is_fitted_to_the_wanted_time() -> None:
    assert adapted(1000, 1000, SECOND, SECOND * 9, None) == 4000
    assert adapted(8000, 8000, SECOND * 8, SECOND, None) == 4000
    assert adapted(10_000, 10_000, SECOND * 2, SECOND * 3, None) == 15_000


def test_a_batch_that_was_not_full_says_nothing() -> None:
    assert adapted(10_000, 4_999, SECOND * 60, SECOND, None) == 10_000


def test_the_users_cap_holds() -> None:
    assert adapted(100, 100, SECOND, SECOND * 60, 150) == 150


@given(st.integers(1000, 10**7), st.integers(0, 10**7), st.floats(0, 100), st.integers(1, 10**6) | st.none())
def test_it_changes_by_bounded_factors(rows: int, read: int, seconds: float, cap: int | None) -> None:
    found = adapted(rows, read, timedelta(seconds=seconds), SECOND * 5, cap)
    assert found >= 1
    assert found <= rows * 4
    assert found >= min(rows // 2, cap or rows)


def test_each_table_has_its_own_pace_which_the_first_batch_does_not_change() -> None:
    open_, capped = (
        table("id INT", APPEND),
        table("id INT", APPEND, scan_max__rows__per__batch="500", scan_parallelism="3"),
    )
    pacing = Pacing([open_, capped], cores=2, interval=SECOND * 4)
    assert [pacing(0), pacing(1)] == [Pace(FIRST_ROWS, 2), Pace(500, 3)]
    full = Batch(1, 0, {0: ((OffsetRange("a", 0, 0, FIRST_ROWS),),), 1: ((OffsetRange("b", 0, 0, 500),),)})
    pacing.learn(full, SECOND * 60)
    assert pacing(0).rows == FIRST_ROWS
    pacing.learn(full, SECOND)
    assert [pacing(0).rows, pacing(1).rows] == [FIRST_ROWS * 4, 500]
