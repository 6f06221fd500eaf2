"""The demos as a user runs them: to their end, and interrupted."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from rowkind.cli.demo import waves
from tests.cli.command import SHORT_LIVED

pytestmark = [pytest.mark.kafka, pytest.mark.spark]
COMMAND = [sys.executable, "-c", "from rowkind.cli import main; main()"]
DEMO = [*COMMAND, "demo"]


@pytest.fixture
def temporary() -> Iterator[Path]:
    """The demo's own folder for temporary files, so that nothing in it is another process's; its path is short."""
    with tempfile.TemporaryDirectory(prefix="rk-") as folder:
        yield Path(folder)


def environment(temporary: Path) -> dict[str, str]:
    return {**os.environ, **SHORT_LIVED, "TMPDIR": str(temporary)}


def leftovers(temporary: Path) -> list[Path]:
    return list(temporary.glob("rowkind-demo-*"))


def expected() -> dict[str, tuple[int, int]]:
    """Views and visitors per region, counted by hand."""
    views = [view for _, wave in waves() for view in wave]
    regions = sorted({region for _, region in views})
    return {r: (sum(1 for _, x in views if x == r), len({u for u, x in views if x == r})) for r in regions}


def test_the_demo_shows_the_right_numbers_and_leaves_nothing(temporary: Path) -> None:
    done = subprocess.run(DEMO, env=environment(temporary), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = cells(done.stdout.rpartition("as a table again")[2])
    assert rows == [["+I", region, str(pv), str(uv)] for region, (pv, uv) in expected().items()]
    assert leftovers(temporary) == []


@pytest.mark.database
def test_the_demo_of_ingestion_shows_topics_change_and_leaves_nothing(temporary: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "demo-ingest"], env=environment(temporary), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    shown, _, read_back = done.stdout.partition("as a table of SQL")
    assert cells(read_back) == [["+I", "1", "2", "3.70"], ["+I", "7", "1", "2.40"]]
    parts = re.split("After [0-9.]+ s", shown)[:-1]
    assert [[row[0] for row in cells(part) if row[-1]] for part in parts] == [
        ["1", "2", "1", "2", "3"],
        ["1", "2", "4"],
        ["2", "7", "4"],
        ["1"],
    ]
    assert ["1", "Ada", "Turin", "10", "changed"] in cells(parts[-1])
    assert leftovers(temporary) == []


def cells(text: str) -> list[list[str]]:
    """The rows of the tables in a text."""
    return [[cell.strip() for cell in line.split("│")[1:-1]] for line in text.splitlines() if "│" in line]


@pytest.mark.matrix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_demo_cleans_up(number: signal.Signals, temporary: Path) -> None:
    with subprocess.Popen(DEMO, env=environment(temporary), stdout=subprocess.PIPE, text=True) as demo:
        assert demo.stdout is not None
        for line in demo.stdout:
            if "look again" in line:
                demo.send_signal(number)
                break
        rest = demo.stdout.read()
    assert demo.returncode == 130
    assert "Interrupted" in rest
    assert leftovers(temporary) == []
