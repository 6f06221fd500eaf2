"""What batches read: planned from a cluster's offsets, written down whole, and the same when run again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rowkind.connectors.contract import Limits, Pace
from rowkind.connectors.kafka.ranges import OffsetRange, Partition
from rowkind.connectors.kafka.source import KafkaSource, Offsets, capped, cut, flat
from rowkind.runtime.driver.batch_entry import Batch
from rowkind.runtime.driver.batch_planner import BatchPlanner

A0, A1, B0 = Partition("a", 0), Partition("a", 1), Partition("b", 0)


@dataclass
class Log:
    """A table's partitions as a planner sees them, without a broker."""

    ends: Offsets
    starts: Offsets | None = None
    stops: Offsets | None = None
    fresh: Offsets = field(default_factory=dict)
    begin: int = 0
    notes: list[str] = field(default_factory=list)
    started: int = 0
    id: str = "first"

    def start(self) -> Offsets:
        self.started += 1
        return dict(self.starts if self.starts is not None else dict.fromkeys(self.ends, 0))

    def stop(self) -> Offsets | None:
        return None if self.stops is None else dict(self.stops)

    def discover(self, known: Iterable[Partition]) -> Offsets:
        return {p: at for p, at in self.fresh.items() if p not in set(known)}

    def end(self, partitions: Sequence[Partition]) -> Offsets:
        return {p: self.ends[p] for p in partitions}

    def ids(self, topics: Iterable[str]) -> dict[str, str]:
        return dict.fromkeys(topics, self.id)

    def restarted(self, beyond: Offsets, anew: frozenset[str]) -> Offsets:
        self.notes.append("made anew")
        return dict.fromkeys(beyond, self.begin)

    def expect(self, ranges: Sequence[OffsetRange]) -> None:
        pass

    def message_bytes(self, waiting: Sequence[OffsetRange]) -> int | None:
        return None

    def commit(self, offsets: Offsets) -> None:
        pass

    def take_notes(self) -> list[str]:
        taken, self.notes = self.notes, []
        return taken


def source(log: Log) -> KafkaSource:
    return KafkaSource(log, Limits(None, 1 << 30, None))


def pace(rows: int, tasks: int, rows_per_task: int = 10) -> Pace:
    return Pace(rows, 1 << 30, tasks, rows_per_task)


def planner(*tables: Log, rows: int = 100, tasks: int = 2, splittable: bool = False, **more: Any) -> BatchPlanner:
    return BatchPlanner(
        [source(log) for log in tables], [splittable] * len(tables), lambda *_: pace(rows, tasks), **more
    )


def entry_of(found: Batch | None) -> Batch:
    """As it comes back from the checkpoint."""
    assert found is not None
    return Batch.of_json(json.loads(json.dumps(found.to_json())))


def until(batch: Batch, table: int = 0) -> Offsets:
    return flat(batch.inputs[table].until["at"])


def ranges(batch: Batch, table: int = 0) -> set[OffsetRange]:
    return {OffsetRange(*r) for task in batch.inputs[table].tasks for r in task}


def test_the_first_batch_pins_the_start_even_when_there_is_nothing_to_read() -> None:
    log = Log({A0: 5}, starts={A0: 5})
    first = entry_of(planner(log).next(None))
    assert (first.number, first.inputs[0].tasks, until(first)) == (0, (), {A0: 5})
    log.ends[A0] = 8
    assert ranges(entry_of(planner(log).next(first))) == {OffsetRange("a", 0, 5, 8)}
    assert log.started == 1


def test_without_anything_new_there_is_no_batch() -> None:
    log = Log({A0: 3})
    first = entry_of(planner(log).next(None))
    assert planner(log).next(first) is None


def test_a_bounded_job_ends_with_one_final_batch() -> None:
    log = Log({A0: 30, A1: 4}, stops={A0: 20, A1: 4})
    plan = planner(log, rows=15)
    seen: set[OffsetRange] = set()
    offset = entry_of(plan.next(None))
    while not offset.final:
        seen |= ranges(offset)
        offset = entry_of(plan.next(offset))
    assert offset.final
    assert offset.rows == 0
    assert plan.next(offset) is None
    assert sum(r.until - r.start for r in seen) == 24
    assert max(r.until for r in seen if r.partition == 0) == 20


