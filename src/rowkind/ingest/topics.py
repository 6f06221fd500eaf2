"""Names of topics: what Kafka takes, and what the control plane of ApsaraMQ takes."""

from __future__ import annotations

import re

from rowkind.ingest.place import Place

_KAFKA = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_CONTROL_PLANE = re.compile(r"[a-zA-Z0-9_-]{3,64}")


def topic_name(name: str, place: Place) -> None:
    """Raise when Kafka does not take the name."""
    if not _KAFKA.fullmatch(name) or name in (".", ".."):
        raise place.error("INGEST_TOPIC_NAME", topic=name)


def control_plane_name(name: str, place: Place) -> None:
    """Raise when the control plane does not take the name."""
    if not _CONTROL_PLANE.fullmatch(name):
        raise place.error("INGEST_ALIYUN_TOPIC_NAME", topic=name)
