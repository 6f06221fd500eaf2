"""The description of a job: what its checkpoint keeps, and which edits need a new one."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rowkind.cli.ingest import loaded
from rowkind.errors import RowkindError
from rowkind.ingest.description import check_resumable
from tests.ingest.jobs import job, text

ROUTE = {"source-table": "shop.orders", "sink-table": "orders"}
TRANSFORM = {"source-table": "shop.orders", "filter": "id > 1"}
BIN = Path(sys.executable).parent


def test_json() -> None:
    made = job(route=[ROUTE], transform=[TRANSFORM], pipeline={"name": "shop"}, lists="exclude.schema.changes: [table]")
    described = json.loads(json.dumps(made.to_json()))
    assert described["source"]["password"] == "****"
    assert (described["version"], described["name"]) == (1, "shop")
    assert (described["route"], described["transform"]) == ([ROUTE], [TRANSFORM])
    assert described["sink"] == {"type": "upsert-kafka", "properties.bootstrap.servers": "kafka:9092"}
    assert described["schema_changes"] == ["add.column", "alter.column.type", "drop.column", "rename.column"]


def test_jobs_are_values() -> None:
    """They travel to other processes, and two files that say the same are the same job."""
    made = job(**BASE)
    assert pickle.loads(pickle.dumps(made)) == made == job(**BASE)
    for other in ({"filter": "id > 2"}, {"filter": "id > 1", "projection": "*"}):
        assert job(transform=[TRANSFORM | other]).transforms != made.transforms


def test_a_login_in_an_address_is_hidden() -> None:
    assert "hunter" not in json.dumps(job(sink={"properties.client.id": "http://u:hunter2@host"}).to_json())


BASE: dict[str, Any] = {"route": [ROUTE], "transform": [TRANSFORM]}
EXACTLY = {"sink.delivery-guarantee": "exactly-once"}
EDITS: list[tuple[str, dict[str, Any], dict[str, Any], str | None]] = [
    # what, before, after, what the refusal names
    ("nothing", BASE, BASE, None),
    ("a route's target", BASE, BASE | {"route": [ROUTE | {"sink-table": "x"}]}, "'route'"),
    ("no route", BASE, BASE | {"route": None}, "'route'"),
    ("a route's description", BASE, BASE | {"route": [ROUTE | {"description": "d"}]}, None),
    ("a filter", BASE, BASE | {"transform": [TRANSFORM | {"filter": "id > 2"}]}, "'transform'"),
    ("a projection more", BASE, BASE | {"transform": [TRANSFORM | {"projection": "*"}]}, "'transform'"),
    (
        "the order of rules",
        {"route": [ROUTE, ROUTE | {"sink-table": "x"}]},
        {"route": [ROUTE | {"sink-table": "x"}, ROUTE]},
        "'route'",
    ),
    ("one topic", {}, {"sink": {"topic": "all"}}, "'sink.topic'"),
    ("another sink", {}, {"sink_type": "print"}, "'sink.type'"),
    ("the mode of routes", {}, {"pipeline": {"route-mode": "FIRST_MATCH"}}, "'pipeline.route-mode'"),
    ("types", {}, {"source": {"treat-tinyint1-as-boolean.enabled": "false"}}, "treat-tinyint1"),
    ("a password", {}, {"source": {"password": "hunter3"}}, None),
    ("more tables", {}, {"source": {"tables": r"shop.\.*,x.y"}}, None),
    ("another host", {}, {"source": {"hostname": "db2"}}, None),
    ("a behaviour", {}, {"pipeline": {"schema.change.behavior": "EVOLVE"}}, None),
    ("a name", {"pipeline": {"name": "a"}}, {"pipeline": {"name": "b"}}, None),
    (
        "a name of transactions",
        {"sink": EXACTLY, "pipeline": {"name": "a"}},
        {"sink": EXACTLY, "pipeline": {"name": "b"}},
        "transactional",
    ),
    (
        "a prefix of transactions",
        {"sink": EXACTLY | {"sink.transactional-id-prefix": "a"}},
        {"sink": EXACTLY | {"sink.transactional-id-prefix": "b"}},
        "transactional",
    ),
]


@pytest.mark.parametrize(("before", "after", "refused"), [e[1:] for e in EDITS], ids=[e[0] for e in EDITS])
def test_edits(before: dict[str, Any], after: dict[str, Any], refused: str | None) -> None:
    recorded = json.loads(json.dumps(job(**before).to_json()))
    if refused is None:
        check_resumable(recorded, job(**after))
    else:
        with pytest.raises(RowkindError) as caught:
            check_resumable(recorded, job(**after))
        assert caught.value.condition == "INGEST_JOB_CHANGED"
        assert refused in caught.value.params["changed"]


def test_notes_about_edits() -> None:
    recorded = job().to_json()
    edited = job(source={"scan.startup.mode": "latest-offset", "password": "hunter3", "port": "3307"})
    assert check_resumable(recorded, edited) == [
        "'source.port' was not set and is '3307'; it counts from here on.",
        "'source.scan.startup.mode' was not set and is 'latest-offset'; it has no effect: the checkpoint says where to "
        "go on.",
    ]


def command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(BIN / "rowkind"), "ingest", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
    )


def test_the_command_checks_a_job(tmp_path: Path) -> None:
    file, secrets = tmp_path / "shop.yaml", tmp_path / "secrets.yaml"
    file.write_text(
        text(
            source={"password": "${secret_values.db}", "hostname": "${host}"},
            sink={"properties.sasl.jaas.config": "${secret_values.jaas}"},
        )
    )
    secrets.write_text("db: hunter2\n")
    secrets.chmod(0o600)
    arguments = (
        str(file),
        "--check",
        "--var",
        "host=db1.invalid",
        "--secrets",
        str(secrets),
        "--checkpoint",
        str(tmp_path),
    )
    done = command(*arguments, ROWKIND_SECRET_JAAS="hunter3")
    assert done.returncode == 1
    assert "job shop" in done.stdout
    assert "  hostname: db1.invalid" in done.stdout
    assert "[MYSQL_UNREACHABLE]" in done.stderr
    assert "hunter" not in done.stdout + done.stderr
    with pytest.raises(RowkindError) as caught:
        loaded(file, ["host=db1"], secrets, None)
    assert caught.value.condition == "INGEST_UNKNOWN_VARIABLE"
    assert "hunter" not in str(caught.value)
