"""Scripts that both Flink and rowkind run: the cases, their inputs, and what is in an output topic at the end.

A case is a file `cases/GROUP/NAME.sql`: one sink, named as the case, and INSERTs into it, over the tables of
`tables.sql`. What Flink made of it is in `recorded/NAME.json`, written by `python -m tools.record_parity`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.kafka_client import KafkaClient, Record
from tools.flink.script import split

HERE = Path(__file__).parent
INPUTS = tuple(sorted((HERE / "inputs").glob("*.jsonl")))
PARTITIONS = 3
OPTIONS = {
    "append": "'connector' = 'kafka', {servers}, 'format' = 'json'",
    "upsert": "'connector' = 'upsert-kafka', {servers}, 'key.format' = 'json', 'value.format' = 'json'",
    "once": "'scan.startup.mode' = 'earliest-offset', {ends}",
    "ends": "'scan.bounded.mode' = 'latest-offset'",
}
CAP = re.compile(r" \{rows:(\d+)\}")
DIFFERS = re.compile(r"^-- differs: (.+)$", re.MULTILINE)
INSTEAD = re.compile(r"^-- rowkind: (.+)$", re.MULTILINE)

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """One script."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def group(self) -> str:
        """Cases of a group run in one job of rowkind."""
        return self.path.parent.name

    @property
    def id(self) -> str:
        return f"{self.group}-{self.name}"

    @property
    def text(self) -> str:
        return self.path.read_text("utf-8")

    @property
    def topic(self) -> str:
        return f"parity-out-{self.name}"

    @property
    def recording(self) -> Path:
        return HERE / "recorded" / f"{self.name}.json"

    @property
    def upserts(self) -> bool:
        """Whether the sink is a table by key, so that its final state counts and not its messages."""
        return "({upsert}" in self.text

    @property
    def instead(self) -> list[str] | None:
        """The rows that rowkind gives where it differs on purpose; the case says why."""
        return INSTEAD.findall(self.text) if DIFFERS.search(self.text) else None

    @property
    def digest(self) -> str:
        """Of all that a recording depends on, which rowkind's caps on batches are not among."""
        parts = [CAP.sub("", path.read_text("utf-8")).encode() for path in (self.path, HERE / "tables.sql", *INPUTS)]
        return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]

    def statements(self, servers: str) -> list[str]:
        return filled(self.text, servers, capped=False, out=f"'topic' = '{self.topic}'")


CASES = tuple(Case(path) for path in sorted((HERE / "cases").glob("*/*.sql")))


def tables(servers: str, capped: bool) -> list[str]:
    """The statements that declare the inputs."""
    return filled((HERE / "tables.sql").read_text("utf-8"), servers, capped)


def script(cases: Sequence[Case], servers: str, capped: bool) -> list[str]:
    """Cases as one job: the tables, their own tables and views, and all INSERTs in one statement set."""
    own = [statement for case in cases for statement in case.statements(servers)]
    inserts = [statement for statement in own if _is_insert(statement)]
    together = ";\n".join(inserts)
    declared = [statement for statement in own if not _is_insert(statement)]
    return [*tables(servers, capped), *declared, f"EXECUTE STATEMENT SET BEGIN\n{together};\nEND"]


def _is_insert(statement: str) -> bool:
    return re.match(r"(\s|--[^\n]*\n)*INSERT\b", statement) is not None


def filled(script: str, servers: str, capped: bool, **names: str) -> list[str]:
    """The statements of a script, placeholders filled in. The cap on a batch's rows is rowkind's own option."""
    cap = r", 'scan.max-rows-per-batch' = '\1'" if capped else ""
    script = CAP.sub(cap, script)
    for name, value in (OPTIONS | names | {"servers": f"'properties.bootstrap.servers' = '{servers}'"}).items():
        script = script.replace(f"{{{name}}}", value)
    return split(script)


def fill_topics(client: KafkaClient) -> None:
    """Create the input topics and write their messages."""
    for path in INPUTS:
        topic = f"parity-{path.stem}"
        create_topic(client, topic)
        client.produce(topic, (_message(json.loads(line)) for line in path.read_text("utf-8").splitlines()))


def create_topic(client: KafkaClient, name: str) -> None:
    """A topic with as many partitions as every other."""
    client.create_topic(name, PARTITIONS)


def _message(given: Mapping[str, Any]) -> Record:
    key, value = (None if given.get(part) is None else json.dumps(given[part]).encode() for part in ("key", "value"))
    headers = tuple((name, text.encode()) for name, text in given.get("headers", {}).items())
    return Record(key, value, given["partition"], timestamp=given.get("timestamp"), headers=headers)


def result(case: Case, client: KafkaClient) -> list[str]:
    """What the case's topic holds, as JSON texts in order: the rows by key, or all messages."""
    records = client.consume_all(case.topic)
    if case.upserts:
        return ordered(_latest(records))
    return ordered(record.value for record in records if record.value is not None)


def _latest(records: Iterable[Record]) -> Iterable[bytes]:
    rows: dict[bytes, bytes] = {}
    for record in records:
        assert record.key is not None
        if record.value is None:
            rows.pop(record.key, None)
        else:
            key, row = json.loads(record.key), json.loads(record.value)
            assert key == {name: row[name] for name in key}, "a row under another key than its own"
            rows[record.key] = record.value
    return rows.values()


def ordered(values: Iterable[bytes]) -> list[str]:
    return sorted((value.decode() for value in values), key=lambda text: json.dumps(parsed(text), sort_keys=True))


def parsed(text: str) -> Any:
    """A JSON text with its numbers as they are written: 1.50 is not 1.5."""
    return json.loads(text, parse_float=str)


@cache
def recorded(case: Case) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(case.recording.read_text("utf-8"), parse_float=str)
    return found
