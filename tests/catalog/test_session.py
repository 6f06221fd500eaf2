"""SET and RESET."""

from __future__ import annotations

import pickle
from datetime import timedelta

import pytest

from rowkind.errors import RowkindError
from rowkind.options.session_options import (
    BATCH_INTERVAL,
    DML_SYNC,
    JOB_NAME,
    NOT_NULL_ENFORCER,
    RUNTIME_MODE,
    SESSION,
    TIME_ZONE,
    WITHOUT_EFFECT,
    NotNullEnforcer,
    RuntimeMode,
)
from rowkind.options.session_values import SessionOptions


def test_defaults() -> None:
    options = SessionOptions()
    assert options.value(RUNTIME_MODE) is RuntimeMode.STREAMING
    assert options.value(DML_SYNC) is False
    assert options.get_value(JOB_NAME) is None
    assert len(options) == 0


@pytest.mark.parametrize(
    ("option", "text", "value"),
    [
        (BATCH_INTERVAL, "10 s", timedelta(seconds=10)),
        (BATCH_INTERVAL, "500", timedelta(milliseconds=500)),
        (RUNTIME_MODE, "batch", RuntimeMode.BATCH),
        (NOT_NULL_ENFORCER, "drop", NotNullEnforcer.DROP),
        (TIME_ZONE, "Europe/Berlin", "Europe/Berlin"),
        (TIME_ZONE, "GMT-03:00", "GMT-03:00"),
    ],
)
def test_set(option: object, text: str, value: object) -> None:
    options, notices = SessionOptions().set(option.name, text)  # type: ignore[attr-defined]
    assert options.get_value(option) == value  # type: ignore[arg-type]
    assert notices == []


def test_set_leaves_the_old_options_alone() -> None:
    before = SessionOptions()
    after, _ = before.set("pipeline.name", "nightly")
    assert (dict(before), dict(after)) == ({}, {"pipeline.name": "nightly"})


def test_reset() -> None:
    options, _ = SessionOptions().set("pipeline.name", "a")
    options, _ = options.set("table.dml-sync", "true")
    assert dict(options.reset("pipeline.name")) == {"table.dml-sync": "true"}
    assert dict(options.reset()) == {}
    with pytest.raises(RowkindError) as caught:
        options.reset("pipeline.nam")
    assert caught.value.condition == "UNKNOWN_SESSION_OPTION"


def test_unknown_key_suggests_the_nearest() -> None:
    with pytest.raises(RowkindError) as caught:
        SessionOptions().set("table.dml-snyc", "true")
    assert caught.value.condition == "UNKNOWN_SESSION_OPTION"
    assert "table.dml-sync" in caught.value.params["suggestion"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("table.dml-sync", "yes"),
        ("execution.checkpointing.interval", "soon"),
        ("table.local-time-zone", "Mars/Base"),
        ("table.local-time-zone", "../etc"),
        ("execution.runtime-mode", "fast"),
    ],
)
def test_invalid_value(key: str, value: str) -> None:
    with pytest.raises(RowkindError) as caught:
        SessionOptions().set(key, value)
    assert caught.value.condition == "INVALID_SESSION_VALUE"


@pytest.mark.parametrize("key", ["execution.state-recovery.path", "execution.savepoint.path"])
def test_a_savepoint_of_flink_is_refused(key: str) -> None:
    with pytest.raises(RowkindError) as caught:
        SessionOptions().set(key, "s3://somewhere")
    assert caught.value.condition == "SESSION_OPTION_NOT_SUPPORTED"


def test_what_is_refused_is_known() -> None:
    assert [option.name for option in SESSION if not option.supported or option.later] == [
        "execution.state-recovery.path"
    ]


@pytest.mark.parametrize(
    "key",
    [
        "parallelism.default",
        "state.backend",
        "state.backend.type",
        "state.checkpoints.dir",
        "restart-strategy",
        "restart-strategy.type",
        "table.optimizer.agg-phase-strategy",
        "table.exec.mini-batch.enabled",
        "sql-client.execution.result-mode",
        "execution.checkpointing.mode",
    ],
)
def test_keys_without_effect_give_one_notice(key: str) -> None:
    options, notices = SessionOptions().set(key, "x")
    assert options[key] == "x"
    assert len(notices) == 1
    assert key in notices[0]


def test_every_option_is_declared_once() -> None:
    declared = [n for o in SESSION for n in (o.name, *o.fallbacks)] + [o.name for o in WITHOUT_EFFECT]
    assert len(declared) == len(set(declared))


def test_session_can_be_pickled() -> None:
    options, _ = SessionOptions().set("pipeline.name", "a")
    assert pickle.loads(pickle.dumps(options)) == options
