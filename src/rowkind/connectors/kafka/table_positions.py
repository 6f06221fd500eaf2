"""Where an input table's partitions start, stop and end, asked of its cluster."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from datetime import timedelta

from rowkind.connectors.kafka.api_versions import READING, api_versions, check_broker
from rowkind.connectors.kafka.cluster import Cluster
from rowkind.connectors.kafka.groups import commit_offsets
from rowkind.connectors.kafka.positions import (
    Start,
    StartMode,
    Stop,
    StopMode,
    resolve_new,
    resolve_start,
    resolve_stop,
)
from rowkind.connectors.kafka.ranges import OffsetRange, Partition
from rowkind.connectors.kafka.sampling import message_bytes
from rowkind.connectors.kafka.source import Offsets
from rowkind.connectors.kafka.source_options import OnDataLoss, OnMissingTopic
from rowkind.connectors.kafka.topic_table import TopicTable
from rowkind.errors import RowkindError, nearest

LOOK_AGAIN = timedelta(seconds=1)
"""How often to look for a topic that does not exist yet."""

TYPING_MISTAKE = 0.85
"""How close another topic's name must be to be suggested: to wait for a new topic is no mistake in itself."""

_PERHAPS_GONE = frozenset({"UNKNOWN_TOPIC_OR_PART", "_UNKNOWN_PARTITION", "_NOENT"})


