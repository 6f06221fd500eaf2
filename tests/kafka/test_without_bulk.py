"""Reading and writing without librdkafka's bulk calls: the same tests, with every message through the Python client."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from rowkind.connectors.kafka import consumers, librdkafka
from rowkind.connectors.kafka.bulk_fetching import BulkFetcher
from rowkind.connectors.kafka.fetching import MessageFetcher, ReadFields
from rowkind.connectors.kafka.librdkafka import SWITCH
from rowkind.connectors.kafka.ranges import Partition
from tests.conftest import RUN_FOLDER
from tests.kafka.test_reader import (  # noqa: F401
    properties,
    test_batches_are_capped,
    test_consumers_are_kept_and_carry_what_they_read_too_much,
    test_every_metadata_column,
    test_payloads_tombstones_and_null_keys,
)
from tests.kafka.test_writer import (  # noqa: F401
    test_a_message_that_is_too_large,
    test_a_transactional_writer,
    test_keys_go_where_java_puts_them_and_keep_their_order,
    test_topic_partition_timestamp_and_headers,
)
from tests.kafka_client import KafkaClient, TopicFactory

pytestmark = pytest.mark.kafka


@pytest.fixture(autouse=True)
def switched_off(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    consumers.kept_consumers.close_all()
    monkeypatch.setenv(SWITCH, "off")
    yield
    consumers.kept_consumers.close_all()


def test_the_switch_decides(kafka: str, topic: TopicFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    name, kinds = topic(), []
    for switch in ("off", "on"):
        monkeypatch.setenv(SWITCH, switch)
        opened = consumers.opened(Partition(name, 0), 0, {"bootstrap.servers": kafka}, ReadFields())
        kinds.append(type(opened.fetcher))
        opened.close()
    assert kinds == [MessageFetcher, BulkFetcher]


def test_this_version_was_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SWITCH)
    assert librdkafka.usable()


_ANOTHER_LIBRARY = """
import logging
import sys
from confluent_kafka import cimpl
logging.basicConfig()
cimpl.__file__ = "libc.so.6"
from rowkind.connectors.kafka import librdkafka
from rowkind.connectors.kafka.ranges import OffsetRange
from rowkind.connectors.kafka.reader import read
address, topic = sys.argv[1:]
found = [value for batch in read(OffsetRange(topic, 0, 0, 3), {"bootstrap.servers": address})
         for value in batch.column("value").to_pylist()]
print(librdkafka.usable(), found)
"""


def test_a_library_without_the_symbols(kafka: str, topic: TopicFactory, kafka_client: KafkaClient) -> None:
    """A real library that has none of them, even where the switch trusts it."""
    name = topic()
    kafka_client.produce(name, [(b"k", b"%d" % number) for number in range(3)])
    command = [sys.executable, "-c", _ANOTHER_LIBRARY, kafka, name]
    ran = subprocess.run(command, env={**os.environ, SWITCH: "on"}, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False [b'0', b'1', b'2']"
    assert "rd_kafka_consume_batch_queue" in ran.stderr


@pytest.mark.matrix
def test_all_tests_of_kafka() -> None:
    command = [sys.executable, "-m", "pytest", "tests/kafka", "-q", "-n0", "-m", "not matrix"]
    command += ["--deselect", f"{__name__.replace('.', '/')}.py"]
    environment = {name: value for name, value in os.environ.items() if name != RUN_FOLDER}
    ran = subprocess.run(command, env={**environment, SWITCH: "off"}, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout[-5000:]
