"""Options of metrics that cannot be followed are refused by name, before anything is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowkind.cli.metrics import published
from rowkind.errors import RowkindError


def refused(serve: str | None = None, seconds: float | None = None, file: Path | None = None) -> str:
    with pytest.raises(RowkindError) as error, published(serve, seconds, file, print):
        pass
    return error.value.condition


def test_what_cannot_be_done_is_named(tmp_path: Path) -> None:
    assert refused("localhost") == "METRICS_ADDRESS_INVALID"
    assert refused(seconds=0.0) == "METRICS_LOG_INVALID"
    assert refused(seconds=float("nan")) == "METRICS_LOG_INVALID"
    assert refused(file=tmp_path / "log") == "METRICS_LOG_INVALID"
    assert refused(seconds=1.0, file=tmp_path / "none" / "log") == "METRICS_LOG_INVALID"


def test_a_free_port_is_chosen_and_told() -> None:
    told: list[str] = []
    with published("127.0.0.1:0", None, None, told.append) as watched:
        assert watched() == []
    (line,) = told
    assert line.startswith("Metrics are at http://127.0.0.1:")
    assert not line.endswith((":0/metrics", ":/metrics"))