class KafkaPositions:
    """One input table's `TablePositions`."""

    def __init__(self, table: TopicTable) -> None:
        self._table = table
        self._cluster = Cluster(table.properties)
        self._partitions: list[Partition] | None = None
        self._looked = time.monotonic()
        self._notes: list[str] = []
        self._awaited: list[str] = []
        """Topics that the user has been told the job waits for."""

    def start(self) -> Offsets:
        said, group = self._table.reading.startup, self._table.group_id
        start = Start(StartMode(said.mode), said.timestamp, said.offsets, group, said.reset)
        partitions = self._now()
        check_broker(self._table.name, self._table.properties, [READING], api_versions(self._table.properties))
        found = resolve_start(self._cluster, start, partitions)
        self._notes += found.notes
        self._tell_missing(found.offsets)
        return dict(found.offsets)

    def stop(self) -> Offsets | None:
        said = self._table.reading.bounded
        stop = Stop(StopMode(said.mode), said.timestamp, said.offsets, self._table.group_id)
        found = resolve_stop(self._cluster, stop, self._now())
        return None if found is None else dict(found.offsets)

    def discover(self, known: Iterable[Partition]) -> Offsets:
        before = set(known)
        interval = LOOK_AGAIN if self._missing(before) else self._table.reading.discovery_interval
        if interval is None or time.monotonic() - self._looked < interval.total_seconds():
            return {}
        self._looked = time.monotonic()
        fresh = sorted(set(self._there()) - before)
        self._tell_missing(before.union(fresh))
        return dict(resolve_new(self._cluster, fresh).offsets) if fresh else {}

    def end(self, partitions: Sequence[Partition]) -> Offsets:
        try:
            return dict(self._cluster.ends(partitions)) if partitions else {}
        except RowkindError as error:
            left = self._without_deleted(partitions, error)
        return dict(self._cluster.ends(left))

    def _without_deleted(self, partitions: Sequence[Partition], error: RowkindError) -> list[Partition]:
        """Those that are there still, if that is what the error came from and the table goes on without the others."""
        there = self._still_there(partitions) if error.params.get("code") in _PERHAPS_GONE else set(partitions)
        gone = [p for p in partitions if p not in there]
        if not gone:
            raise error
        if not self._table.leaves_deleted_topics:
            raise RowkindError("NO_SUCH_TOPIC", topic=gone[0].topic, suggestion="; it was there when the job began")
        name = self._table.name
        for topic in sorted({p.topic for p in gone}):
            self._notes.append(f"Table '{name}': topic '{topic}' was deleted; the job goes on without it.")
        return [p for p in partitions if p in there]

    def _still_there(self, partitions: Iterable[Partition]) -> set[Partition]:
        return set(self._existing(sorted({p.topic for p in partitions})))

    def ids(self, topics: Iterable[str]) -> dict[str, str]:
        return self._cluster.topic_ids(sorted(topics))

    def restarted(self, beyond: Offsets, anew: frozenset[str]) -> Offsets:
        # Under read_committed a position may be past the last stable offset for a while; the log itself goes on.
        high = self._cluster.ends(beyond, stable=False)
        gone = {p: at for p, at in beyond.items() if at > high[p] or p.topic in anew}
        left = anew if self._table.leaves_deleted_topics else frozenset()
        lost = sorted((p, at) for p, at in gone.items() if p.topic not in left)
        if lost and self._table.reading.on_data_loss is OnDataLoss.FAIL:
            partition, wanted = lost[0]
            raise RowkindError("TOPIC_CREATED_AGAIN", **partition._asdict(), wanted=wanted, available=high[partition])
        self._notes += [
            f"Topic '{topic}' was deleted and created again; it is read from its beginning."
            for topic in sorted({p.topic for p in gone})
        ]
        return dict(self._cluster.beginnings(gone))

    def expect(self, ranges: Sequence[OffsetRange]) -> None:
        if self._table.reading.on_data_loss is OnDataLoss.CONTINUE:
            return  # whoever reads counts what is gone
        try:
            beginnings = self._cluster.beginnings(Partition(r.topic, r.partition) for r in ranges)
        except RowkindError as error:
            if self._table.leaves_deleted_topics and error.params.get("code") in _PERHAPS_GONE:
                return  # deleted just now: whoever reads leaves it
            raise
        for wanted in ranges:
            available = beginnings[Partition(wanted.topic, wanted.partition)]
            if available > wanted.start:
                place = {"topic": wanted.topic, "partition": wanted.partition, "wanted": wanted.start}
                raise RowkindError("KAFKA_DATA_LOSS", **place, until=wanted.until, available=available)

    def message_bytes(self, waiting: Sequence[OffsetRange]) -> int | None:
        return message_bytes(self._table.properties, waiting)

    def commit(self, offsets: Offsets) -> None:
        """Have the table's group, if it has one, show these as the next offsets to read."""
        try:
            commit_offsets(self._cluster, offsets)
        except RowkindError as error:
            if error.params.get("code") not in _PERHAPS_GONE:
                raise
            there = self._still_there(offsets)  # the next plan tells of the others
            commit_offsets(self._cluster, {p: at for p, at in offsets.items() if p in there})

    def take_notes(self) -> list[str]:
        taken, self._notes = self._notes, []
        return taken

    def _now(self) -> list[Partition]:
        if self._partitions is None:
            self._partitions = self._find()
        return self._partitions

    def _there(self) -> list[Partition]:
        """What exists now, even without a topic that the table names."""
        if self._table.topic_pattern is not None:
            return self._cluster.matching(self._table.topic_pattern)
        return self._existing(self._table.topics)

    def _find(self) -> list[Partition]:
        """What a job starts with."""
        if self._table.topic_pattern is None and self._table.reading.on_missing_topic is OnMissingTopic.FAIL:
            return self._cluster.partitions(self._table.topics)
        return self._there()

    def _existing(self, topics: Sequence[str]) -> list[Partition]:
        found = self._cluster.existing(topics)
        return [Partition(topic, number) for topic in topics for number in found.get(topic, ())]

    def _missing(self, known: Iterable[Partition]) -> list[str]:
        """The topics that the table names and that have no partition yet."""
        there = {p.topic for p in known}
        return [topic for topic in self._table.topics if topic not in there]

    def _tell_missing(self, known: Iterable[Partition]) -> None:
        """Say once of each topic that the job waits for it, and once that it is there."""
        missing = self._missing(known)
        for topic in (t for t in missing if t not in self._awaited):
            close = nearest(topic, self._cluster.topics(), TYPING_MISTAKE) or "."
            self._notes.append(f"Table '{self._table.name}' waits for topic '{topic}', which does not exist yet{close}")
        self._notes += [f"Topic '{topic}' is there now." for topic in self._awaited if topic not in missing]
        self._awaited = missing
