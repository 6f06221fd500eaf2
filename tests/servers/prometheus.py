"""Prometheus from Debian's package, unpacked into the cache: nothing is installed, nothing runs as root."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx

from rowkind.broker.cache import cache_dir, exclusive
from rowkind.broker.guard import guard
from rowkind.broker.process import spawn, wait_until
from rowkind.broker.settings import HOST, free_port

START_SECONDS = 120


class NotAvailable(Exception):
    """This system has neither the program nor a way to get it."""


def program(name: str) -> str:
    """`prometheus` or `promtool`: the one on PATH, or that of Debian's package."""
    if found := shutil.which(name):
        return found
    folder = cache_dir("servers") / "prometheus"
    with exclusive(cache_dir("servers") / "prometheus.lock"):
        if not folder.exists():
            _unpack(folder)
    return str(folder / "usr/bin" / name)


def _unpack(folder: Path) -> None:
    if not (shutil.which("apt-get") and shutil.which("dpkg")):
        raise NotAvailable("prometheus is not on PATH, and this system has no apt-get to fetch it with")
    with tempfile.TemporaryDirectory(dir=folder.parent) as partial:
        download = ["apt-get", "download", "prometheus"]
        if subprocess.run(download, cwd=partial, capture_output=True, check=False).returncode:
            subprocess.run(["apt-get", "update"], capture_output=True, check=False)  # the list may be empty
            done = subprocess.run(download, cwd=partial, capture_output=True, text=True, check=False)
            if done.returncode:
                raise NotAvailable(f"Debian's package prometheus could not be fetched: {done.stderr[-500:]}")
        (package,) = Path(partial).glob("*.deb")
        subprocess.run(["dpkg", "-x", str(package), f"{partial}/unpacked"], check=True)
        os.rename(f"{partial}/unpacked", folder)


@dataclass(frozen=True, slots=True)
class Prometheus:
    """A running server."""

    url: str

    def query(self, expression: str) -> list[dict[str, Any]]:
        """The answer of an expression now; one that is wrong raises with what Prometheus says."""
        answer = httpx.get(f"{self.url}/api/v1/query", params={"query": expression}, timeout=30).json()
        if answer["status"] != "success":
            raise ValueError(f"{expression}: {answer['error']}")
        found: list[dict[str, Any]] = answer["data"]["result"]
        return found

    def wait_for(self, expression: str, seconds: float = 60) -> list[dict[str, Any]]:
        """The answer of an expression as soon as it has one."""
        deadline = time.monotonic() + seconds
        while not (found := self.query(expression)):
            if time.monotonic() > deadline:
                raise TimeoutError(f"no answer to {expression}")
            time.sleep(0.1)
        return found

    def rules(self) -> list[dict[str, Any]]:
        """The alert rules that it has loaded, with their health."""
        answer = httpx.get(f"{self.url}/api/v1/rules", timeout=30).json()
        return [rule for group in answer["data"]["groups"] for rule in group["rules"]]


@contextmanager
def prometheus(config: Path, folder: Path) -> Iterator[Prometheus]:
    """A Prometheus with this configuration, for as long as the context is open."""
    address, data = f"{HOST}:{free_port()}", folder / f"prometheus-{uuid4().hex}"
    flags = [f"--config.file={config}", f"--storage.tsdb.path={data}", f"--web.listen-address={address}"]
    process = spawn([program("prometheus"), *flags], {}, folder / "prometheus.log", str(data))
    guard(process, os.getpid())
    try:
        if not wait_until(lambda: _ready(address) or not process.alive(), START_SECONDS) or not process.alive():
            raise RuntimeError(f"Prometheus did not start:\n{(folder / 'prometheus.log').read_text()[-4000:]}")
        yield Prometheus(f"http://{address}")
    finally:
        process.stop()


def _ready(address: str) -> bool:
    try:
        return httpx.get(f"http://{address}/-/ready", timeout=5).status_code == 200
    except httpx.HTTPError:
        return False