def test_a_job_without_tables_has_one_batch_and_a_final_one() -> None:
    plan = planner()
    first = entry_of(plan.next(None))
    assert not first.final
    assert entry_of(plan.next(first)).final


def test_a_job_that_is_bounded_in_part_does_not_end() -> None:
    done, open_ = Log({A0: 5}, stops={A0: 5}), Log({B0: 1})
    plan = planner(done, open_)
    first = entry_of(plan.next(None))
    assert plan.next(first) is None
    open_.ends[B0], done.ends[A0] = 2, 50
    assert ranges(entry_of(plan.next(first)), 0) == set()
    assert ranges(entry_of(plan.next(first)), 1) == {OffsetRange("b", 0, 1, 2)}


def test_found_partitions_are_read_from_where_they_begin() -> None:
    log = Log({A0: 2})
    first = entry_of(planner(log).next(None))
    log.fresh, log.ends = {A1: 7}, {A0: 2, A1: 9}
    assert ranges(entry_of(planner(log).next(first))) == {OffsetRange("a", 1, 7, 9)}


def test_a_bounded_table_does_not_look_for_partitions() -> None:
    log = Log({A0: 2}, stops={A0: 2}, fresh={A1: 0})
    first = entry_of(planner(log).next(None))
    assert entry_of(planner(log).next(first)).final


def test_a_partition_that_ends_before_its_position_is_restarted() -> None:
    log = Log({A0: 10})
    first = entry_of(planner(log).next(None))
    log.ends, log.begin = {A0: 4}, 1
    second = entry_of(planner(log).next(first))
    assert ranges(second) == {OffsetRange("a", 0, 1, 4)}
    assert second.notes == ("made anew",)


def test_an_interval_is_waited_for_unless_there_is_more_to_read() -> None:
    log, now = Log({A0: 10}), [0.0]
    plan = planner(log, rows=6, interval=timedelta(seconds=5), steady=lambda: now[0])
    first = entry_of(plan.next(None))
    assert first.lag == 4
    second = entry_of(plan.next(first))
    assert second.lag == 0
    log.ends[A0] = 11
    now[0] = 4.9
    assert plan.next(second) is None
    now[0] = 5.0
    assert ranges(entry_of(plan.next(second))) == {OffsetRange("a", 0, 10, 11)}


def test_time_never_runs_backwards_and_a_clock_that_is_set_back_stops_nothing() -> None:
    log, now = Log({A0: 1}), [1_000_000]
    plan = planner(log, interval=timedelta(0), clock=lambda: now[0], steady=lambda: 0.0)
    first = entry_of(plan.next(None))
    log.ends[A0], now[0] = 2, 500
    second = entry_of(plan.next(first))
    assert (first.clock, second.clock) == (1_000_000, 1_000_000)
    log.ends[A0], now[0] = 3, 9_000_000
    assert entry_of(plan.next(second)).clock == 9_000_000


@pytest.mark.parametrize("again", [False, True], ids=["the same run", "started again"])
def test_after_a_clock_was_ahead_time_goes_on(again: bool) -> None:
    """It was a day ahead for one batch: what waits for a minute must not wait for a day."""
    second, day = 1_000_000, 86_400_000_000
    log, now, steady = Log({A0: 1}), [day], [0.0]
    plan = planner(log, clock=lambda: now[0], steady=lambda: steady[0])
    entry = entry_of(plan.next(None))
    if again:
        plan = planner(log, clock=lambda: now[0], steady=lambda: steady[0])
    now[0] = 0
    for passed in (60, 120):
        steady[0] = passed
        now[0] = passed * second
        log.ends[A0] += 1
        entry = entry_of(plan.next(entry))
        assert entry.clock == day + passed * second // 2
    now[0] = 3 * day
    log.ends[A0] += 1
    assert entry_of(plan.next(entry)).clock == 3 * day


