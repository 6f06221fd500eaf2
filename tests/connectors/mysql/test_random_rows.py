"""Random rows of many columns: both ways of reading agree with what PyMySQL reads."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from rowkind.connectors.mysql.charsets import decoder
from rowkind.kinds import RowKind
from tests.connectors.mysql.conftest import Database
from tests.connectors.mysql.reading import changes, end, images, schema_of, snapshot

ROWS = 200


def text(rng: random.Random, most: int, alphabet: str) -> str:
    return "".join(rng.choices(alphabet, k=rng.choice([0, 1, most // 2, most])))


COLUMNS: dict[str, Any] = {
    "tinyint": lambda r: r.randrange(-128, 128),
    "smallint unsigned": lambda r: r.randrange(65536),
    "mediumint": lambda r: r.randrange(-(2**23), 2**23),
    "int": lambda r: r.randrange(-(2**31), 2**31),
    "bigint": lambda r: r.randrange(-(2**63), 2**63),
    "bigint unsigned": lambda r: r.randrange(2**64),
    "double": lambda r: r.uniform(-1e10, 1e10) * 10 ** r.randrange(-100, 100),
    "decimal(9,3)": lambda r: Decimal(r.randrange(-(10**9) + 1, 10**9)).scaleb(-3),
    "decimal(38,12)": lambda r: Decimal(f"{r.randrange(-(10**26), 10**26)}.{r.randrange(10**12):012}"),
    "decimal(18,18)": lambda r: Decimal(r.randrange(-(10**18) + 1, 10**18)).scaleb(-18),
    "date": lambda r: date(1, 1, 1) + timedelta(days=r.randrange(3652000)),
    "datetime(6)": lambda r: datetime(1, 1, 1) + timedelta(microseconds=r.randrange(3155 * 10**14)),
    "datetime(3)": lambda r: datetime(1, 1, 1) + timedelta(milliseconds=r.randrange(3155 * 10**11)),
    "timestamp(4) NULL": lambda r: datetime(1970, 1, 2) + timedelta(microseconds=100 * r.randrange(21 * 10**12)),
    "varchar(300)": lambda r: text(r, 300, "aä日😀'\\\n\0 "),
    "varchar(20) character set latin1": lambda r: text(r, 20, "aäß€ "),
    "char(20) character set gbk": lambda r: text(r, 20, "a中文x").rstrip(" "),
    "mediumtext character set utf16le": lambda r: text(r, 70000, "aä日😀"),
    "varbinary(300)": lambda r: r.randbytes(r.choice([0, 1, 255, 256, 300])),
    "binary(7)": lambda r: r.randbytes(7),
    "blob": lambda r: r.randbytes(r.choice([0, 1, 250, 251, 60000])),
}


@pytest.mark.parametrize("seed", [1])
def test_both_ways_agree_with_pymysql(db: Database, seed: int) -> None:
    rng = random.Random(seed)
    names = [f"c{i}" for i in range(len(COLUMNS))]
    declared = ", ".join(f"{name} {type}" for name, type in zip(names, COLUMNS, strict=True))
    db.run(f"CREATE TABLE t (id int primary key, {declared})")
    schema, start = schema_of(db, "t"), end(db)
    holders = ", ".join(["%s"] * (len(names) + 1))
    with db.connection.cursor() as cursor:
        for id in range(ROWS):
            values = [None if rng.random() < 0.2 else draw(rng) for draw in COLUMNS.values()]
            cursor.execute(f"INSERT INTO t VALUES ({holders})", (id, *values))
        cursor.execute(f"UPDATE t SET c0 = NULL, {names[-1]} = 'x' WHERE id % 3 = 0")
        cursor.execute("DELETE FROM t WHERE id % 7 = 0")
    expected = [
        [_aware(value, type) for value, type in zip(row, ["", *COLUMNS], strict=True)]
        for row in db.rows("SELECT * FROM t ORDER BY id")
    ]
    assert [list(row.values()) for row in snapshot(db, schema).to_pylist()] == expected
    state: dict[int, list[Any]] = {}
    for part in changes(db, start, schema):
        for row, kind in zip(part.rows.to_pylist(), part.kinds.to_pylist(), strict=True):
            if RowKind(kind).adds:
                state[row["id"]] = list(row.values())
            else:
                assert state.pop(row["id"]) == list(row.values())
    assert [state[id] for id in sorted(state)] == expected
    assert images(changes(db, start, schema), RowKind.INSERT).num_rows == ROWS


def _aware(value: Any, type: str) -> Any:
    return value.replace(tzinfo=UTC) if type.startswith("timestamp") and value is not None else value


def test_single_byte_character_sets_are_the_servers(db: Database) -> None:
    found = db.rows("SELECT CHARACTER_SET_NAME FROM information_schema.CHARACTER_SETS WHERE MAXLEN = 1")
    for (charset,) in found:
        if charset != "binary":
            columns = ", ".join(
                f"HEX(CONVERT(CONVERT(x'{code:02x}' USING {charset}) USING utf32))" for code in range(256)
            )
            texts = [bytes.fromhex(code).decode("utf-32-be") for code in db.rows(f"SELECT {columns}")[0]]
            assert [decoder(charset)(bytes([code])) for code in range(256)] == texts, charset


@pytest.mark.parametrize("charset", ["gbk", "gb2312", "big5", "euckr"])
def test_double_byte_character_sets_are_the_servers(mysql: Database, charset: str) -> None:
    for high in range(0xA1, 0xFF, 5):
        pairs = [bytes((high, low)) for low in range(0xA1, 0xFF)]
        columns = ", ".join(f"HEX(CONVERT(CONVERT(x'{pair.hex()}' USING {charset}) USING utf32))" for pair in pairs)
        for pair, code in zip(pairs, mysql.rows(f"SELECT {columns}")[0], strict=True):
            text = bytes.fromhex(code or "").decode("utf-32-be")
            if len(text) == 1 and text != "?":
                assert decoder(charset)(pair) == text, pair.hex()
