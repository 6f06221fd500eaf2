"""What a broker can do, by the requests and versions that it answers with, and what a table needs of it.

librdkafka asks every broker for them and does not pass them on, but its debug log lists them: a client that lives for
one question reads them there. That way they come through whatever login the cluster asks for.
"""

from __future__ import annotations

import contextlib
import logging
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from rowkind.connectors.kafka.clients import Properties, servers
from rowkind.connectors.kafka.properties import admin_config
from rowkind.errors import RowkindError

SECONDS = 10.0
Versions = Mapping[str, int]
"""The highest version of each request that a broker has; those that it does not have are not there."""

_LISTED = re.compile(r"ApiKey (\w+) \(\d+\) Versions \d+\.\.(\d+)")


@dataclass(frozen=True, slots=True)
class Need:
    """A feature, the least version of each request that it needs, and the Kafka release that brought them."""

    feature: str
    since: str
    requests: Versions
    instead: str
    """What to switch off, or to do."""


READING = Need(
    "reading",
    "0.11",
    {"Fetch": 4, "ListOffsets": 2},
    "There is nothing to switch off: messages of today's form cannot be read from this broker.",
)
WRITING = Need(
    "writing",
    "0.11",
    {"Produce": 3},
    "There is nothing to switch off: messages of today's form cannot be written to this broker.",
)
IDEMPOTENCE = Need(
    "idempotent producers",
    "0.11",
    {"InitProducerId": 0},
    "Set 'properties.enable.idempotence' = 'false'; a retry may then write a message twice or out of order.",
)
ZSTD = Need("zstd compression", "2.1", {"Produce": 7}, "Choose another 'properties.compression.type'.")
BROKER_DEFAULTS = Need(
    "creating a topic with the broker's own number of partitions and replicas",
    "2.4",
    {"CreateTopics": 4},
    "Set 'sink.topic.partitions' and 'sink.topic.replication-factor', or create the topic.",
)
EXACTLY_ONCE = Need(
    # Only such brokers hold back the marker of a transaction whose end is under way: an older one would tell the marker
    # before, and the batch would be written again.
    "exactly-once",
    "2.5",
    {"InitProducerId": 3, "AddOffsetsToTxn": 0, "TxnOffsetCommit": 3, "EndTxn": 0, "OffsetFetch": 7},
    "Set 'sink.delivery-guarantee' = 'at-least-once'.",
)


def api_versions(properties: Properties) -> Versions:
    """The requests of the broker that answers first, with their highest versions; nothing when none answers."""
    lines: list[str] = []
    log = logging.Logger("rowkind.kafka.versions")
    log.addHandler(_Gathering(lines))
    config = {**admin_config(properties).values, "debug": "feature", "log_level": 7}
    client = AdminClient(config, logger=log)
    deadline = time.monotonic() + SECONDS
    while not any(_LISTED.search(line) for line in lines) and time.monotonic() < deadline:
        with contextlib.suppress(KafkaException):
            client.list_topics(timeout=1)
        client.poll(0)  # the log is handed over here
    return {found[1]: int(found[2]) for line in lines if (found := _LISTED.search(line))}


def check_broker(table: str, properties: Properties, needs: Iterable[Need], found: Versions) -> None:
    """Raise for the first need that a broker does not meet; of a broker that told nothing nothing is asked."""
    for need in needs if found else ():
        for request, version in need.requests.items():
            if found.get(request, -1) < version:
                raise RowkindError(
                    "BROKER_TOO_OLD",
                    table=table,
                    servers=servers(properties),
                    feature=need.feature,
                    since=need.since,
                    request=request,
                    has=f"up to version {found[request]} of" if request in found else "no",
                    version=version,
                    instead=need.instead,
                )


class _Gathering(logging.Handler):
    def __init__(self, lines: list[str]) -> None:
        super().__init__()
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append(record.getMessage())
