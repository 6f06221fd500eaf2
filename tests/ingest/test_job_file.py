"""The structure of a job file: what is refused, where, and what is taken (Y1, Y2, Y4)."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowkind.errors import RowkindError
from rowkind.ingest.job_file import parse_job_file
from rowkind.ingest.loading import load_job, parse_job
from rowkind.sql import parse_script
from tests.ingest.jobs import Refused, refused, text


@pytest.mark.parametrize("case", refused("refused.txt"), ids=lambda case: case.title)
def test_refused(case: Refused) -> None:
    with pytest.raises(RowkindError) as caught:
        parse_job(case.text, "job.yaml")
    error = caught.value
    assert (error.condition, error.params["line"], error.params["column"]) == (case.condition, case.line, case.column)
    assert "job.yaml" in error.params["place"]
    for word in case.words:
        assert word in str(error)
    assert "hunter" not in str(error)
    assert "hunter" not in repr(error.params)


def test_the_statement_for_a_topic_is_one() -> None:
    source = "source:\n  type: upsert-kafka\n  topic: a\nsink:\n  type: print\n"
    with pytest.raises(RowkindError) as caught:
        parse_job(source)
    (create,) = parse_script(caught.value.params["statement"])
    assert create.definition.options["topic"] == "a"  # type: ignore[union-attr]


@pytest.mark.parametrize("section", ["route", "transform", "pipeline"])
@pytest.mark.parametrize("content", ["", " ~", " []", " {}"])
def test_an_empty_section_is_none_at_all(section: str, content: str) -> None:
    if content in (" ~", " {}" if section != "pipeline" else " []"):
        with pytest.raises(RowkindError) as caught:
            parse_job(f"{text()}{section}:{content}\n")
        assert caught.value.condition == "INGEST_SHAPE"
    else:
        assert parse_job(f"{text()}{section}:{content}\n").routes == ()


def test_values_are_texts_as_they_are_written() -> None:
    written = "source:\n  a: 0010\n  b: yes\n  c: 1e3\n  d: 2024-01-01\n  e: ''\n  f: null\nsink:\n  type: print\n"
    parsed = parse_job_file(written, "job.yaml")
    assert [setting.text.value for setting in parsed.source] == ["0010", "yes", "1e3", "2024-01-01", "", "null"]


def test_keys_keep_their_places() -> None:
    parsed = parse_job_file("source:\n  a: 1\n\n  b: 2\nsink:\n    c: 3\n", "job.yaml")
    assert [str(s.place) for s in (*parsed.source, *parsed.sink)] == [
        "job.yaml, line 2, column 3",
        "job.yaml, line 4, column 3",
        "job.yaml, line 6, column 5",
    ]


def test_the_order_of_the_sections_does_not_matter() -> None:
    lines = text(pipeline={"name": "a"}, route=[{"source-table": "a.b", "sink-table": "c"}])
    source, sink, rest = lines.partition("sink:\n")[0], *lines.partition("sink:\n")[2].split("pipeline:\n")
    turned = f"pipeline:\n{rest}sink:\n{sink}{source}"
    assert parse_job(turned).to_json() == parse_job(lines).to_json()


def test_deep_nesting_is_an_error_of_the_file() -> None:
    with pytest.raises(RowkindError) as caught:
        parse_job("source: " + "[" * 1500)
    assert caught.value.condition == "INGEST_YAML"


@pytest.mark.parametrize(("content", "reason"), [(None, "No such file"), (b"\xff\xfe\x00", "UTF-8")])
def test_a_file_that_cannot_be_read(content: bytes | None, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "job.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(RowkindError) as caught:
        load_job(path)
    assert caught.value.condition == "INGEST_FILE_UNREADABLE"
    assert reason in str(caught.value)


def test_characters_that_yaml_does_not_allow() -> None:
    with pytest.raises(RowkindError) as caught:
        parse_job("source: \x00")
    assert caught.value.condition == "INGEST_YAML"
