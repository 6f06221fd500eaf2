"""A data folder belongs to one broker, from before it is touched until the last process that uses it has ended."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rowkind.broker import Broker
from rowkind.broker.data_lock import locked, wait_until_free
from rowkind.errors import RowkindError


def test_a_broker_touches_nothing_in_a_folder_of_somebody_else(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(RowkindError) as refused:
        Broker.start(data=tmp_path)
    assert refused.value.condition == "BROKER_DATA_IN_USE"
    assert refused.value.params == {"data": tmp_path}
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_inherits_the_lock_keeps_it(tmp_path: Path) -> None:
    with locked(tmp_path) as lock:
        heir = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=[lock])
    with pytest.raises(RowkindError), locked(tmp_path):
        pass
    assert not wait_until_free(tmp_path, seconds=0)
    heir.kill()
    heir.wait()
    with locked(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_gone_is_free(tmp_path: Path) -> None:
    assert wait_until_free(tmp_path / "gone", seconds=0)
