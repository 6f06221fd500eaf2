"""A whole job that reads hostile messages: through Kafka, Spark, several formats and the dead-letter topic."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rowkind.errors import RowkindError
from tests.e2e.conftest import labs  # noqa: F401
from tests.e2e.lab import SECONDS, Lab
from tests.kafka_client import Record, TopicFactory
from tests.security.corpus import RAW, TEXTS, marks

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

SMALL = {name: text for name, text in TEXTS.items() if len(text) < 10_000}


@pytest.fixture
def lab(labs: Callable[..., Lab], tmp_path: Path) -> Lab:  # noqa: F811
    return labs(str(tmp_path / "checkpoint"))


def test_a_message_that_looks_like_an_error_is_quoted_and_not_obeyed(
    lab: Lab, topic: TopicFactory, tmp_path: Path
) -> None:
    source, victim = topic(), tmp_path / "victim"
    lab.client.produce(source, [(None, mark) for mark in marks(victim)])
    job = lab.job(
        """CREATE TABLE s (id INT) WITH ('connector' = 'kafka', 'topic' = '{source}', {kafka}, {once}, {json});
        SELECT * FROM s;""",
        source=source,
    )
    with pytest.raises(RowkindError) as failed:
        job.wait(SECONDS)
    assert not victim.exists()
    assert failed.value.condition == "UNDECODABLE_MESSAGE"
    assert failed.value.params["offset"] == 0
    assert failed.value.params["payload"].startswith("<rowkind-error:")


def test_hostile_messages_pass_through_a_job(lab: Lab, topic: TopicFactory, tmp_path: Path) -> None:
    source, bytes_, dead, json_sink, avro_sink = topic(), topic(), topic(), topic(), topic()
    good = [json.dumps({"'; \"c`": text, "i": number}) for number, text in enumerate(SMALL.values())]
    bad = [*marks(tmp_path / "victim"), *(json.dumps({"i": text}) for text in TEXTS.values())]
    headers = tuple((text, text.encode()) for text in SMALL.values() if "\0" not in text)
    lab.client.produce(source, [Record(b"\xff\0", p.encode(), headers=headers) for p in [*good, *bad]])
    odd = [payload for payload in RAW.values() if len(payload) < 500_000]
    lab.client.produce(bytes_, [(None, payload) for payload in odd])
    lab.finish(
        """
        CREATE TABLE `../s; DROP TABLE x --` (`'; "c``` STRING, i INT) WITH ('connector' = 'kafka',
            'topic' = '{source}', {kafka}, {once}, {json},
            'scan.on-error' = 'dead-letter', 'scan.dead-letter.topic' = '{dead}');
        CREATE TABLE lines (line STRING) WITH ('connector' = 'kafka', 'topic' = '{bytes}', {kafka}, {once},
            'format' = 'raw');
        CREATE TABLE data (data BYTES) WITH ('connector' = 'kafka', 'topic' = '{bytes}', {kafka}, {once},
            'format' = 'raw');
        CREATE TABLE `../../sink/x` (i INT, t STRING, u STRING) WITH ('connector' = 'kafka', 'topic' = '{json_sink}',
            {kafka}, {json});
        CREATE TABLE avro_sink (t STRING, u STRING) WITH ('connector' = 'kafka', 'topic' = '{avro_sink}', {kafka},
            'format' = 'avro');
        EXECUTE STATEMENT SET BEGIN
            INSERT INTO `../../sink/x` SELECT i, `'; "c```, `'; "c``` || '''' FROM `../s; DROP TABLE x --`;
            INSERT INTO `../../sink/x` SELECT -1, line, UPPER(line) FROM lines;
            INSERT INTO `../../sink/x` SELECT -2, CAST(data AS STRING), DECODE(data, 'UTF-8') FROM data;
            INSERT INTO avro_sink SELECT line, UPPER(line) FROM lines;
        END;""",
        source=source, bytes=bytes_, dead=dead, json_sink=json_sink, avro_sink=avro_sink,
    )  # fmt: skip
    written = lab.values(json_sink)
    named = {row["i"]: (row["t"], row["u"]) for row in written if row["i"] >= 0}
    assert named == {number: (text, f"{text}'") for number, text in enumerate(SMALL.values())}
    texts = sorted(payload.decode("utf-8", "replace") for payload in odd if b"\xed" not in payload)
    for number in (-1, -2):
        found = [row["t"] for row in written if row["i"] == number]
        assert len(found) == len(odd)
        assert set(texts) <= set(found)
    assert all(row["t"] == row["u"] for row in written if row["i"] == -2)
    assert len(lab.records(avro_sink)) == len(odd)
    letters = lab.records(dead)
    assert sorted(letter.value or b"" for letter in letters) == sorted(payload.encode() for payload in bad)
    assert all(letter.key == b"\xff\0" and letter.headers[: len(headers)] == headers for letter in letters)
    assert not (tmp_path / "victim").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint"]
    assert [path.name for path in (tmp_path / "checkpoint").iterdir()] == ["..%2F..%2Fsink%2Fx"]
