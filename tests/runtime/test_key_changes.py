"""A message key that changes while a job rests: refused by name, on both sides, whatever decides its bytes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rowkind.errors import RowkindError
from rowkind.runtime.driver.checkpoint import Checkpoint
from tests.oracle.duck import Duck
from tests.oracle.planning import job_of

REGISTRY = "'key.format' = 'avro-confluent', 'key.avro-confluent.url' = 'http://user:secret@one:8081'"
SCRIPT = """
CREATE TABLE users (id INT, region STRING, name STRING, PRIMARY KEY (region, id) NOT ENFORCED)
    WITH ('connector' = 'upsert-kafka', {at}, {source});
CREATE TABLE copies (id INT, region STRING, name STRING, PRIMARY KEY (region, id) NOT ENFORCED)
    WITH ('connector' = 'upsert-kafka', {to}, {sink});
CREATE TABLE log (id INT, name STRING) WITH ('connector' = 'kafka', {to}, 'key.fields' = 'id', 'key.format' = 'json',
    'value.format' = 'json');
INSERT INTO copies SELECT id, region, name FROM users;
"""
JSON = "'key.format' = 'json', 'value.format' = 'json'"
CSV = "'key.format' = 'csv', 'value.format' = 'json'"


def opened(folder: Path, script: str, source: str = JSON, sink: str = JSON, topic: str = "out") -> list[str]:
    to = f"'properties.bootstrap.servers' = 'nowhere:1', 'topic' = '{topic}'"
    text = script.replace("{source}", source).replace("{sink}", sink).replace("{to}", to)
    return Checkpoint(str(folder)).open(job_of(text, Duck()))[1]


def refused(folder: Path, script: str = SCRIPT, **more: str) -> RowkindError:
    with pytest.raises(RowkindError) as failed:
        opened(folder, script, **more)
    assert failed.value.condition == "CHECKPOINT_KEY_CHANGED"
    return failed.value


COPIES = "copies (id INT, region STRING, name STRING, PRIMARY KEY (region, id)"
CHANGED = {
    "order of the columns": COPIES.replace("(region, id)", "(id, region)"),
    "one column less": COPIES.replace("(region, id)", "(region)"),
    "name of a column": COPIES.replace("id INT", "no INT").replace("(region, id)", "(region, no)"),
    "type of a column": COPIES.replace("id INT", "id BIGINT"),
}


@pytest.mark.parametrize("new", CHANGED.values(), ids=CHANGED)
def test_another_key_of_a_sink_is_refused(tmp_path: Path, new: str) -> None:
    opened(tmp_path, SCRIPT)
    before = (tmp_path / "job.json").read_bytes()
    assert refused(tmp_path, SCRIPT.replace(COPIES, new)).params["topic"] == "sink topic out"
    assert (tmp_path / "job.json").read_bytes() == before
    assert opened(tmp_path, SCRIPT) == []


@pytest.mark.parametrize("side", ["source", "sink"])
def test_another_key_format_or_option_is_refused(tmp_path: Path, side: str) -> None:
    opened(tmp_path, SCRIPT, **{side: CSV})
    refused(tmp_path, **{side: JSON})
    refused(tmp_path, **{side: f"{CSV}, 'key.csv.field-delimiter' = ';'"})
    assert opened(tmp_path, SCRIPT, **{side: CSV.replace("'value.format' = 'json'", "'value.format' = 'json', "
        "'key.csv.ignore-parse-errors' = 'true', 'key.csv.field-delimiter' = ','")}) == []  # fmt: skip


def test_another_schema_of_the_key_is_refused_and_an_address_is_not(tmp_path: Path) -> None:
    fields = '[{"name": "region", "type": "string"}, {"name": "id", "type": "int"}]'
    record = '{"type": "record", "name": "one", "fields": FIELDS}'.replace("FIELDS", fields)
    registry = f"{REGISTRY}, 'value.format' = 'json', 'key.avro-confluent.schema' = '{record}'"
    opened(tmp_path, SCRIPT, sink=registry)
    refused(tmp_path, sink=registry.replace('"one"', '"two"'))
    assert opened(tmp_path, SCRIPT, sink=registry.replace("one:8081", "two:8081")) == []
    assert "secret" not in (tmp_path / "job.json").read_text()


def test_another_topic_is_another_table_and_the_old_one_is_remembered(tmp_path: Path) -> None:
    opened(tmp_path, SCRIPT)
    assert opened(tmp_path, SCRIPT, sink=CSV, topic="fresh") == []
    assert set(json.loads((tmp_path / "job.json").read_text())["keys"]) == {
        *("source topic t", "sink topic out", "sink topic fresh")
    }
    refused(tmp_path, sink=CSV)


def test_the_key_of_an_append_only_table_may_change(tmp_path: Path) -> None:
    script = SCRIPT.replace("INSERT INTO copies SELECT id, region, name", "INSERT INTO log SELECT id, name")
    script = script.replace("FROM users", "FROM clicks").replace(
        "CREATE TABLE log", "CREATE TABLE clicks (id INT, name STRING) WITH ('connector' = 'kafka', {at}, "
        "'format' = 'json');\nCREATE TABLE log")  # fmt: skip
    opened(tmp_path, script)
    assert opened(tmp_path, script.replace("'key.fields' = 'id'", "'key.fields' = 'name'")) == []
