"""Positions and sets of transactions, without a server."""

from __future__ import annotations

import pytest

from rowkind.connectors.mysql.gtids import MariaGtids, MySqlGtids
from rowkind.connectors.mysql.positions import EARLIEST, BinlogPosition
from rowkind.errors import RowkindError

A, B = "3e11fa47-71ca-11e1-9e33-c80aa9429562", "4e11fa47-71ca-11e1-9e33-c80aa9429562"


def test_files_compare_by_length_first() -> None:
    assert BinlogPosition("bin.999999", 900) < BinlogPosition("bin.1000000", 4)
    assert BinlogPosition("bin.000001", 9) < BinlogPosition("bin.000001", 10)
    assert BinlogPosition("bin.000001", 4) > EARLIEST


def test_gtids_decide_where_both_have_them() -> None:
    older, newer = BinlogPosition("b.9", 9, f"{A}:1-5"), BinlogPosition("b.1", 1, f"{A}:1-6,{B}:1")
    assert older < newer
    assert newer.compare(older) == 1
    assert older.compare(BinlogPosition("x", 1, f"{A}:1-3:4-5")) == 0
    assert BinlogPosition("b.9", 9) < older
    assert BinlogPosition("b", 1, "0-1-9") < BinlogPosition("a", 1, "0-2-10")


def test_servers_that_differ_compare_by_time() -> None:
    assert BinlogPosition("b.9", 9, timestamp=1, server_id=1) < BinlogPosition("b.1", 1, timestamp=2, server_id=2)


def test_json_and_back() -> None:
    position = BinlogPosition("b.1", 7, "0-1-2", 5, 3)
    assert BinlogPosition.from_json(position.to_json()) == position


def test_mysql_sets() -> None:
    found = MySqlGtids.parse(f"{A.upper()}:1-3:7,\n{B}:5")
    found.add(A, 4, 5)
    found.add(A, 5, 7)
    assert str(found) == f"{A}:1-7,{B}:5"
    assert str(found.missing(MySqlGtids.parse(f"{A}:1-9,{B}:1-6"))) == f"{A}:8-9,{B}:1-4:6"
    assert MySqlGtids.parse(f"{A}:tag:1-2").contains(MySqlGtids.parse(f"{A}:tag:2"))
    assert len(found.encoded()) == 8 + 2 * (16 + 8 + 16)


def test_mariadb_sets() -> None:
    found = MariaGtids.parse("0-1-5, 3-1-1")
    found.add(0, 2, 6)
    assert str(found) == "0-2-6,3-1-1"
    assert found.contains(MariaGtids.parse("0-1-5"))
    assert not found.contains(MariaGtids.parse("4-1-1"))


@pytest.mark.parametrize("text", ["x:1", f"{A}:x-", "1-2"])
def test_malformed(text: str) -> None:
    with pytest.raises(RowkindError) as error:
        (MySqlGtids if ":" in text else MariaGtids).parse(text)
    assert error.value.condition == "MYSQL_GTID_MALFORMED"
