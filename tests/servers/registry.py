"""Apicurio Registry as the test schema registry: Confluent's API, in memory."""

from __future__ import annotations

import json
import os
import tarfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self
from uuid import uuid4

from rowkind.broker.cache import cache_dir, exclusive
from rowkind.broker.download import fetch
from rowkind.broker.guard import guard
from rowkind.broker.java import require_java
from rowkind.broker.process import ServerProcess, spawn, wait_until
from rowkind.broker.settings import HOST, free_port

LOCK = Path(__file__).with_name("registry.lock")
START_SECONDS = 180
JVM = ("-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


@dataclass(frozen=True, slots=True)
class Registry:
    """A running registry."""

    port: int
    process: ServerProcess

    @property
    def url(self) -> str:
        """The base address for Confluent clients."""
        return f"http://{HOST}:{self.port}/apis/ccompat/v7"

    @classmethod
    def start(cls, folder: Path, owner: int) -> Self:
        """Start a registry that keeps everything in memory and ends with its owner; `folder` takes its log."""
        folder.mkdir(parents=True, exist_ok=True)
        port, mark = free_port(), f"-Drowkind.registry={uuid4().hex}"
        settings = {
            "quarkus.http.host": HOST,
            "quarkus.http.port": port,
            "quarkus.log.level": "WARN",
            "apicurio.storage.kind": "sql",
            "apicurio.storage.sql.kind": "h2",
            "apicurio.rest.deletion.artifact.enabled": "true",
            "apicurio.rest.deletion.artifactVersion.enabled": "true",
        }
        flags = [f"-D{name}={value}" for name, value in settings.items()]
        command = [str(require_java()), mark, *JVM, *flags, "-jar", str(_runner())]
        process = spawn(command, {}, folder / "registry.log", mark)
        guard(process, owner)
        registry = cls(port, process)
        wait_until(lambda: registry.serves() or not process.alive(), START_SECONDS)
        if not registry.serves():
            process.kill()
            raise RuntimeError(f"The schema registry did not start:\n{(folder / 'registry.log').read_text()[-4000:]}")
        return registry

    def serves(self) -> bool:
        """Whether it answers."""
        import httpx

        try:
            return httpx.get(f"{self.url}/subjects", timeout=5).status_code == 200
        except httpx.HTTPError:
            return False

    def stop(self) -> None:
        self.process.stop()

    def save(self, path: Path) -> None:
        """Write down which process this is, for another process to `load()`."""
        path.write_text(json.dumps(asdict(self)))

    @classmethod
    def load(cls, path: Path) -> Self | None:
        """The registry that was saved there, or nothing when it no longer runs."""
        if not path.exists():
            return None
        record = json.loads(path.read_text())
        registry = cls(record["port"], ServerProcess(**record["process"]))
        return registry if registry.process.alive() else None


def _runner() -> Path:
    """The jar to run, unpacked beside the ones it needs."""
    archive = fetch(LOCK, "Apicurio Registry")[0]
    folder = cache_dir("servers")
    unpacked = folder / archive.name.removesuffix(".tar.gz")
    with exclusive(folder / "unpack.lock"):
        if not unpacked.exists():
            partial = unpacked.with_suffix(f".{os.getpid()}")
            with tarfile.open(archive) as tar:
                tar.extractall(partial, filter="data")
            partial.rename(unpacked)
    return next(unpacked.glob("*-runner.jar"))
