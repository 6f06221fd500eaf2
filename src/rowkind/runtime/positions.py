"""Where an input table's partitions start, stop and end, asked of its cluster."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from datetime import timedelta

from rowkind.catalog.kafka_table import KafkaTable
from rowkind.catalog.modes import OnDataLoss, OnMissingTopic
from rowkind.errors import RowkindError, nearest
from rowkind.kafka.api_versions import READING, api_versions, check_broker
from rowkind.kafka.cluster import Cluster
from rowkind.kafka.groups import commit_offsets
from rowkind.kafka.positions import Start, StartMode, Stop, StopMode, resolve_new, resolve_start, resolve_stop
from rowkind.kafka.ranges import OffsetRange, Partition
from rowkind.runtime.batches import Offsets, TopicPartition

LOOK_AGAIN = timedelta(seconds=1)
"""How often to look for a topic that does not exist yet."""

TYPING_MISTAKE = 0.85
"""How close another topic's name must be to be suggested: to wait for a new topic is no mistake in itself."""

_PERHAPS_GONE = frozenset({"UNKNOWN_TOPIC_OR_PART", "_UNKNOWN_PARTITION", "_NOENT"})


class KafkaPositions:
    """One input table's `TablePositions`."""

    def __init__(self, table: KafkaTable) -> None:
        self._table = table
        self._cluster = Cluster(table.properties)
        self._partitions: list[Partition] | None = None
        self._looked = time.monotonic()
        self._notes: list[str] = []
        self._awaited: list[str] = []
        """Topics that the user has been told the job waits for."""

    def start(self) -> Offsets:
        said, group = self._table.startup, self._table.group_id
        start = Start(StartMode(said.mode), said.timestamp, said.offsets, group, said.reset)
        partitions = self._now()
        check_broker(self._table.name, self._table.properties, [READING], api_versions(self._table.properties))
        found = resolve_start(self._cluster, start, partitions)
        self._notes += found.notes
        self._tell_missing(found.offsets)
        return dict(found.offsets)

    def stop(self) -> Offsets | None:
        said = self._table.bounded
        stop = Stop(StopMode(said.mode), said.timestamp, said.offsets, self._table.group_id)
        found = resolve_stop(self._cluster, stop, self._now())
        return None if found is None else dict(found.offsets)

    def discover(self, known: Iterable[TopicPartition]) -> Offsets:
        before = set(known)
        interval = LOOK_AGAIN if self._missing(before) else self._table.discovery_interval
        if interval is None or time.monotonic() - self._looked < interval.total_seconds():
            return {}
        self._looked = time.monotonic()
        fresh = sorted(set(self._find()) - before)
        self._tell_missing(before.union(fresh))
        return dict(resolve_new(self._cluster, fresh).offsets) if fresh else {}

    def end(self, partitions: Sequence[TopicPartition]) -> Offsets:
        try:
            return dict(self._cluster.ends(partitions)) if partitions else {}
        except RowkindError as error:
            if error.params.get("code") in _PERHAPS_GONE:
                self._check(partitions)
            raise

    def _check(self, partitions: Sequence[TopicPartition]) -> None:
        """That they are all there still."""
        there = set(self._find())
        if gone := [p for p in partitions if p not in there]:
            raise RowkindError("NO_SUCH_TOPIC", topic=gone[0].topic, suggestion="; it was there when the job began")

    def ids(self, topics: Iterable[str]) -> dict[str, str]:
        return self._cluster.topic_ids(sorted(topics))

    def restarted(self, beyond: Offsets, anew: frozenset[str]) -> Offsets:
        # Under read_committed a position may be past the last stable offset for a while; the log itself goes on.
        high = self._cluster.ends(beyond, stable=False)
        gone = {p: at for p, at in beyond.items() if at > high[p] or p.topic in anew}
        if gone and self._table.scan.on_data_loss is OnDataLoss.FAIL:
            partition, wanted = next(iter(sorted(gone.items())))
            raise RowkindError("TOPIC_CREATED_AGAIN", **partition._asdict(), wanted=wanted, available=high[partition])
        self._notes += [
            f"Topic '{topic}' was deleted and created again; it is read from its beginning."
            for topic in sorted({p.topic for p in gone})
        ]
        return dict(self._cluster.beginnings(gone))

    def expect(self, ranges: Sequence[OffsetRange]) -> None:
        if self._table.scan.on_data_loss is OnDataLoss.CONTINUE:
            return  # whoever reads counts what is gone
        beginnings = self._cluster.beginnings(Partition(r.topic, r.partition) for r in ranges)
        for wanted in ranges:
            available = beginnings[Partition(wanted.topic, wanted.partition)]
            if available > wanted.start:
                place = {"topic": wanted.topic, "partition": wanted.partition, "wanted": wanted.start}
                raise RowkindError("KAFKA_DATA_LOSS", **place, until=wanted.until, available=available)

    def commit(self, offsets: Offsets) -> None:
        """Have the table's group, if it has one, show these as the next offsets to read."""
        commit_offsets(self._cluster, offsets)

    def take_notes(self) -> list[str]:
        taken, self._notes = self._notes, []
        return taken

    def _now(self) -> list[Partition]:
        if self._partitions is None:
            self._partitions = self._find()
        return self._partitions

    def _find(self) -> list[Partition]:
        if self._table.topic_pattern is not None:
            return self._cluster.matching(self._table.topic_pattern)
        if self._table.scan.on_missing_topic is OnMissingTopic.FAIL:
            return self._cluster.partitions(self._table.topics)
        found = self._cluster.existing(self._table.topics)
        return [Partition(topic, number) for topic in self._table.topics for number in found.get(topic, ())]

    def _missing(self, known: Iterable[TopicPartition]) -> list[str]:
        """The topics that the table names and that have no partition yet."""
        there = {p.topic for p in known}
        return [topic for topic in self._table.topics if topic not in there]

    def _tell_missing(self, known: Iterable[TopicPartition]) -> None:
        """Say once of each topic that the job waits for it, and once that it is there."""
        missing = self._missing(known)
        for topic in (t for t in missing if t not in self._awaited):
            close = nearest(topic, self._cluster.topics(), TYPING_MISTAKE) or "."
            self._notes.append(f"Table '{self._table.name}' waits for topic '{topic}', which does not exist yet{close}")
        self._notes += [f"Topic '{topic}' is there now." for topic in self._awaited if topic not in missing]
        self._awaited = missing
