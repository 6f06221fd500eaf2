"""The server settings of a single-node broker that starts fast and stays small."""

from __future__ import annotations

import random
import socket
from collections.abc import Mapping
from pathlib import Path

HOST = "127.0.0.1"
CLIENT_LISTENER = "PLAINTEXT"
SERVER_PORTS = 15_000, 32_000

SINGLE_NODE = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": CLIENT_LISTENER,
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
}
SMALL_AND_QUICK = {
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.num.partitions": "4",
    "share.coordinator.state.topic.num.partitions": "4",
    "group.initial.rebalance.delay.ms": "0",
    # A killed broker is let in again only when its old session is over.
    "broker.heartbeat.interval.ms": "500",
    "broker.session.timeout.ms": "3000",
    "log.cleaner.dedupe.buffer.size": str(16 << 20),
    # Retention goes by the timestamps of messages: events of last year would be gone minutes after they were written.
    "log.retention.ms": "-1",
}


def server_properties(ports: Mapping[str, int], data: Path, config: Mapping[str, str]) -> dict[str, str]:
    """All settings: `ports` by listener name, `config` above everything else."""
    listeners = {name: f"{name}://{HOST}:{port}" for name, port in ports.items()}
    clients = {name: url for name, url in listeners.items() if name != "CONTROLLER"}
    protocols = {name: "PLAINTEXT" if name == "CONTROLLER" else name for name in ports}
    return {
        **SINGLE_NODE,
        **SMALL_AND_QUICK,
        "listeners": ",".join(listeners.values()),
        "advertised.listeners": ",".join(clients.values()),
        "listener.security.protocol.map": ",".join(f"{name}:{protocol}" for name, protocol in protocols.items()),
        "controller.quorum.voters": f"1@{HOST}:{ports['CONTROLLER']}",
        "log.dirs": str(data / "kafka"),
        **config,
    }


def properties_text(properties: Mapping[str, str]) -> str:
    """Properties as Java reads them."""
    lines = (f"{name}={value}".replace("\\", "\\\\").replace("\n", "\\n") for name, value in properties.items())
    return "\n".join(lines) + "\n"


def port_is_free(port: int) -> bool:
    """Whether a server could listen there now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def free_port() -> int:
    """A port that nobody listens on now, below those that systems give to outgoing connections.

    One of those could be taken by a client's connection before the server listens, or while it is being restarted.
    """
    while not port_is_free(port := random.SystemRandom().randrange(*SERVER_PORTS)):
        pass
    return port
