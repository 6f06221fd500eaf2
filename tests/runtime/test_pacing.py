"""The size of batches: fitted to the time that one should take."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkind.connectors.contract import Limits, Offer, Pace, Position, Share, Source, SourceContext, Split, Waiting
from rowkind.connectors.kafka.ranges import OffsetRange
from rowkind.connectors.kafka.sampling import message_bytes
from rowkind.runtime.driver.batch_entry import Batch, Input
from rowkind.runtime.driver.pacing import FIRST_ROWS, ROWS_PER_TASK, Pacing, adapted, paced
from tests.kafka_client import KafkaClient, TopicFactory
from tests.runtime.tables import APPEND, table

SECOND = timedelta(seconds=1)
MB = 1024 * 1024


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


class Some(Source):
    """A source of rows of one size."""

    def __init__(self, rows: int | None = None, tasks: int | None = None, size: int | None = None) -> None:
        self._limits = Limits(rows, 256 * MB, tasks)
        self._size = size
        self.asked = 0

    @property
    def limits(self) -> Limits:
        return self._limits

    def start(self) -> Position:
        return {}

    def offer(self, position: Position) -> Offer:
        return rows(0)

    def share(self, offer: Offer, pace: Pace, splittable: bool) -> Share:
        return Share((), {}, {})

    def row_bytes(self, offer: Offer) -> int | None:
        self.asked += 1
        return self._size


def rows(count: int) -> Offer:
    return Offer({Split("t", 0): Waiting(count)}, False)


def read(*counts: int) -> Batch:
    inputs = tuple(Input((), {}, {Split("t", 0): count}) for count in counts)
    return Batch(number=1, clock=0, inputs=inputs)


def test_each_table_has_its_own_pace_which_the_first_batch_does_not_change() -> None:
    open_, capped = Some(), Some(500, 3)
    pacing = Pacing(["a", "b"], [open_, capped], cores=2, interval=SECOND * 4)
    assert [(p.rows, p.tasks) for p in (pacing(0, rows(0)), pacing(1, rows(0)))] == [(FIRST_ROWS, 2), (500, 3)]
    full = read(FIRST_ROWS, 500)
    pacing.learn(full, SECOND * 60, Counter())
    assert pacing(0, rows(0)).rows == FIRST_ROWS
    pacing.learn(full, SECOND, Counter())
    assert [pacing(0, rows(0)).rows, pacing(1, rows(0)).rows] == [FIRST_ROWS * 4, 500]


def test_what_a_table_says_of_its_pace_comes_from_its_options() -> None:
    source = table("id INT", APPEND, scan_max__rows__per__batch="500", scan_parallelism="3")
    limits = source.source(SourceContext("", lambda function, arguments: [])).limits
    assert limits == Limits(500, 256 * MB, 3)


def test_few_large_messages_fill_a_batch_and_are_worth_a_task() -> None:
    def cut(*given: int) -> tuple[int, int, int]:
        found = paced(*given)
        return found.rows, found.tasks, found.rows_per_task

    assert cut(200_000, 2, 50_000, 256 * MB) == (5368, 2, 335)
    assert cut(200_000, 2, 10 * MB, 256 * MB) == (6, 2, 1)
    assert cut(200_000, 2, 300 * MB, 256 * MB) == (1, 2, 1)
    assert cut(200_000, 2, 100, 256 * MB) == (200_000, 2, ROWS_PER_TASK)


def test_batches_of_large_messages_follow_the_heap() -> None:
    assert [paced(200_000, 2, MB, 256 * MB, heap * MB).rows for heap in (512, 1024, 2048, 4096)] == [16, 32, 64, 64]
    assert paced(200_000, 2, 100, 256 * MB, 512 * MB).rows == 200_000, "small ones need no more than they did"


def test_the_size_of_messages_is_looked_at_before_the_first_batch_and_learned_from_then_on() -> None:
    source = Some(size=MB)
    pacing = Pacing(["t"], [source], 2)
    assert pacing(0, rows(5)).rows == FIRST_ROWS, "too few to matter"
    assert pacing(0, rows(9000)).rows == 64
    assert pacing(0, rows(9000)).rows == 64
    assert source.asked == 1
    pacing.learn(read(64), SECOND, Counter({"t.rows-read": 64, "t.bytes-read": 64 * 2 * MB}))
    assert pacing(0, rows(0)).rows == 32, "larger ones are believed at once"
    pacing.learn(read(64), SECOND, Counter({"t.rows-read": 64, "t.bytes-read": 64}))
    assert pacing(0, rows(0)).rows == 64, "smaller ones step by step"


@pytest.mark.kafka
def test_the_messages_that_wait_tell_their_size(kafka_client: KafkaClient, topic: TopicFactory) -> None:
    small, large = topic(), topic(**{"max.message.bytes": "20000000"})
    kafka_client.produce(small, [("key", "v" * 97)] * 500)
    kafka_client.produce(large, [(None, "v")] * 300)
    kafka_client.produce(large, [(None, b"v" * 5 * MB)] * 20, **{"message.max.bytes": 20_000_000})
    properties = {"bootstrap.servers": kafka_client.bootstrap}
    assert message_bytes(properties, [OffsetRange(small, 0, 0, 500)]) == 100
    assert (message_bytes(properties, [OffsetRange(large, 0, 0, 320)]) or 0) >= 4 * MB
    assert message_bytes(properties, [OffsetRange(large, 0, 0, 320), OffsetRange(small, 0, 0, 500)]) is not None
