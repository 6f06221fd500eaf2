"""The archive of Kafka's classes: used when it is there, and made from a broker that starts and stops."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowkind.broker import Broker
from rowkind.broker.cache import cache_dir
from rowkind.broker.class_archive import archive, make_archive, reading
from tests.kafka_client import KafkaClient


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A cache of its own, with links to the fetched jars."""
    jars = tmp_path / "jars"
    jars.mkdir()
    for jar in cache_dir("jars").glob("*.jar"):
        (jars / jar.name).symlink_to(jar)
    monkeypatch.setenv("ROWKIND_CACHE", str(tmp_path))
    return jars


def with_options(jvm: tuple[str, ...]) -> Broker:
    return Broker.start(jvm=jvm)


def test_without_an_archive_java_starts_as_it_is(cache: Path) -> None:
    assert archive().parent == cache
    assert reading() == ()


@pytest.mark.kafka
@pytest.mark.matrix
@pytest.mark.usefixtures("cache")
def test_a_broker_starts_from_the_archive() -> None:
    assert make_archive(with_options) == archive()
    with Broker.start(jvm=["-Xshare:on"]) as broker:  # Java does not start when the archive does not fit
        client = KafkaClient(broker.bootstrap)
        topic = client.unique_topic()
        client.produce(topic, [("k", "v")])
        assert [record.value for record in client.consume_all(topic)] == [b"v"]
    assert make_archive(with_options) == archive()
