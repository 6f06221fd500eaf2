"""The folder between the driver and the range source, and the size of batches."""

from __future__ import annotations

import pickle
from datetime import timedelta
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from rowkind.runtime.control import Control, Inputs, adapted

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


def test_what_the_driver_says_reaches_the_source(tmp_path: Path) -> None:
    control = Control.create(tmp_path / "c", Inputs((), (), SECOND), 2)
    control.set_pace([7, 9], [2, 3])
    other = Control(tmp_path / "c")
    assert (other.pace(1).rows, other.pace(1).tasks) == (9, 3)
    assert pickle.loads(other.inputs.read_bytes()).interval == SECOND
    assert not other.stopping
    control.stop()
    assert other.stopping


def test_only_the_user_may_look(tmp_path: Path) -> None:
    control = Control.create(tmp_path / "c", Inputs((), ()), 2)
    assert control.folder.stat().st_mode & 0o077 == 0
    assert control.inputs.stat().st_mode & 0o077 == 0


def test_stopping_a_job_that_has_just_ended_is_no_error(tmp_path: Path) -> None:
    Control(tmp_path / "gone").stop()
