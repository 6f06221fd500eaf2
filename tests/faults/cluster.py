"""A Spark cluster on this machine: a master and workers, each a process with a folder of its own."""

from __future__ import annotations

import json
import os
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pyspark

from rowkind.broker.process import wait_until
from rowkind.broker.settings import HOST, free_port
from tests.cli.command import SECONDS, SHORT_LIVED


@contextmanager
def spark_cluster(folder: Path, workers: int) -> Iterator[str]:
    """The address of a master with so many workers of one core each."""
    port, page = free_port(), free_port()
    address = f"spark://{HOST}:{port}"
    with ExitStack() as running:
        asked = ["--host", HOST, "--port", str(port), "--webui-port", str(page)]
        running.enter_context(_daemon(folder / "master", "master.Master", *asked))
        for number in range(workers):
            own = folder / f"worker-{number}"
            size = ["--host", HOST, "--webui-port", "0", "--cores", "1", "--memory", "1g", "--work-dir", str(own)]
            running.enter_context(_daemon(own, "worker.Worker", *size, address))
        assert wait_until(lambda: _alive(page) == workers, SECONDS), "the workers did not come"
        yield address


@contextmanager
def _daemon(folder: Path, name: str, *arguments: str) -> Iterator[None]:
    folder.mkdir(parents=True)
    home = Path(pyspark.__file__).parent
    env = {**os.environ, **SHORT_LIVED, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": HOST, "SPARK_NO_DAEMONIZE": "1"}
    command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *arguments]
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=env, stdout=log, stderr=log, start_new_session=True)
    try:
        yield
    finally:
        process.terminate()
        process.wait(SECONDS)


def _alive(page: int) -> int:
    with suppress(OSError), urllib.request.urlopen(f"http://{HOST}:{page}/json/") as answer:
        return int(json.load(answer)["aliveworkers"])
    return -1
