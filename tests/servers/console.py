"""Kafka's own console consumer, from the broker's jars: a reader that shares no code with librdkafka."""

from __future__ import annotations

import os
import re
import subprocess

from rowkind.broker.broker import LOGGING, classpath
from rowkind.broker.class_archive import reading
from rowkind.broker.java import require_java
from tests.kafka_client import Record

CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
FIELDS = ("partition", "offset", "key", "value")
SEPARATOR, NULL, END = "\x1f", "\x01", "\x1e"


def console_consume(bootstrap: str, topic: str, messages: int, isolation: str = "read_committed") -> list[Record]:
    """The first messages of a topic as text, by partition and offset; waits until there are that many."""
    shown = [f"print.{field}=true" for field in FIELDS]
    formatter = [*shown, f"key.separator={SEPARATOR}", f"null.literal={NULL}", f"line.separator={END}"]
    options = ["--bootstrap-server", bootstrap, "--topic", topic, "--from-beginning"]
    options += ["--max-messages", str(messages), "--isolation-level", isolation]
    options += [word for setting in formatter for word in ("--formatter-property", setting)]
    done = subprocess.run(
        [str(require_java()), "-Xmx256m", "-XX:TieredStopAtLevel=1", *reading(), LOGGING, CONSUMER, *options],
        env={**os.environ, "CLASSPATH": classpath()},
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr.decode("utf-8", "replace"))
    lines = done.stdout.decode("utf-8").split(END)[:-1]
    return sorted((_record(line, topic) for line in lines), key=lambda record: (record.partition, record.offset))


def _record(line: str, topic: str) -> Record:
    partition, offset, key, value = line.split(SEPARATOR)
    at = int(partition.removeprefix("Partition:")), int(offset.removeprefix("Offset:"))
    return Record(_bytes(key), _bytes(value), *at, topic=topic)


def _bytes(text: str) -> bytes | None:
    return None if text == NULL else text.encode()


def console_count(bootstrap: str, topic: str, messages: int) -> int:
    """How many messages the Java consumer gets from the beginning, when asked for that many and no more come."""
    options = ["--bootstrap-server", bootstrap, "--topic", topic, "--from-beginning", "--timeout-ms", "30000"]
    options += ["--max-messages", str(messages), "--isolation-level", "read_committed"]
    options += ["--formatter-property", "print.value=false"]
    done = subprocess.run(
        [str(require_java()), "-Xmx256m", LOGGING, CONSUMER, *options],
        env={**os.environ, "CLASSPATH": classpath()},
        capture_output=True,
        check=False,
    )
    said = re.search(r"Processed a total of (\d+) messages", done.stderr.decode("utf-8", "replace"))
    if said is None:
        raise RuntimeError(done.stderr.decode("utf-8", "replace"))
    return int(said[1])
