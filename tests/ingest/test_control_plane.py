"""Y14: topics through the control plane of ApsaraMQ, by the vendor's SDK, against a stand-in that checks signatures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from rowkind.errors import RowkindError
from rowkind.ingest.endpoints import Aliyun
from rowkind.runtime.driver.ingest import control_plane as subject
from rowkind.runtime.driver.ingest.control_plane import ControlPlane
from rowkind.runtime.driver.ingest.tables import JobTables
from tests.ingest.jobs import ALIYUN, job
from tests.servers.control_plane import StandIn, control_plane

ID, SECRET = ALIYUN["aliyun.kafka.accessKeyId"], ALIYUN["aliyun.kafka.accessKeySecret"]


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    with control_plane(StandIn(ID, SECRET)) as serving:
        yield serving


def create(stand_in: StandIn, secret: str = SECRET, endpoint: str | None = None, **sink: str) -> None:
    place = Aliyun(ID, secret, "alikafka_post", endpoint or stand_in.endpoint, "cn-hangzhou")
    tables = JobTables(job(sink=sink), lambda transform: (), None)
    creation = tables.any_table("orders").writing.topic_creation
    ControlPlane(place)("orders", creation.partitions, creation.replication_factor, creation.config)


def test_a_topic_is_created_compacted(stand_in: StandIn) -> None:
    create(stand_in)
    (asked,) = stand_in.asked
    assert asked == {
        "InstanceId": "alikafka_post",
        "RegionId": "cn-hangzhou",
        "Topic": "orders",
        "Remark": "created by rowkind",
        "CompactTopic": "true",
        "LocalTopic": "true",
    }


def test_partitions_and_settings_of_the_topic(stand_in: StandIn) -> None:
    create(stand_in, **{"sink.topic.partitions": "12", "sink.topic.config.max.message.bytes": "2000000"})
    (asked,) = stand_in.asked
    assert (asked["PartitionNum"], asked["Config"]) == ("12", '{"max.message.bytes": "2000000"}')


def test_a_wrong_secret_is_refused_and_not_shown(stand_in: StandIn) -> None:
    with pytest.raises(RowkindError) as refused:
        create(stand_in, secret="not-hunter3")
    assert refused.value.condition == "INGEST_TOPIC_NOT_CREATED"
    assert "SignatureDoesNotMatch" in str(refused.value)
    assert not any(secret in str(refused.value) for secret in (ID, SECRET, "not-hunter3"))
    assert stand_in.asked == []


THROTTLED: tuple[int, dict[str, Any]] = (400, {"Code": "Throttling.User", "Message": "slow down"})


def test_throttled_calls_are_made_again(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "APART_SECONDS", 0.01)
    stand_in.answers += [THROTTLED, (503, {"Code": "ServiceUnavailable", "Message": "later"})]
    create(stand_in)
    assert len(stand_in.asked) == 3
    stand_in.answers += [THROTTLED] * subject.ATTEMPTS
    with pytest.raises(RowkindError):
        create(stand_in)


@pytest.mark.parametrize(
    "answer",
    [
        (400, {"Code": "BIZ_INSTANCE_NOT_FOUND", "Message": "no such instance"}),
        (200, {"Code": 400, "Success": False, "Message": "no such instance"}),
    ],
)
def test_what_the_control_plane_refuses_is_named(stand_in: StandIn, answer: tuple[int, dict[str, Any]]) -> None:
    stand_in.answers.append(answer)
    with pytest.raises(RowkindError, match="no such instance") as refused:
        create(stand_in)
    assert refused.value.condition == "INGEST_TOPIC_NOT_CREATED"
    assert len(stand_in.asked) == 1


def test_a_control_plane_that_is_away(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "APART_SECONDS", 0.01)
    with pytest.raises(RowkindError) as refused:
        create(stand_in, endpoint="http://127.0.0.1:1")
    assert refused.value.condition == "INGEST_TOPIC_NOT_CREATED"


def test_the_sdk_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    from rowkind.ingest import rules

    monkeypatch.setattr(rules, "find_spec", lambda name: None)
    with pytest.raises(RowkindError) as refused:
        job(sink=dict(ALIYUN))
    assert refused.value.condition == "INGEST_ALIYUN_SDK"