def test_a_topic_made_anew_is_recognised_even_when_it_is_longer_than_the_old_one() -> None:
    log = Log({A0: 10})
    first = entry_of(planner(log).next(None))
    log.ends, log.id = {A0: 25}, "second"
    second = entry_of(planner(log).next(first))
    assert ranges(second) == {OffsetRange("a", 0, 0, 25)}
    assert second.notes == ("made anew",)
    log.ends = {A0: 30}
    assert ranges(entry_of(planner(log).next(second))) == {OffsetRange("a", 0, 25, 30)}


def test_a_bounded_job_does_not_wait_for_the_interval() -> None:
    log = Log({A0: 1}, stops={A0: 1})
    plan = planner(log, interval=timedelta(hours=1), clock=lambda: 0)
    assert entry_of(plan.next(entry_of(plan.next(None)))).final


OFFSETS = st.dictionaries(
    st.builds(Partition, st.sampled_from("abc"), st.integers(0, 4)),
    st.tuples(st.integers(0, 1000), st.integers(0, 5000)),
    max_size=8,
)


@given(OFFSETS, st.integers(1, 3000))
def test_a_cap_holds_and_no_partition_starves(waiting: dict[Partition, tuple[int, int]], rows: int) -> None:
    start = {p: at for p, (at, _) in waiting.items()}
    end = {p: at + size for p, (at, size) in waiting.items()}
    reached = capped(start, end, rows)
    assert all(start[p] <= reached[p] <= end[p] for p in start)
    taken = sum(reached[p] - start[p] for p in start)
    total = sum(size for _, size in waiting.values())
    assert taken == total if total <= rows else taken <= rows
    behind = {p for p in start if end[p] > start[p]}
    turns = [capped(start, end, rows, turn) for turn in range(len(behind))]
    assert behind == {p for reached in turns for p in reached if reached[p] > start[p]}


def test_a_thousand_partitions_of_large_messages_take_turns() -> None:
    """Each batch holds as many messages as fit, and not one of every partition."""
    log = Log({Partition("a", number): 3 for number in range(1000)})
    plan, batches = planner(log, rows=21), 0
    entry: Batch | None = None
    while entry is None or entry.lag:
        entry = entry_of(plan.next(entry))
        assert 0 < entry.rows <= 21
        batches += 1
    assert batches < 1.1 * 3000 / 21


@given(OFFSETS, st.integers(1, 6), st.integers(1, 500), st.booleans())
def test_ranges_are_cut_without_gaps(
    waiting: dict[Partition, tuple[int, int]], tasks: int, worth: int, splittable: bool
) -> None:
    wanted = [OffsetRange(*p, at, at + size) for p, (at, size) in waiting.items() if size]
    if not wanted:
        return
    made = cut(wanted, pace(10_000, tasks, worth), splittable)
    assert 1 <= len(made) <= tasks
    assert all(made)
    pieces = [(OffsetRange(*r), number) for number, task in enumerate(made) for r in task]
    for whole in wanted:
        mine = sorted((r, n) for r, n in pieces if (r.topic, r.partition) == (whole.topic, whole.partition))
        assert mine[0][0].start == whole.start
        assert mine[-1][0].until == whole.until
        assert all(a.until == b.start and m <= n for (a, m), (b, n) in pairwise(mine))
        assert splittable or len(mine) == 1


@settings(deadline=None)
@given(OFFSETS, st.integers(50, 2000), st.integers(1, 4), st.booleans())
def test_batches_cover_everything_once_and_in_order(
    waiting: dict[Partition, tuple[int, int]], rows: int, tasks: int, splittable: bool
) -> None:
    start = {p: at for p, (at, _) in waiting.items()}
    end = {p: at + size for p, (at, size) in waiting.items()}
    plan = planner(Log(end, start, end), rows=rows, tasks=tasks, splittable=splittable)
    position, offset, number = dict(start), entry_of(plan.next(None)), 0
    while not offset.final:
        assert offset.number == number
        for r in sorted(ranges(offset)):
            assert position[Partition(r.topic, r.partition)] == r.start
            position[Partition(r.topic, r.partition)] = r.until
        assert until(offset) == position
        assert offset.lag == sum(end.values()) - sum(position.values())
        # a batch stands alone: read back from the log it is the very same
        assert entry_of(offset) == offset
        offset, number = entry_of(plan.next(offset)), number + 1
    assert position == end
