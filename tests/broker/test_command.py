"""`rowkind broker` as a user types it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rowkind.broker.cache import cache_dir
from rowkind.broker.process import wait_until
from tests.kafka_client import KafkaClient

pytestmark = pytest.mark.kafka


class Command:
    """Runs `rowkind broker` with a cache of its own that borrows the fetched jars."""

    def __init__(self, cache: Path) -> None:
        cache.mkdir()
        (cache / "jars").symlink_to(cache_dir("jars"))
        self.cache = cache

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        program = [sys.executable, "-c", "from rowkind.cli import main; main()", "broker", *arguments]
        env = {**os.environ, "ROWKIND_CACHE": str(self.cache)}
        return subprocess.run(program, env=env, capture_output=True, text=True, check=False)

    def record(self) -> dict[str, dict[str, int]]:
        found: dict[str, dict[str, int]] = json.loads((self.cache / "broker" / "running.json").read_text())
        return found


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Command]:
    command = Command(tmp_path / "cache")
    yield command
    command("stop")


def address(answer: subprocess.CompletedProcess[str]) -> str:
    return answer.stdout.splitlines()[0].rpartition(" ")[2]


def test_data_is_kept_between_runs_when_asked_for(broker: Command, tmp_path: Path) -> None:
    data = str(tmp_path / "data")
    first = broker("start", "--port", "0", "--data", data)
    assert first.returncode == 0, first.stderr
    client = KafkaClient(address(first))
    client.create_topic("kept")
    client.produce("kept", [("k", "v")])

    again = broker("start")
    assert (again.returncode, address(again)) == (0, address(first))
    assert address(broker("status")) == address(first)

    refused = broker("start", "--port", "1")
    assert refused.returncode == 1
    assert "[BROKER_RUNS_ELSEWHERE]" in refused.stderr

    # the command that has started it is long gone: the lock on the folder is the broker's
    elsewhere = Command(tmp_path / "elsewhere")("start", "--port", "0", "--data", data)
    assert elsewhere.returncode == 1
    assert "[BROKER_DATA_IN_USE]" in elsewhere.stderr
    assert [record.value for record in client.consume_all("kept")] == [b"v"]

    assert broker("stop").returncode == 0
    assert broker("status").returncode == 3
    assert broker("stop").returncode == 0

    second = broker("start", "--port", "0", "--data", data)
    assert [record.value for record in KafkaClient(address(second)).consume_all("kept")] == [b"v"]


@pytest.mark.matrix
def test_a_crashed_broker_is_started_afresh(broker: Command) -> None:
    first = broker("start", "--port", "0")
    process, data = broker.record()["process"]["pid"], Path(str(broker.record()["layout"]["data"]))
    os.kill(process, signal.SIGKILL)
    assert wait_until(lambda: broker("status").returncode == 3, seconds=60)
    second = broker("start", "--port", "0")
    assert (first.returncode, second.returncode) == (0, 0)
    assert broker.record()["process"]["pid"] != process
    assert broker("status").returncode == 0
    assert not data.exists()
