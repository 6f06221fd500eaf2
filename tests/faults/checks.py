"""What a job does while faults happen to it: the load it gets, and what its output topics must hold in the end."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

KEYS, GROUPS = 50, 7

Message = tuple[str | None, str | None]
"""Key and value as text."""


class Promise(StrEnum):
    """What a job promises of its outputs: one of the guarantees, or each of them of some outputs."""

    EXACTLY_ONCE = "exactly-once"
    AT_LEAST_ONCE = "at-least-once"
    MIXED = "mixed"


@dataclass(frozen=True, slots=True)
class Event:
    """One message of the load; its number is unique, its key and group repeat."""

    id: int

    @property
    def key(self) -> str:
        return _json({"k": self.id % KEYS})

    @property
    def value(self) -> str:
        return _json({"k": self.id % KEYS, "id": self.id, "grp": self.id % GROUPS})


@dataclass(frozen=True, slots=True)
class Output:
    """An output topic: each message that must be there, or the last one of each key, or both."""

    table: str
    every: Callable[[Sequence[Event]], list[str]] | None = None
    final: Callable[[Sequence[Event]], dict[str, str]] | None = None
    mixed: Promise = Promise.EXACTLY_ONCE
    """Its own promise in a job that mixes them."""

    def promised(self, job: Promise) -> Promise:
        """What a job's promise means for this output."""
        return self.mixed if job is Promise.MIXED else job

    def faults(self, messages: Sequence[Message], events: Sequence[Event], promise: Promise) -> list[str]:
        """What is wrong with the messages; nothing when all is well."""
        found = Counter(messages)
        wrong = []
        if self.every is not None:
            wanted = set(self.every(events))
            there = {value for _, value in messages}
            wrong += [f"{self.table}: {len(wanted - there)} lost, {len(there - wanted)} unknown"] * (wanted != there)
        if self.final is not None and (table := dict(messages)) != self.final(events):
            wrong.append(f"{self.table}: the table is {table}, not {self.final(events)}")
        twice = sum(found.values()) - len(found)
        if twice and self.promised(promise) is Promise.EXACTLY_ONCE:
            wrong.append(f"{self.table}: {twice} messages are there more than once")
        return wrong


def _json(value: Mapping[str, object]) -> str:
    return json.dumps(value, separators=(",", ":"))


def _copied(events: Sequence[Event]) -> list[str]:
    return [_json({"id": e.id, "grp": e.id % GROUPS}) for e in events]


def _rows(events: Sequence[Event]) -> list[str]:
    return [_json({"k": e.id % KEYS, "id": e.id}) for e in events]


def _latest(events: Sequence[Event]) -> dict[str, str]:
    return {e.key: row for e, row in zip(events, _rows(events), strict=True)}


def _counted(events: Sequence[Event]) -> dict[str, str]:
    groups: dict[int, list[int]] = {}
    for event in events:
        groups.setdefault(event.id % GROUPS, []).append(event.id)
    return {
        _json({"grp": g}): _json({"grp": g, "n": len(ids), "total": sum(ids), "ids": len({*ids})})
        for g, ids in groups.items()
    }


def _joined(events: Sequence[Event]) -> dict[str, str]:
    return {e.key: _json({"k": e.id % KEYS, "id": e.id, "name": f"group {e.id % GROUPS}"}) for e in events}


COPIED = Output("copied", every=_copied)
LATEST = Output("latest", every=_rows, final=_latest, mixed=Promise.AT_LEAST_ONCE)
COUNTED = Output("counted", final=_counted)
JOINED = Output("joined", final=_joined, mixed=Promise.AT_LEAST_ONCE)

CHECKS = {
    "append copy": "INSERT INTO copied SELECT id, grp FROM events;",
    "upsert copy": "INSERT INTO latest SELECT k, id FROM keyed;",
    "aggregate": "INSERT INTO counted SELECT grp, COUNT(*), SUM(CAST(id AS BIGINT)), COUNT(DISTINCT id) "
    "FROM events GROUP BY grp;",
    "join": "INSERT INTO joined SELECT k, id, name FROM keyed JOIN names ON keyed.grp = names.grp;",
}
"""Every job under harm does all of these, each into a sink of its own."""
OUTPUTS = (COPIED, LATEST, COUNTED, JOINED)
INSERTS = f"EXECUTE STATEMENT SET BEGIN {' '.join(CHECKS.values())} END;"

NAMES = [(_json({"grp": g}), _json({"grp": g, "name": f"group {g}"})) for g in range(GROUPS)]

TABLES = """
    CREATE TABLE events (k INT, id INT, grp INT) WITH ('connector' = 'kafka', 'topic' = '{run}-load', 'format' = 'json',
        {kafka}, {reading}, 'scan.startup.mode' = 'earliest-offset');
    CREATE TABLE keyed (k INT, id INT, grp INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'upsert-kafka',
        'topic' = '{run}-load', {formats}, {kafka}, {reading});
    CREATE TABLE names (grp INT, name STRING, PRIMARY KEY (grp) NOT ENFORCED) WITH ('connector' = 'upsert-kafka',
        'topic' = '{run}-names', {formats}, {kafka});
    CREATE TABLE copied (id INT, grp INT) WITH ('connector' = 'kafka', 'topic' = '{run}-copied', 'format' = 'json',
        {kafka}, {copied}, 'sink.transactional-id-prefix' = '{run}-copied');
    CREATE TABLE latest (k INT, id INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'upsert-kafka',
        'topic' = '{run}-latest', {formats}, {kafka}, {latest}, 'sink.transactional-id-prefix' = '{run}-latest');
    CREATE TABLE counted (grp INT, n BIGINT, total BIGINT, ids BIGINT, PRIMARY KEY (grp) NOT ENFORCED) WITH (
        'connector' = 'upsert-kafka', 'topic' = '{run}-counted', {formats}, {kafka}, {counted},
        'sink.transactional-id-prefix' = '{run}-counted');
    CREATE TABLE joined (k INT, id INT, name STRING, PRIMARY KEY (k) NOT ENFORCED) WITH (
        'connector' = 'upsert-kafka', 'topic' = '{run}-joined', {formats}, {kafka}, {joined},
        'sink.transactional-id-prefix' = '{run}-joined');
"""
