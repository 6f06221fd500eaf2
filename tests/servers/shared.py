"""Servers that all workers of one test run share: the first that asks starts it, the run's end stops it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rowkind.broker.cache import exclusive

if TYPE_CHECKING:
    from rowkind.broker import Broker
    from tests.servers.registry import Registry

TEST_CONFIG = {"auto.create.topics.enable": "false", "log.cleaner.backoff.ms": "200"}


def broker(folder: Path, owner: int) -> Broker:
    """The run's broker."""
    from rowkind.broker import Broker

    record = folder / "broker.json"
    with exclusive(folder / "broker.lock"):
        running = Broker.load(record)
        if running is None or not running.alive():
            running = Broker.start(config=TEST_CONFIG, owner=owner)
            running.save(record)
        return running


def registry(folder: Path, owner: int) -> Registry:
    """The run's schema registry."""
    from tests.servers.registry import Registry

    record = folder / "registry.json"
    with exclusive(folder / "registry.lock"):
        running = Registry.load(record)
        if running is None:
            running = Registry.start(folder / "registry", owner)
            running.save(record)
        return running


def stop_all(folder: Path) -> None:
    """Stop whatever this run has started."""
    if (folder / "broker.json").exists():
        from rowkind.broker import Broker

        if running := Broker.load(folder / "broker.json"):
            running.stop()
    if (folder / "registry.json").exists():
        from tests.servers.registry import Registry

        if serving := Registry.load(folder / "registry.json"):
            serving.stop()
    if any(folder.glob("m*.json")):
        from tests.servers.databases import stop_databases

        stop_databases(folder)
