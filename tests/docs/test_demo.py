"""The demo as a user runs it: to its end, and interrupted."""

from __future__ import annotations

import os
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
DEMO = [sys.executable, "-c", "from rowkind.cli import main; main()", "demo"]


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
    read_back = done.stdout.rpartition("as a table again")[2]
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in read_back.splitlines() if "│" in line]
    assert rows == [["+I", region, str(pv), str(uv)] for region, (pv, uv) in expected().items()]
    assert leftovers(temporary) == []


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
