"""Staged files: what is added comes back, in order; a file that was not finished is not there."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from rowkind.connectors.mysql.staged import StagedFile, staged_sections


def test_sections_come_back_in_order(tmp_path: Path) -> None:
    one = pa.table({"a": [1, 2]})
    other = pa.table({"b": ["x", None, "y"]})
    with StagedFile(str(tmp_path), "1-0.arrow", sync=True) as file:
        file.add("d.a", one)
        file.add("d.b", other)
        file.add("d.a", one.slice(1))
        file.add("d.a", one.slice(0, 0))
    assert file.rows == 6
    found = [(table, rows.to_pylist()) for table, rows in staged_sections(str(tmp_path), "1-0.arrow")]
    assert found == [("d.a", one.to_pylist()), ("d.b", other.to_pylist()), ("d.a", [{"a": 2}])]


def test_nothing_added_makes_no_file(tmp_path: Path) -> None:
    with StagedFile(str(tmp_path), "1-0.arrow", sync=False) as file:
        assert file.empty
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_was_not_finished_has_no_name(tmp_path: Path) -> None:
    def interrupted() -> None:
        with StagedFile(str(tmp_path), "1-0.arrow", sync=False) as file:
            file.add("d.a", pa.table({"a": [1]}))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not (tmp_path / "1-0.arrow").exists()
