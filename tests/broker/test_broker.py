"""A broker of one's own: started, stopped, killed and started again."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rowkind.broker import Broker
from rowkind.broker.process import wait_until
from rowkind.errors import RowkindError
from tests.kafka_client import KafkaClient, Record

pytestmark = pytest.mark.kafka

VALUES = [b"1", b"2"]


@pytest.fixture(scope="module")
def own() -> Iterator[Broker]:
    """A broker that the tests of this file may kill."""
    with Broker.start(listeners=["SASL_PLAINTEXT"], config=PLAIN_LOGIN | OFTEN) as broker:
        yield broker


OFTEN = {"log.initial.task.delay.ms": "100", "log.retention.check.interval.ms": "100"}
PLAIN_LOGIN = {
    "sasl.enabled.mechanisms": "PLAIN",
    "listener.name.sasl_plaintext.plain.sasl.jaas.config": (
        'org.apache.kafka.common.security.plain.PlainLoginModule required user_reader="secret";'
    ),
}


def written_topic(broker: Broker) -> str:
    client = KafkaClient(broker.bootstrap)
    name = client.unique_topic()
    client.produce(name, [("k", value) for value in VALUES])
    return name


def values(broker: Broker, topic: str) -> list[bytes | None]:
    return [record.value for record in KafkaClient(broker.bootstrap).consume_all(topic)]


def test_messages_of_long_ago_stay_unless_the_topic_says_otherwise(own: Broker) -> None:
    client = KafkaClient(own.bootstrap)
    kept, short = client.unique_topic(), client.unique_topic(**{"retention.ms": "1000"})
    for name in (kept, short):
        client.produce(name, [Record(b"k", value, timestamp=1000) for value in VALUES])
    assert wait_until(lambda: not values(own, short), 300)
    assert values(own, kept) == VALUES


@pytest.mark.fault
def test_data_survives_a_kill_and_a_restart(own: Broker) -> None:
    name, address = written_topic(own), own.bootstrap
    own.kill()
    assert not own.alive()
    own.restart()
    assert own.bootstrap == address
    assert values(own, name) == VALUES
    own.stop(keep=True)
    own.restart()
    assert values(own, name) == VALUES


def test_a_further_listener_asks_for_a_login(own: Broker) -> None:
    name = written_topic(own)
    login = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "reader",
        "sasl.password": "secret",
    }
    client = KafkaClient(own.address("SASL_PLAINTEXT"), **login)
    assert [record.value for record in client.consume_all(name)] == VALUES


def test_a_broker_is_found_again_by_its_record(own: Broker, tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    own.save(record)
    found = Broker.load(record)
    assert found is not None
    assert (found.bootstrap, found.pid, found.data) == (own.bootstrap, own.pid, own.data)


@pytest.mark.parametrize("content", [None, "", "{}", '{"layout": 1, "process": 2}'])
def test_a_broken_record_is_no_broker(tmp_path: Path, content: str | None) -> None:
    record = tmp_path / "record.json"
    if content is not None:
        record.write_text(content)
    assert Broker.load(record) is None


def test_a_recycled_process_id_is_not_a_broker(own: Broker, tmp_path: Path) -> None:
    import os

    record = tmp_path / "record.json"
    own.save(record)
    record.write_text(record.read_text().replace(f'"pid": {own.pid}', f'"pid": {os.getpid()}'))
    found = Broker.load(record)
    assert found is not None
    assert not found.alive()


def test_a_used_port_is_named(own: Broker) -> None:
    with pytest.raises(RowkindError) as refused:
        Broker.start(port=own.port)
    assert refused.value.condition == "BROKER_PORT_IN_USE"
    assert refused.value.params == {"port": own.port}


def test_a_used_data_folder_is_named_and_left_alone(own: Broker) -> None:
    name, settings = written_topic(own), own.data / "server.properties"
    before = settings.read_bytes(), settings.stat().st_mtime_ns, sorted(own.data.iterdir())
    with pytest.raises(RowkindError) as refused:
        Broker.start(data=own.data)
    assert refused.value.condition == "BROKER_DATA_IN_USE"
    assert refused.value.params == {"data": own.data}
    assert (settings.read_bytes(), settings.stat().st_mtime_ns, sorted(own.data.iterdir())) == before
    assert own.alive()
    assert values(own, name) == VALUES


def test_a_wrong_setting_is_reported_with_the_log(tmp_path: Path) -> None:
    with pytest.raises(RowkindError) as failed:
        Broker.start(data=tmp_path, config={"num.partitions": "many"})
    assert failed.value.condition == "BROKER_FAILED"
    assert "num.partitions" in failed.value.params["reason"]
    assert failed.value.params["log"] == tmp_path / "broker.log"


def test_a_temporary_folder_is_removed_and_the_port_freed() -> None:
    with Broker.start() as broker:
        data, port = broker.data, broker.port
    assert not data.exists()
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


@pytest.mark.fault
def test_a_broker_ends_with_a_killed_owner(tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    program = f"""
import os, pathlib, signal
from rowkind.broker import Broker
Broker.start().save(pathlib.Path({str(record)!r}))
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -signal.SIGKILL
    orphan = Broker.load(record)
    assert orphan is not None
    assert wait_until(lambda: not orphan.alive() and not orphan.data.exists(), seconds=120)
