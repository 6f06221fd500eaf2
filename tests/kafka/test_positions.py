"""Start and stop positions as pure functions of what a cluster reports."""

from __future__ import annotations

import pytest

from rowkind.connectors.kafka.positions import Found, Start, StartMode, Stop, StopMode, start_positions, stop_positions
from rowkind.connectors.kafka.ranges import Partition
from rowkind.errors import RowkindError

A, B = Partition("t", 0), Partition("t", 1)
BOTH = (A, B)
FOUND = Found(
    begin={A: 10, B: 20},
    end={A: 100, B: 200},
    high={A: 110, B: 200},
    at={A: 50, B: None},
    committed={A: 60},
)


def start(mode: StartMode, found: Found = FOUND, **more: object) -> dict[Partition, int]:
    return start_positions(Start(mode, **more), BOTH, found).offsets  # type: ignore[arg-type]


def stop(mode: StopMode, found: Found = FOUND, **more: object) -> dict[Partition, int]:
    positions = stop_positions(Stop(mode, **more), BOTH, found)  # type: ignore[arg-type]
    assert positions is not None
    return positions.offsets


def test_start_earliest_latest_timestamp() -> None:
    assert start(StartMode.EARLIEST) == {A: 10, B: 20}
    assert start(StartMode.LATEST) == {A: 100, B: 200}
    assert start(StartMode.TIMESTAMP) == {A: 50, B: 200}


def test_start_specific() -> None:
    assert start(StartMode.SPECIFIC, offsets={0: 42, 1: 43}) == {A: 42, B: 43}
    # not named: the committed offset, else the beginning
    assert start(StartMode.SPECIFIC, offsets={}) == {A: 60, B: 20}
    # outside the log: the beginning; up to the end of the log is inside
    assert start(StartMode.SPECIFIC, offsets={0: 9, 1: 201}) == {A: 10, B: 20}
    assert start(StartMode.SPECIFIC, offsets={0: 110, 1: 20}) == {A: 110, B: 20}


def test_start_group_falls_back_as_auto_offset_reset_says() -> None:
    assert start(StartMode.GROUP, group="g", reset="earliest") == {A: 60, B: 20}
    assert start(StartMode.GROUP, group="g", reset="latest") == {A: 60, B: 200}
    with pytest.raises(RowkindError) as caught:
        start(StartMode.GROUP, group="g", reset="none")
    assert caught.value.condition == "NO_COMMITTED_OFFSET"
    assert caught.value.params["partition"] == 1


def test_start_group_without_a_committed_offset_is_latest_and_says_so() -> None:
    positions = start_positions(Start(StartMode.GROUP, group="g"), BOTH, FOUND)
    assert positions.offsets == {A: 60, B: 200}
    assert len(positions.notes) == 1
    assert "1 of 2 partitions" in positions.notes[0]
    complete = Found(FOUND.begin, FOUND.end, FOUND.high, {}, {A: 60, B: 60})
    assert start_positions(Start(StartMode.GROUP, group="g"), BOTH, complete).notes == []


@pytest.mark.parametrize("committed", [9, 111])
def test_start_group_whose_offset_is_gone(committed: int) -> None:
    found = Found(FOUND.begin, FOUND.end, FOUND.high, {}, {A: committed, B: 20})
    assert start(StartMode.GROUP, found, group="g", reset="earliest") == {A: 10, B: 20}
    assert start(StartMode.GROUP, found, group="g", reset="latest") == {A: 100, B: 20}
    for reset in ("none", None):
        with pytest.raises(RowkindError) as caught:
            start(StartMode.GROUP, found, group="g", reset=reset)
        assert caught.value.condition == "COMMITTED_OFFSET_GONE"
        assert caught.value.params["wanted"] == committed


def test_stop() -> None:
    assert stop_positions(Stop(StopMode.UNBOUNDED), BOTH, FOUND) is None
    assert stop(StopMode.LATEST) == {A: 100, B: 200}
    assert stop(StopMode.TIMESTAMP) == {A: 50, B: 200}
    # not named: the committed offset, else the beginning, so that nothing is read
    assert stop(StopMode.SPECIFIC, offsets={}) == {A: 60, B: 20}
    assert stop(StopMode.SPECIFIC, offsets={0: 500, 1: 30}) == {A: 500, B: 30}


def test_stop_group_needs_every_partition_committed() -> None:
    with pytest.raises(RowkindError) as caught:
        stop(StopMode.GROUP, group="g")
    assert caught.value.condition == "NO_COMMITTED_OFFSET"
    assert stop(StopMode.GROUP, Found(committed={A: 1, B: 2}), group="g") == {A: 1, B: 2}
