"""Consumers kept open between batches: a worker that goes on with a partition finds its messages already fetched."""

from __future__ import annotations

from dataclasses import dataclass

from rowkind.connectors.kafka.bulk_fetching import BulkFetcher, in_bulk
from rowkind.connectors.kafka.clients import Properties
from rowkind.connectors.kafka.fetching import Fetched, Fetcher, MessageFetcher, ReadFields
from rowkind.connectors.kafka.kept_clients import KeptClients
from rowkind.connectors.kafka.ranges import OffsetRange, Partition

LIMIT = 16
"""Consumers kept in one process. Each holds up to its queue's bound in memory."""
IDLE_SECONDS = 300.0

Key = tuple[frozenset[tuple[str, str]], Partition, ReadFields]


@dataclass(slots=True)
class KeptConsumer:
    """A consumer of one partition. `carry` holds messages that were fetched past the last range's end."""

    fetcher: Fetcher
    partition: Partition
    fields: ReadFields
    next: int
    carry: Fetched | None = None

    def fetch(self, limit: int, seconds: float) -> Fetched:
        """Messages that were carried over come first."""
        carry = self.carry
        if carry is None:
            return self.fetcher.fetch(limit, seconds)
        self.carry = carry[limit:] if len(carry) > limit else None
        return carry[:limit]

    def carry_over(self, surplus: Fetched) -> None:
        """What was fetched past the end of a range, for the next one."""
        if self.carry is not None:
            surplus = surplus.followed_by(self.carry)
        self.carry = surplus if len(surplus) else None

    def close(self) -> None:
        self.fetcher.close()


def opened(partition: Partition, offset: int, properties: Properties, fields: ReadFields) -> KeptConsumer:
    """A new consumer at an offset.

    One that stands elsewhere is not moved there: for a moment it still tells its old position, which is taken for the
    end of a range, and it first waits for the fetch that is under way.
    """
    kind = BulkFetcher if in_bulk(properties, fields) else MessageFetcher
    return KeptConsumer(kind(properties, partition, offset, fields), partition, fields, offset)


kept_consumers: KeptClients[Key, KeptConsumer] = KeptClients(LIMIT, KeptConsumer.close, IDLE_SECONDS)


def take(range: OffsetRange, properties: Properties, fields: ReadFields) -> KeptConsumer:
    """The consumer that stands at the range's start, for the caller alone; it is given back or dropped."""
    partition = Partition(range.topic, range.partition)
    kept = kept_consumers.take(_key(partition, properties, fields))
    if kept is not None and kept.next == range.start:
        return kept
    if kept is not None:
        kept.close()
    return opened(partition, range.start, properties, fields)


def give_back(kept: KeptConsumer, properties: Properties) -> None:
    """Keep a consumer for the next batch."""
    kept_consumers.keep(_key(kept.partition, properties, kept.fields), kept)


def _key(partition: Partition, properties: Properties, fields: ReadFields) -> Key:
    return frozenset(properties.items()), partition, fields
