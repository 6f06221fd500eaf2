"""`rowkind topic`: make topics and look into them, without another tool."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rowkind.cli.layouts import LAYOUTS, Format, OutputFormat, print_all, texts
from rowkind.cli.run import pairs
from rowkind.errors import RowkindError

if TYPE_CHECKING:
    from confluent_kafka import Message

    from rowkind.connectors.kafka.cluster import Cluster
    from rowkind.connectors.kafka.ranges import Partition

app = typer.Typer(help="Make topics, and look into them.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(metavar="TOPIC", help="The topic.")]
Brokers = Annotated[str, typer.Option("--brokers", metavar="HOST:PORT", help="Addresses of brokers.")]
Properties = Annotated[
    list[str] | None, typer.Option("--property", metavar="KEY=VALUE", help="A property of Kafka's clients.")
]
LOCAL = "localhost:9092"
TITLES = ("partition", "offset", "time", "key", "value")
AT_ONCE = 10_000


def _properties(brokers: str, given: list[str] | None) -> dict[str, str]:
    return {"bootstrap.servers": brokers, "default.api.timeout.ms": "10000", **pairs(given)}


def _cluster(brokers: str, given: list[str] | None) -> Cluster:
    from rowkind.connectors.kafka.cluster import Cluster

    return Cluster(_properties(brokers, given))


@app.command()
def create(
    name: Name,
    partitions: Annotated[int, typer.Option(help="Partitions; -1 leaves it to the broker.")] = -1,
    replication: Annotated[int, typer.Option(help="Copies of each partition; -1 leaves it to the broker.")] = -1,
    compact: Annotated[bool, typer.Option("--compact", help="Keep the last message of every key.")] = False,
    config: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="A setting of the topic.")] = None,
    brokers: Brokers = LOCAL,
    property: Properties = None,
) -> None:
    """Make a topic; one that is there already is an error."""
    settings = ({"cleanup.policy": "compact"} if compact else {}) | pairs(config)
    if not _cluster(brokers, property).create_topic(name, partitions, replication, settings):
        raise RowkindError("TOPIC_EXISTS", topic=name)
    print(f"Topic {name} is made.")


@app.command("list")
def list_(format: Format = OutputFormat.TABLE, brokers: Brokers = LOCAL, property: Properties = None) -> None:
    """All topics, with their partitions and how many offsets they span."""
    from rowkind.connectors.kafka.ranges import Partition

    cluster = _cluster(brokers, property)
    topics = cluster.topics()
    places = [Partition(topic, number) for topic, numbers in topics.items() for number in numbers]
    first, end = cluster.beginnings(places), cluster.ends(places, stable=False)
    spans = {t: sum(end[Partition(t, p)] - first[Partition(t, p)] for p in numbers) for t, numbers in topics.items()}
    rows = [(t, str(len(topics[t])), str(spans[t])) for t in sorted(topics) if not t.startswith("__")]
    print_all(("topic", "partitions", "offsets"), rows, format)


@app.command()
def describe(
    name: Name, format: Format = OutputFormat.TABLE, brokers: Brokers = LOCAL, property: Properties = None
) -> None:
    """The partitions of a topic, and its settings that matter to tables."""
    cluster = _cluster(brokers, property)
    places = cluster.partitions([name])
    first, end = cluster.beginnings(places), cluster.ends(places, stable=False)
    print_all(("partition", "first", "end"), [(str(p.partition), str(first[p]), str(end[p])) for p in places], format)
    settings = cluster.topic_config(name)
    kept = ("cleanup.policy", "retention.ms", "retention.bytes", "delete.retention.ms", "max.message.bytes")
    print_all(("setting", "value"), [(key, settings[key]) for key in kept if key in settings], format)


@app.command()
def produce(
    name: Name,
    separator: Annotated[str, typer.Option(help="Stands between key and value of a line.")] = "\t",
    brokers: Brokers = LOCAL,
    property: Properties = None,
) -> None:
    """Write the lines of standard input: a value, or a key, a tab and a value. A key without a value is a tombstone."""
    from rowkind.connectors.kafka.clients import named, open_producer

    properties = _properties(brokers, property)
    _cluster(brokers, property).partitions([name])  # a misspelt topic is an error, not a new topic
    producer, reports = open_producer({"delivery.timeout.ms": "30000", **properties})
    failures: list[Any] = []
    written = 0
    for key, value in _messages(sys.stdin.buffer, separator.encode()):
        _sent(producer, lambda: producer.produce(name, key=key, value=value, on_delivery=_noting(failures)))  # noqa: B023
        written += 1
    producer.flush()
    if failures:
        raise named(failures[0], properties, f"writing to topic '{name}'", reports.errors)
    print(f"{written:,} messages are in {name}.")


def _messages(lines: Iterable[bytes], separator: bytes) -> Iterator[tuple[bytes | None, bytes | None]]:
    """Keys and values of lines; an empty line is nothing.

    >>> list(_messages([b'{"a":1}\\n', b'k\\tv\\n', b'k\\t\\n', b'\\n'], b'\\t'))
    [(None, b'{"a":1}'), (b'k', b'v'), (b'k', None)]
    """
    for line in lines:
        text = line.rstrip(b"\r\n")
        key, found, value = text.partition(separator)
        if found:
            yield key, value or None
        elif text:
            yield None, text


def _sent(producer: Any, send: Callable[[], None]) -> None:
    while True:
        try:
            send()
            producer.poll(0)
            return
        except BufferError:
            producer.poll(1)


def _noting(failures: list[Any]) -> Callable[[Any, Any], None]:
    def note(error: Any, message: Any) -> None:
        if error is not None:
            failures.append(error)

    return note


@app.command()
def consume(
    name: Name,
    last: Annotated[int | None, typer.Option(metavar="N", help="Only the last N of each partition.")] = None,
    follow: Annotated[bool, typer.Option("--follow", help="Go on as messages come, until Ctrl-C.")] = False,
    format: Format = OutputFormat.TABLE,
    brokers: Brokers = LOCAL,
    property: Properties = None,
) -> None:
    """Show the messages of a topic; nothing is committed. What is not text is shown as bytes: x'00ff'."""
    from rowkind.connectors.kafka.clients import open_consumer

    properties = _properties(brokers, property)
    cluster = _cluster(brokers, property)
    places = cluster.partitions([name])
    starts, ends = cluster.beginnings(places), cluster.ends(places)
    if last is not None:
        starts = {p: max(starts[p], ends[p] - last) for p in places}
    consumer, _ = open_consumer({**properties, "group.id": "rowkind-topic"})
    layout = LAYOUTS[format]()
    layout.begin(texts(TITLES), sys.stdout)
    with suppress(KeyboardInterrupt):
        for messages in _read(consumer, starts, None if follow else ends):
            layout.rows([_row(m) for m in messages])
            sys.stdout.flush()
    layout.end()
    consumer.close()


def _read(consumer: Any, starts: dict[Partition, int], ends: dict[Partition, int] | None) -> Iterator[list[Message]]:
    """What is in the partitions, batch after batch: up to the ends, or for ever."""
    from confluent_kafka import TopicPartition

    consumer.assign([TopicPartition(p.topic, p.partition, start) for p, start in starts.items()])
    while ends is None or any(_at(consumer, p, starts[p]) < end for p, end in ends.items()):
        found = [m for m in consumer.consume(AT_ONCE, timeout=0.2) if m.error() is None]
        if ends is not None:
            limits = {p.partition: end for p, end in ends.items()}
            found = [m for m in found if m.offset() < limits[m.partition()]]
        if found:
            yield found


def _at(consumer: Any, partition: Partition, start: int) -> int:
    """The next offset of a partition: behind what was read, and behind markers and holes of compaction, too."""
    from confluent_kafka import TopicPartition

    [place] = consumer.position([TopicPartition(partition.topic, partition.partition)])
    return int(place.offset) if place.offset >= 0 else start


def _row(message: Any) -> tuple[object, ...]:
    time = datetime.fromtimestamp(message.timestamp()[1] / 1000, UTC).isoformat(timespec="milliseconds")
    return message.partition(), message.offset(), time, _text(message.key()), _text(message.value())


def _text(payload: bytes | None) -> str | bytes | None:
    """Text where it is text; NULL of a tombstone."""
    if payload is None:
        return None
    try:
        return payload.decode("utf-8")
    except UnicodeDecodeError:
        return payload
