"""Topics of ApsaraMQ for Kafka: its brokers create none, its control plane does, through the vendor's own SDK."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from rowkind.errors import RowkindError
from rowkind.ingest.endpoints import Aliyun
from rowkind.options.secrets import MASK

ATTEMPTS, APART_SECONDS = 5, 1.0
TIMEOUT_MS = 20_000


class ControlPlane:
    """Creates topics by CreateTopic of the product alikafka, version 2019-09-16."""

    def __init__(self, place: Aliyun) -> None:
        from alibabacloud_alikafka20190916.client import Client
        from alibabacloud_tea_openapi.utils_models import Config

        self._place = place
        scheme, _, host = place.endpoint.rpartition("://")
        self._client = Client(
            Config(
                access_key_id=place.access_key_id,
                access_key_secret=place.access_key_secret,
                region_id=place.region_id,
                endpoint=host.rstrip("/"),
                protocol=(scheme or "https").upper(),
            )
        )

    def __call__(self, topic: str, partitions: int | None, replication: int | None, config: Mapping[str, str]) -> None:
        """Create a compacted topic. The control plane is given time: it allows few calls a second."""
        from Tea.exceptions import TeaException

        for attempt in range(1, ATTEMPTS + 1):
            try:
                self._create(topic, partitions, replication, config)
                return
            except (TeaException, OSError) as error:
                if attempt == ATTEMPTS or not _passes(error):
                    raise self._named(topic, _told(error)) from None
            time.sleep(APART_SECONDS)

    def _create(self, topic: str, partitions: int | None, replication: int | None, config: Mapping[str, str]) -> None:
        from alibabacloud_alikafka20190916.models import CreateTopicRequest
        from darabonba.runtime import RuntimeOptions

        further = {name: value for name, value in config.items() if name != "cleanup.policy"}
        request = CreateTopicRequest(
            instance_id=self._place.instance_id,
            region_id=self._place.region_id,
            topic=topic,
            remark="created by rowkind",
            # Texts, since the SDK would write a bool as Python does. Only local storage is compacted.
            compact_topic="true",
            local_topic="true",
            partition_num=None if partitions is None else str(partitions),
            replication_factor=replication,
            config=json.dumps(further) if further else None,
        )
        runtime = RuntimeOptions(connect_timeout=TIMEOUT_MS, read_timeout=TIMEOUT_MS, autoretry=False)
        answer: Any = self._client.create_topic_with_options(request, runtime).body
        if answer is not None and answer.success is False:
            raise self._named(topic, f"{answer.code}: {answer.message}")

    def _named(self, topic: str, reason: str) -> RowkindError:
        """What went wrong; the answer may repeat what was sent."""
        for secret in (self._place.access_key_secret, self._place.access_key_id):
            reason = reason.replace(secret, MASK)
        return RowkindError("INGEST_TOPIC_NOT_CREATED", topic=topic, endpoint=self._place.endpoint, reason=reason)


def _told(error: Exception) -> str:
    code, message = getattr(error, "code", None), getattr(error, "message", None)
    return ": ".join(str(part) for part in (code, message) if part) or str(error)


def _passes(error: Exception) -> bool:
    """Whether it is worth while to ask again."""
    status = getattr(error, "status_code", None)
    return status is None or status >= 500 or status == 429 or "throttl" in str(getattr(error, "code", "")).lower()
