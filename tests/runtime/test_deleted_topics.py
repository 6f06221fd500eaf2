"""A topic that is deleted while a job reads it: left where the table allows it, and forgotten."""

from __future__ import annotations

from rowkind.connectors.contract import Offer, Split, Waiting
from rowkind.connectors.kafka.ranges import OffsetRange, Partition
from rowkind.runtime.driver.batch_entry import Batch
from rowkind.runtime.driver.watermark_tracking import Account, Mark, Watermarks
from tests.runtime.tables import APPEND, table
from tests.runtime.test_batch_planner import Log, entry_of, planner, ranges, until

MONDAY, TUESDAY = Partition("monday", 0), Partition("tuesday", 0)


class Shrinking(Log):
    """Partitions may go away."""

    def end(self, partitions: object) -> dict[Partition, int]:
        return dict(self.ends)


def left(entry: Batch) -> int:
    """How many topics are left behind."""
    return int(entry.inputs[0].counts.get("topics-deleted", 0))


def test_the_others_go_on_without_it() -> None:
    log = Shrinking({MONDAY: 5, TUESDAY: 5})
    first = entry_of(planner(log).next(None))
    assert left(first) == 0
    log.ends = {TUESDAY: 9}
    second = entry_of(planner(log).next(first))
    assert left(second) == 1
    assert until(second) == {TUESDAY: 9}
    assert second.inputs[0].until["topics"] == {"tuesday": "first"}
    assert ranges(second) == {OffsetRange("tuesday", 0, 5, 9)}
    assert planner(log).next(second) is None


def test_it_is_told_at_once_even_when_there_is_nothing_to_read() -> None:
    log = Shrinking({MONDAY: 5})
    first = entry_of(planner(log).next(None))
    log.ends = {}
    second = entry_of(planner(log).next(first))
    assert (left(second), ranges(second), until(second)) == (1, set(), {})
    assert planner(log).next(second) is None


def test_a_partition_that_is_gone_is_not_a_deleted_topic() -> None:
    log = Shrinking({MONDAY: 5, Partition("monday", 1): 5})
    first = entry_of(planner(log).next(None))
    log.ends = {MONDAY: 6}
    second = entry_of(planner(log).next(first))
    assert (left(second), until(second)) == (0, {MONDAY: 6})


def test_watermarks_of_deleted_topics_are_forgotten() -> None:
    account = Account([{Split(*MONDAY): Mark(1, 1), Split(*TUESDAY): Mark(2, 2)}])
    watermarks = Watermarks([table("id INT", APPEND)], [(0,)], account)
    moved = watermarks.next({}, [Offer({Split(*TUESDAY): Waiting(0)}, False)], 3)
    assert (moved, account.marks) == ({"0": 2}, [{Split(*TUESDAY): Mark(2, 2)}])
