"""Which partition a message is written to: `sink.partitioner`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

from rowkind.errors import RowkindError

DEFAULT = "default"


@runtime_checkable
class Partitioner(Protocol):
    """A class of your own for `sink.partitioner`, named as `module:Class` or `module.Class`, built without arguments.

    It lives in a Python worker. `open` is called once for each sink task and batch, `partition` then once a message,
    in the order of writing. A batch that is run again must be given the same partitions.
    """

    def open(self, task: int, tasks: int) -> None:
        """The number of this sink task, counted from 0, and how many there are."""
        ...

    def partition(
        self,
        row: Mapping[str, Any] | None,
        key: bytes | None,
        value: bytes | None,
        topic: str,
        partitions: Sequence[int],
    ) -> int:
        """One of `partitions`, which are all those of `topic`, ascending. `row` is None for a tombstone without one."""
        ...


class FixedPartitioner:
    """Every message of a task goes to one partition."""

    def open(self, task: int, tasks: int) -> None:
        self._task = task

    def partition(self, row: Any, key: Any, value: Any, topic: str, partitions: Sequence[int]) -> int:
        return partitions[self._task % len(partitions)]


class RoundRobinPartitioner:
    """Messages take the partitions of a topic in turn; tasks start at different ones."""

    def open(self, task: int, tasks: int) -> None:
        self._first = task
        self._written: dict[str, int] = {}

    def partition(self, row: Any, key: Any, value: Any, topic: str, partitions: Sequence[int]) -> int:
        written = self._written.get(topic, 0)
        self._written[topic] = written + 1
        return partitions[(self._first + written) % len(partitions)]


_BUILT_IN: dict[str, type[Partitioner]] = {"fixed": FixedPartitioner, "round-robin": RoundRobinPartitioner}


def partitioner_named(name: str) -> Partitioner | None:
    """The partitioner that `sink.partitioner` names; None for `default`, which is left to the client.

    The client's default hashes the key bytes as Java's does, and spreads messages without a key.
    """
    if name.strip().lower() == DEFAULT:
        return None
    return _BUILT_IN.get(name.strip().lower(), _OwnClass(name.strip()))()


class _OwnClass:
    """A user's class by name, imported when it is called."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self) -> Partitioner:
        module, _, attribute = self.name.partition(":") if ":" in self.name else self.name.rpartition(".")
        if not re.fullmatch(r"[\w.]+", module) or not attribute.isidentifier():
            raise self._not_found("it is neither default, fixed, round-robin nor module:Class")
        try:
            made = getattr(import_module(module), attribute)()
        except Exception as error:
            raise self._not_found(f"{type(error).__name__}: {error}") from error
        if not isinstance(made, Partitioner):
            raise RowkindError("PARTITIONER_WRONG_KIND", name=self.name)
        return made

    def _not_found(self, reason: str) -> RowkindError:
        return RowkindError("PARTITIONER_NOT_FOUND", name=self.name, reason=reason)


def murmur2(data: bytes) -> int:
    """Java's hash of a key, unsigned: what the default partitioner computes inside the client.

    >>> murmur2(b'{"id":1}') - 2**32
    -56768732
    """
    multiplier, mask = 0x5BD1E995, 0xFFFFFFFF
    whole = len(data) // 4 * 4
    result = 0x9747B28C ^ len(data)
    for at in range(0, whole, 4):
        word = int.from_bytes(data[at : at + 4], "little") * multiplier & mask
        word = (word ^ word >> 24) * multiplier & mask
        result = (result * multiplier & mask) ^ word
    if whole < len(data):
        result = (result ^ int.from_bytes(data[whole:], "little")) * multiplier & mask
    result = (result ^ result >> 13) * multiplier & mask
    return result ^ result >> 15


def default_partition(key: bytes, partitions: int) -> int:
    """Where the default partitioner puts a key.

    >>> default_partition(b'{"word":"study"}', 4)
    3
    """
    return (murmur2(key) & 0x7FFFFFFF) % partitions
