"""Partitioners, and the hash that Java's producer uses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from rowkind.connectors.kafka.partitioners import default_partition, murmur2, partitioner_named
from rowkind.errors import RowkindError

HASHES = [
    (b'{"word":"good"}', -488964655, (1, 1, 1, 1)),
    (b'{"word":"study"}', 227396923, (1, 1, 3, 3)),
    (b'{"word":"day"}', 182185670, (0, 2, 2, 6)),
    (b'{"word":"up"}', -438740872, (0, 1, 0, 0)),
    (b'{"word":"boy"}', 213356709, (1, 0, 1, 5)),
    (b'{"user_id":100}', 1418742539, (1, 2, 3, 3)),
    (b'{"user_id":101}', -679952119, (1, 1, 1, 1)),
    (b'{"user_id":102}', 1989187820, (0, 2, 0, 4)),
    (b'{"user_id":103}', 212609552, (0, 2, 0, 0)),
    (b'{"user_id":104}', 1501298921, (1, 2, 1, 1)),
    (b'{"user_id":105}', 2017819498, (0, 1, 2, 2)),
    (b'{"event_id":100,"user_id":1}', -2010822347, (1, 0, 1, 5)),
    (b'{"event_id":101,"user_id":2}', -192720063, (1, 2, 1, 1)),
    (b'{"event_id":102,"user_id":3}', 1339814632, (0, 1, 0, 0)),
    (b'{"id":1}', -56768732, (0, 0, 0, 4)),
    (b'{"id":2}', -1705675864, (0, 1, 0, 0)),
    (b'{"id":3}', -671347997, (1, 0, 3, 3)),
]
"""Key, its hash as Java prints it, and the key's place among 2, 3, 4 and 8 partitions."""


class ByLength:
    """A user's own partitioner."""

    def open(self, task: int, tasks: int) -> None:
        self.tasks = tasks

    def partition(self, row: Any, key: bytes | None, value: bytes | None, topic: str, partitions: Sequence[int]) -> int:
        return partitions[len(key or b"") % len(partitions)]


class NoPartitioner:
    pass


@pytest.mark.parametrize(("key", "java", "places"), HASHES)
def test_murmur2(key: bytes, java: int, places: tuple[int, ...]) -> None:
    assert murmur2(key) == java % 2**32
    assert tuple(default_partition(key, count) for count in (2, 3, 4, 8)) == places


def test_default_is_left_to_the_client() -> None:
    assert partitioner_named("default") is None
    assert partitioner_named("DEFAULT") is None


def chosen(name: str, task: int, count: int) -> list[int]:
    partitioner = partitioner_named(name)
    assert partitioner is not None
    partitioner.open(task, 4)
    return [partitioner.partition(None, b"k", b"v", "t", range(3)) for _ in range(count)]


def test_fixed_gives_each_task_one_partition() -> None:
    assert [chosen("fixed", task, 2) for task in range(4)] == [[0, 0], [1, 1], [2, 2], [0, 0]]


def test_round_robin_rotates() -> None:
    assert chosen("Round-Robin", 0, 4) == [0, 1, 2, 0]
    assert chosen("round-robin", 2, 4) == [2, 0, 1, 2]


@pytest.mark.parametrize("separator", [":", "."])
def test_a_class_of_the_users_own(separator: str) -> None:
    assert isinstance(partitioner_named(f"{__name__}{separator}ByLength"), ByLength)


@pytest.mark.parametrize(
    ("name", "condition"),
    [
        ("", "PARTITIONER_NOT_FOUND"),
        ("random", "PARTITIONER_NOT_FOUND"),
        ("no.such.module:Mine", "PARTITIONER_NOT_FOUND"),
        (f"{__name__}:Missing", "PARTITIONER_NOT_FOUND"),
        ("org.apache.flink.My$Partitioner", "PARTITIONER_NOT_FOUND"),
        (f"{__name__}:NoPartitioner", "PARTITIONER_WRONG_KIND"),
    ],
)
def test_wrong_names(name: str, condition: str) -> None:
    with pytest.raises(RowkindError) as caught:
        partitioner_named(name)
    assert caught.value.condition == condition
