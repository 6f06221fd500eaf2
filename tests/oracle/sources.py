"""The tables that the corpus reads: random types, random changes, and what batch SQL sees of them after each.

`a` and `b` are upserted by `id`; `d` is a changelog of rows that may repeat; `c` only grows, by event time, and some of
its rows come far too late; `e` is upserted and has event time, and its rows change while their window is open.
"""

from __future__ import annotations

import random
from collections import Counter
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import duckdb

from rowkind.kinds import RowKind
from tests.oracle.corpus import VIEWS

Row = dict[str, Any]
Change = tuple[RowKind, Row]

NAMES = ("a", "b", "c", "d", "e")
EPOCH = datetime(2024, 3, 1)
DELAY = 2
"""Seconds that the watermark runs behind; rows come less than that out of order."""
EVERY_C = "CREATE VIEW every_c AS SELECT * FROM c;"
BATCH_VIEWS = """
CREATE VIEW tumbled AS SELECT *, time_bucket(INTERVAL '5' SECOND, ts) AS window_start,
    window_start + INTERVAL '5' SECOND AS window_end FROM c;
CREATE MACRO closed(time) AS time <= (SELECT mark FROM marks WHERE name = 'c');
CREATE MACRO closed_of_e(time) AS time <= (SELECT mark FROM marks WHERE name = 'e');
"""
_KEYS: dict[str, list[Any]] = {
    "INT": [1, 2, 3, -4, 5],
    "BIGINT": [1, 2**40, -3, 4, 5],
    "STRING": ["", "a", "ä€", "a b", "B"],
    "DECIMAL(10, 2)": [Decimal("1.50"), Decimal("-2.25"), Decimal("0.00"), Decimal("10.10"), Decimal("7.00")],
    "DATE": [date(2024, 1, day) for day in range(1, 6)],
    "BOOLEAN": [True, False],
}
_NUMBERS = ("SMALLINT", "INT", "BIGINT")
_TEXTS = ["x", "y", "z", "", "Zz"]


