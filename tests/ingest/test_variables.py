"""Variables and secrets (Y3): filled into parsed texts, and a secret's value shown nowhere."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from rowkind.errors import RowkindError
from rowkind.ingest.job_file import parse_job_file
from rowkind.ingest.loading import parse_job
from rowkind.ingest.place import Place
from rowkind.ingest.variables import Variables, environment_name, read_secrets
from rowkind.ingest.yaml_nodes import Scalar
from tests.ingest.jobs import ALIYUN, job, text

VARIABLES = Variables(
    {"db": "shop", "a.b-c_d": "1", "tricky": "x: [1] # 'a' *"},
    {"pw": "hunter2", "kafka-sk": "hunter3"},
    {"ROWKIND_SECRET_KAFKA_AK": "hunter4", "ROWKIND_SECRET_A_B_C": "hunter5", "ROWKIND_SECRET_PW": "no"},
)


@pytest.mark.parametrize(
    ("written", "value", "secret"),
    [
        ("plain", "plain", False),
        ("${db}", "shop", False),
        ("${db}.orders,${db}.items", "shop.orders,shop.items", False),
        ("${a.b-c_d}", "1", False),
        ("${tricky}", "x: [1] # 'a' *", False),
        ("${nothing:-else}", "else", False),
        ("${nothing:-}", "", False),
        ("$${db}", "${db}", False),
        ("$1 $ {", "$1 $ {", False),
        ("${secret_values.pw}", "hunter2", True),
        ("x${secret_values.kafka-sk}y", "xhunter3y", True),
        ("${secret_values.kafka-ak}", "hunter4", True),
        ("${secret_values.a.b-c}", "hunter5", True),
        ("${pw}", "hunter2", True),
        ("${secret_values.none:-default}", "default", True),
    ],
)
def test_filled(written: str, value: str, secret: bool) -> None:
    found = VARIABLES.filled(Scalar(written, Place("job.yaml")))
    assert (found.value, found.secret) == (value, secret)
    assert "hunter" not in repr(found)
    assert str(found) == ("****" if secret else value)


@pytest.mark.parametrize(
    ("written", "condition", "words"),
    [
        ("${nothing}", "INGEST_UNKNOWN_VARIABLE", ("'nothing'", "--var nothing=VALUE", "ROWKIND_SECRET_NOTHING")),
        ("${dbb}", "INGEST_UNKNOWN_VARIABLE", ("'db'",)),
        ("${secret_values.no-1}", "INGEST_UNKNOWN_VARIABLE", ("'no-1: …'", "ROWKIND_SECRET_NO_1")),
        ("${secret_values.db}", "INGEST_UNKNOWN_VARIABLE", ("'secret_values.db'",)),
        ("${}", "INGEST_VARIABLE_SYNTAX", ()),
        ("${a b}", "INGEST_VARIABLE_SYNTAX", ()),
        ("${open", "INGEST_VARIABLE_SYNTAX", ()),
    ],
)
def test_undefined(written: str, condition: str, words: tuple[str, ...]) -> None:
    with pytest.raises(RowkindError) as caught:
        parse_job_file(text(source={"hostname": written}), "job.yaml", VARIABLES)
    assert caught.value.condition == condition
    assert caught.value.params["line"] == 3
    for word in words:
        assert word in str(caught.value)
    assert "hunter" not in str(caught.value)


def test_a_value_never_changes_the_structure() -> None:
    found = parse_job_file(text(source={"hostname": "${tricky}"}), "job.yaml", VARIABLES)
    assert found.source.settings[1].text.value == "x: [1] # 'a' *"
    assert len(found.source.settings) == len(parse_job_file(text(), "job.yaml").source.settings)


def test_names_in_the_environment() -> None:
    assert environment_name("upsert.kafka-ak") == "ROWKIND_SECRET_UPSERT_KAFKA_AK"


def test_a_file_of_secrets(tmp_path: Path) -> None:
    path = tmp_path / "secrets.yaml"
    path.write_text("a.b: 'x: #1'\nc-d: 0010\n")
    path.chmod(0o600)
    assert read_secrets(path) == {"a.b": "x: #1", "c-d": "0010"}
    path.write_text("")
    assert read_secrets(path) == {}


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o666, 0o610, 0o620])
def test_a_file_of_secrets_that_others_may_open(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "secrets.yaml"
    path.write_text("a: hunter2\n")
    path.chmod(mode)
    with pytest.raises(RowkindError) as caught:
        read_secrets(path)
    assert caught.value.condition == "INGEST_SECRETS_OPEN_TO_OTHERS"


@pytest.mark.parametrize(
    ("content", "condition"),
    [
        ("hunter2", "INGEST_SECRETS_FILE"),
        ("- hunter2", "INGEST_SECRETS_FILE"),
        ("a:\n  b: hunter2", "INGEST_SECRETS_FILE"),
        ("a: *hunter2", "INGEST_YAML"),
        ("a: !hunter2 b", "INGEST_YAML"),
        ("a: !hunter2!b c", "INGEST_YAML"),
        ("a: hunter2: b", "INGEST_YAML"),
        ("a: 'hunter2", "INGEST_YAML"),
        ("a: 1\na: hunter2", "INGEST_KEY_TWICE"),
        ("a: \x00hunter2", "INGEST_YAML"),
    ],
)
def test_a_bad_file_of_secrets_shows_nothing_of_it(content: str, condition: str, tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(content)
    path.chmod(0o600)
    with pytest.raises(RowkindError) as caught:
        read_secrets(path)
    assert caught.value.condition == condition
    assert "hunter" not in str(caught.value)
    assert "hunter" not in repr(caught.value.params)


def test_secrets_are_nowhere_in_a_job() -> None:
    made = job(
        source={"hostname": "${secret_values.host}", "username": "${user}", "password": "${secret_values.pw}"},
        sink={
            **ALIYUN,
            "topic": "orders",
            "properties.bootstrap.servers": "${secret_values.brokers}",
            "properties.sasl.jaas.config": "hunter2 in a file",
        },
        variables=Variables({}, {"host": "hunter6", "user": "hunter7", "pw": "hunter2", "brokers": "hunter8:1"}),
    )
    assert made.source.hostname == "hunter6"
    assert made.source.password == "hunter2"
    for seen in (repr(made), str(made), json.dumps(made.to_json()), *made.notes, repr(made.given)):
        assert "hunter" not in seen
        assert "LTAI5t" not in seen
    again = pickle.loads(pickle.dumps(made))
    assert again.source.password == "hunter2"
    assert again == made


@pytest.mark.parametrize(
    "sections",
    [
        {"source": {"tables": "${secret_values.pw}"}},
        {"source": {"name": "${secret_values.pw}"}},
        {"sink": {"topic": "${pw}"}},
        {"sink": {"sink.topic.config.retention.ms": "${pw}"}},
        {"pipeline": {"name": "${secret_values.pw}"}},
        {"route": [{"source-table": "a.b", "sink-table": "${secret_values.pw}"}]},
        {"transform": [{"source-table": "a.b", "filter": "a = '${secret_values.pw}'"}]},
    ],
)
def test_a_secret_cannot_be_what_is_shown(sections: dict[str, object]) -> None:
    with pytest.raises(RowkindError) as caught:
        job(variables=VARIABLES, **sections)
    assert caught.value.condition == "INGEST_SECRET_SHOWN"
    assert "hunter" not in str(caught.value)


@pytest.mark.parametrize(
    ("section", "key"),
    [("source", "port"), ("sink", "properties.max.block.ms"), ("source", "connect.timeout"), ("source", "password ")],
)
def test_a_secret_is_not_in_an_error_about_its_value(section: str, key: str) -> None:
    with pytest.raises(RowkindError) as caught:
        job(variables=VARIABLES, **{section: {key: "${secret_values.pw}"}})
    assert "hunter" not in str(caught.value)
    assert "hunter" not in repr(caught.value.params)


def test_notes_about_arguments() -> None:
    variables = replace(VARIABLES, values={"my-password": "hunter2", "unused": "1"})
    notes = job(source={"password": "${my-password}"}, variables=variables).notes
    assert [n for n in notes if "--var" in n] == [
        "job.yaml, line 5, column 3: 'password' comes from --var my-password, which others can see in the list of "
        "processes.",
        "--var unused has no effect: the job file does not name it.",
    ]


def test_the_page_of_the_vendor() -> None:
    page = (Path(__file__).parent / "fixtures" / "vendor.yaml").read_text("utf-8")
    values = {
        "mysql.hostname": "db",
        "mysql.port": "3306",
        "mysql.username": "reader",
        "mysql.source.table": "shop.orders",
        "upsert.kafka.bootstraps.server": "kafka:9092",
        "upsert.kafka.aliyun.instanceid": "i",
        "upsert.kafka.aliyun.endpoint": "e",
        "upsert.kafka.aliyun.regionid": "r",
        "upsert.kafka.topic": "orders",
    }
    secrets = {"mysql.password": "hunter2", "upsert.kafka.aliyun.ak": "hunter3", "upsert.kafka.aliyun.sk": "hunter4"}
    made = parse_job(page, "job.yaml", Variables(values, secrets), "/checkpoint")
    assert (made.source.name, made.sink.name) == ("MySQL Source", "upsert-kafka Sink")
    assert made.name == "job"
    assert str(made.source.server_ids) == "8601-8604"
    assert made.routes[0].target == "orders"
    assert "hunter" not in json.dumps(made.to_json()) + repr(made)
