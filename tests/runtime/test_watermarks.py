"""How far event time is: partitions, idleness, several tables, the end, and batches that time alone asks for."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import timedelta
from types import SimpleNamespace
from typing import cast

from rowkind.connectors.contract import Split, Table
from rowkind.connectors.kafka.ranges import Partition
from rowkind.connectors.settings import Alignment
from rowkind.operators.contract import END_OF_TIME
from rowkind.runtime.driver.batch_entry import Batch
from rowkind.runtime.driver.batch_planner import BatchPlanner
from rowkind.runtime.driver.watermark_tracking import Account, Watermarks
from tests.runtime.test_batch_planner import Log, entry_of, pace, source

A0, A1, B0 = Partition("a", 0), Partition("a", 1), Partition("b", 0)
SECOND = 1_000_000


def table(idle: float | None = None, drift: float | None = None) -> Table:
    timeout = None if idle is None else timedelta(seconds=idle)
    alignment = None if drift is None else Alignment("g", timedelta(seconds=drift), timedelta(seconds=1))
    return cast(Table, SimpleNamespace(reading=SimpleNamespace(idle_timeout=timeout, alignment=alignment)))


@dataclass
class Job:
    """A planner with a clock of its own; `run` is a batch, with the highest watermark of each partition it read."""

    logs: list[Log]
    tables: list[Table]
    groups: list[tuple[int, ...]] = field(default_factory=lambda: [(0,)])
    now: int = 1000 * SECOND
    last: Batch | None = None

    def __post_init__(self) -> None:
        self.account = Account([{} for _ in self.logs])
        self.restart()

    def restart(self) -> None:
        self.account = Account.of_json(json.loads(json.dumps(self.account.to_json())))
        watermarks = Watermarks(self.tables, self.groups, self.account)
        self.planner = BatchPlanner(
            [source(log) for log in self.logs],
            [False] * len(self.logs),
            lambda *_: pace(1000, 1),
            clock=lambda: self.now,
            watermarks=watermarks,
            steady=lambda: self.now / SECOND,
        )

    @property
    def batch(self) -> Batch:
        assert self.last is not None
        return self.last

    def run(self, times: dict[Partition, int | None] | None = None) -> list[int | None] | None:
        """The watermarks of the next batch; None when there is none."""
        batch = self.planner.next(self.last)
        if batch is None:
            return None
        self.last = entry_of(batch)
        for number in range(len(self.logs)):
            for split in batch.inputs[number].splits:
                self.account.note(number, split, (times or {}).get(Partition(*split)), batch.clock)
        return list(batch.watermarks.values())


def test_time_is_the_least_of_the_partitions_and_moves_behind_the_rows() -> None:
    log = Log({A0: 5, A1: 5})
    job = Job([log], [table()])
    assert job.run({A0: 100, A1: 70}) == [None]
    assert job.run() == [70]
    assert job.batch.rows == 0
    assert job.batch.before == {"0": None}
    assert job.run() is None
    log.ends[A1] = 6
    assert job.run({A1: 200}) == [70]
    assert job.run() == [100]
    assert job.batch.before == {"0": 70}
    assert job.run() is None


def test_time_never_goes_back() -> None:
    log = Log({A0: 5})
    job = Job([log], [table()])
    job.run({A0: 100})
    job.run()
    log.ends[A0] = 6
    assert job.run({A0: 50}) == [100]
    assert job.run() is None


def test_a_partition_without_data_holds_time_back_until_it_is_idle() -> None:
    log = Log({A0: 5, A1: 0})
    job = Job([log], [table(idle=10)])
    assert job.run({A0: 100}) == [None]
    job.now += 9 * SECOND
    assert job.run() is None
    job.now += SECOND
    log.ends[A0] = 6
    assert job.run({A0: 120}) == [100]
    assert job.run() == [120]


def test_without_a_timeout_it_holds_time_back_for_ever() -> None:
    job = Job([Log({A0: 5, A1: 0})], [table()])
    job.run({A0: 100})
    job.now += 10**6 * SECOND
    assert job.run() is None


def test_an_idle_partition_joins_in_again_when_it_has_data() -> None:
    log = Log({A0: 5, A1: 5})
    job = Job([log], [table(idle=10)])
    job.run({A0: 100, A1: 10})
    assert job.run() == [10]
    job.now += 10 * SECOND
    log.ends[A0] = 6
    assert job.run({A0: 200}) == [100]
    log.ends[A1] = 6
    assert job.run({A1: 150}) == [100]
    assert job.run() == [150]


def test_a_partition_with_unread_data_is_not_idle() -> None:
    log = Log({A0: 5000, A1: 1})
    job = Job([log], [table(idle=10)])
    job.run({A0: 50, A1: 100})
    job.now += 100 * SECOND
    assert job.run({A0: 60}) == [50]


def test_rows_without_time_do_not_move_it() -> None:
    log = Log({A0: 5, A1: 5})
    job = Job([log], [table()])
    job.run({A0: 100, A1: None})
    assert job.run() is None


def test_a_group_follows_the_slowest_of_its_tables_that_is_not_idle() -> None:
    first, second = Log({A0: 5}), Log({B0: 5})
    job = Job([first, second], [table(), table(idle=10)], [(0,), (0, 1)])
    assert job.run({A0: 100, B0: 40}) == [None, None]
    assert job.run() == [100, 40]
    job.now += 10 * SECOND
    first.ends[A0] = 6
    assert job.run({A0: 300}) == [100, 100]
    assert job.run() == [300, 300]


def test_a_table_that_has_ended_does_not_hold_others_back() -> None:
    ended, going = Log({A0: 5}, stops={A0: 5}), Log({B0: 5})
    job = Job([ended, going], [table(), table()], [(0, 1), (0,)])
    job.run({A0: 10, B0: 100})
    assert job.run() == [100, END_OF_TIME]


def test_the_marks_outlive_a_restart() -> None:
    log = Log({A0: 5, A1: 5})
    job = Job([log], [table()])
    job.run({A0: 100, A1: 70})
    job.restart()
    assert job.run() == [70]
    job.restart()
    assert job.run() is None


def test_a_job_without_event_time_has_no_batches_for_it() -> None:
    job = Job([Log({A0: 5})], [table()], [])
    assert job.run({A0: 100}) == []
    assert job.run() is None


def test_a_batch_by_the_clock() -> None:
    job = Job([Log({A0: 5})], [table()], [])
    job.run()
    job.account.due = job.now + 5 * SECOND
    assert job.run() is None
    job.now += 5 * SECOND
    assert job.run() == []
    job.account.due = None
    assert job.run() is None


def test_a_table_that_is_ahead_of_its_group_is_not_read_on() -> None:
    fast, slow = Log({A0: 5}), Log({B0: 5})
    job = Job([fast, slow], [table(drift=10), table(drift=10)], [(0, 1)])
    job.run({A0: 100 * SECOND, B0: 80 * SECOND})
    assert job.run() == [80 * SECOND]
    fast.ends[A0] = 9
    assert job.run() is None
    slow.ends[B0] = 9
    job.run({B0: 90 * SECOND})
    assert not job.batch.inputs[0].splits
    assert job.run({A0: 110 * SECOND}) == [90 * SECOND]
    assert job.batch.inputs[0].splits == (Split(*A0),)


def test_a_bounded_job_does_not_end_while_a_table_is_held() -> None:
    fast, slow = Log({A0: 9}, stops={A0: 9}), Log({B0: 5}, stops={B0: 9})
    job = Job([fast, slow], [table(drift=10), table(drift=10)], [(0, 1)])
    fast.ends[A0] = 5
    job.run({A0: 100 * SECOND, B0: 80 * SECOND})
    job.run()
    fast.ends[A0] = 9
    assert job.run() is None
    slow.ends[B0] = 9
    assert job.run({B0: 90 * SECOND}) is not None
    assert job.run({A0: 100 * SECOND}) is not None
    assert not job.batch.final
    while not job.batch.final:
        assert job.run() is not None
    assert job.run() is None