class Sources:
    """The tables of one run."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.key_type = rng.choice(list(_KEYS))
        self.number, self.other = rng.choice(_NUMBERS), rng.choice(_NUMBERS)
        self.keyed: dict[str, dict[int, Row]] = {"a": {}, "b": {}, "e": {}}
        self.bag: list[Row] = []
        self.timely: list[Row] = []
        self.late: list[Row] = []
        self.marks: dict[str, datetime | None] = {"c": None, "e": None}
        self._now = {"c": EPOCH, "e": EPOCH}

    def tables(self, options: dict[str, str]) -> str:
        """The DDL, with the options of each table."""
        k, v, w = self.key_type, self.number, self.other
        timed = f"ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '{DELAY}' SECOND"
        key = "PRIMARY KEY (id) NOT ENFORCED"
        columns = {
            "a": f"id INT, k {k}, v {v}, s STRING, {key}",
            "b": f"id INT, k {k}, w {w}, {key}",
            "c": f"id INT, k {k}, v {v}, {timed}",
            "d": f"k {k}, v {v}, s STRING",
            "e": f"id INT, v {v}, {timed}, {key}",
        }
        made = [f"CREATE TABLE {name} ({columns[name]}) WITH ({options[name]});" for name in NAMES]
        return "\n".join([*made, EVERY_C, VIEWS])

    def change(self, count: int) -> dict[str, list[Change]]:
        """Random changes of every table, as its source tells them: upserts have no old rows."""
        return {
            "a": self._upserts("a", count),
            "b": self._upserts("b", count),
            "c": self._appends(count // 4),
            "d": self._changes(count // 2),
            "e": self._timed_upserts(count // 4),
        }

    def _upserts(self, name: str, count: int) -> list[Change]:
        """Inserts, updates, deletes, deletes of what is not there, and updates that change nothing."""
        table, rng, told = self.keyed[name], self.rng, []
        for _ in range(count):
            key = rng.randrange(30)
            if rng.random() < 0.25:
                table.pop(key, None)
                told.append((RowKind.DELETE, {"id": key}))
                continue
            repeat = key in table and rng.random() < 0.2
            table[key] = dict(table[key]) if repeat else self._row(name, key)
            told.append((RowKind.INSERT, table[key]))
        return told

    def _row(self, name: str, key: int) -> Row:
        if name == "b":
            return {"id": key, "k": self._key(), "w": self._or_null(self.rng.randrange(12))}
        return {"id": key, "k": self._key(), "v": self._number(), "s": self._or_null(self.rng.choice(_TEXTS))}

    def _changes(self, count: int) -> list[Change]:
        rng, told = self.rng, list[Change]()
        for _ in range(count):
            draw, row = rng.random(), {"k": self._key(), "v": self._number(), "s": self._or_null(rng.choice("xy"))}
            if not self.bag or draw < 0.5:
                row = dict(rng.choice(self.bag)) if self.bag and draw < 0.1 else row
                self.bag.append(row)
                told.append((RowKind.INSERT, row))
                continue
            old = self.bag.pop(rng.randrange(len(self.bag)))
            if draw < 0.8:
                told.append((RowKind.DELETE, old))
            else:
                self.bag.append(row)
                told += [(RowKind.UPDATE_BEFORE, old), (RowKind.UPDATE_AFTER, row)]
        return told

    def _appends(self, count: int) -> list[Change]:
        told = list[Change]()
        before = self.marks["c"]
        for _ in range(count):
            row = {"id": self.rng.randrange(30), "k": self._key(), "v": self._number(), "ts": self._time("c")}
            if before is not None and self.rng.random() < 0.1:
                row |= {"k": None, "ts": before - timedelta(hours=1)}  # joins nothing that comes with it
                self.late.append(row)
            else:
                self.timely.append(row)
            told.append((RowKind.INSERT, row))
        self._mark("c", [row["ts"] for row in self.timely])
        return told

    def _timed_upserts(self, count: int) -> list[Change]:
        table, told, times = self.keyed["e"], list[Change](), list[datetime]()
        for _ in range(count):
            key = self.rng.randrange(60)
            old = table.get(key)
            if old is not None and not self._open(old["ts"]):
                continue
            if old is not None and self.rng.random() < 0.3:
                del table[key]
                told.append((RowKind.DELETE, {"id": key}))
                continue
            table[key] = {"id": key, "v": self._number(), "ts": self._time("e")}
            times.append(table[key]["ts"])
            told.append((RowKind.INSERT, table[key]))
        self._mark("e", times)
        return told

    def _open(self, time: datetime) -> bool:
        """Whether the window of a row cannot have been closed, however far this batch's rows move the time."""
        latest = self._now["e"] - timedelta(seconds=DELAY)
        return latest < time.replace(second=time.second - time.second % 5) + timedelta(seconds=5)

    def _time(self, name: str) -> datetime:
        if self.rng.random() < 0.3:
            self._now[name] += timedelta(seconds=self.rng.choice([1, 1, 2, 4]))
        return self._now[name] - timedelta(seconds=self.rng.randrange(DELAY))

    def _mark(self, name: str, times: list[datetime]) -> None:
        before = self.marks[name]
        found = [time - timedelta(seconds=DELAY) for time in times]
        if before is not None:
            found.append(before)
        self.marks[name] = max(found, default=None)

    def _key(self) -> Any:
        return self._or_null(self.rng.choice(_KEYS[self.key_type]))

    def _number(self) -> Any:
        return self._or_null(self.rng.randrange(12))

    def _or_null(self, value: Any) -> Any:
        return None if self.rng.random() < 0.1 else value

    def batch(self, queries: dict[str, str]) -> dict[str, Counter[tuple[Any, ...]]]:
        """What batch SQL answers over the current tables: rows, and how often each is there."""
        k, v, w = self.key_type.replace("STRING", "TEXT"), self.number, self.other
        with duckdb.connect() as database:
            # As in Flink: NULL is the smallest value, and integers divided give an integer.
            database.execute("SET default_null_order = 'nulls_first_on_asc_last_on_desc'; SET integer_division = true")
            database.execute("SET threads = 1")
            self._load(database, "a", f"id INT, k {k}, v {v}, s TEXT", [*self.keyed["a"].values()])
            self._load(database, "b", f"id INT, k {k}, w {w}", [*self.keyed["b"].values()])
            self._load(database, "c", f"id INT, k {k}, v {v}, ts TIMESTAMP", self.timely)
            self._load(database, "every_c", f"id INT, k {k}, v {v}, ts TIMESTAMP", [*self.timely, *self.late])
            self._load(database, "d", f"k {k}, v {v}, s TEXT", self.bag)
            self._load(database, "e", f"id INT, v {v}, ts TIMESTAMP", [*self.keyed["e"].values()])
            marks = [{"name": name, "mark": mark} for name, mark in self.marks.items()]
            self._load(database, "marks", "name TEXT, mark TIMESTAMP", marks)
            database.execute(BATCH_VIEWS + VIEWS)
            found = {name: database.execute(query).fetchall() for name, query in queries.items()}
        return {name: Counter(tuple(map(comparable, row)) for row in rows) for name, rows in found.items()}

    def _load(self, database: duckdb.DuckDBPyConnection, name: str, columns: str, rows: list[Row]) -> None:
        database.execute(f"CREATE TABLE {name} ({columns})")
        if rows:
            places = ", ".join("?" * len(rows[0]))
            database.executemany(f"INSERT INTO {name} VALUES ({places})", [list(row.values()) for row in rows])


def comparable(value: Any) -> Any:
    """A value as Arrow, DuckDB and json have it, in one form."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, (float, Decimal)):
        return round(float(value), 6) + 0.0
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S")
    return value.isoformat() if isinstance(value, date) else value
