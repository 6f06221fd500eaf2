"""The oldest Kafka of this Scala version on Maven Central, with the ZooKeeper that it needs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from rowkind.broker.download import fetch
from rowkind.broker.guard import guard
from rowkind.broker.java import require_java
from rowkind.broker.process import ServerProcess, spawn, wait_until
from rowkind.broker.settings import HOST, SMALL_AND_QUICK, free_port, port_is_free, properties_text

LOCK = Path(__file__).with_name("oldest_kafka.lock")
VERSION = "2.4.0"
SECONDS = 120
JVM = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn")


@contextmanager
def old_kafka() -> Iterator[str]:
    """The address of a broker that starts with nothing and leaves nothing."""
    with tempfile.TemporaryDirectory(prefix="rowkind-old-kafka-") as name:
        folder, keeper, port = Path(name), free_port(), free_port()
        zookeeper = {"dataDir": f"{folder}/zookeeper", "clientPortAddress": HOST, "admin.enableServer": "false"}
        kafka = {
            **SMALL_AND_QUICK,
            "broker.id": "1",
            "listeners": f"PLAINTEXT://{HOST}:{port}",
            "zookeeper.connect": f"{HOST}:{keeper}",
            "log.dirs": f"{folder}/kafka",
            "auto.create.topics.enable": "false",
            "offsets.topic.replication.factor": "1",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
        }
        servers = [
            _started(folder, "org.apache.zookeeper.server.quorum.QuorumPeerMain", zookeeper, "clientPort", keeper),
            _started(folder, "kafka.Kafka", kafka, "port", port),
        ]
        try:
            yield f"{HOST}:{port}"
        finally:
            for server in reversed(servers):
                server.kill()


def _started(folder: Path, program: str, settings: Mapping[str, str], key: str, port: int) -> ServerProcess:
    """A Java server on a port, once it listens there."""
    file, log, mark = folder / f"{program}.properties", folder / f"{program}.log", f"-Drowkind.old={uuid4().hex}"
    file.write_text(properties_text({**settings, key: str(port)}))
    env = {"CLASSPATH": os.pathsep.join(map(str, fetch(LOCK, f"Apache Kafka {VERSION}")))}
    process = spawn([str(require_java()), mark, *JVM, program, str(file)], env, log, mark)
    guard(process, os.getpid())
    wait_until(lambda: not port_is_free(port) or not process.alive(), SECONDS)
    assert process.alive(), log.read_text()
    return process
