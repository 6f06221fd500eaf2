"""What a valid job may ask for and a run cannot do yet: named before anything is started."""

from __future__ import annotations

from rowkind.errors import RowkindError
from rowkind.ingest.description import IngestionJob
from rowkind.ingest.endpoints import UpsertKafkaSink


def check_runnable(job: IngestionJob) -> None:
    if isinstance(job.sink, UpsertKafkaSink) and job.sink.aliyun is not None:
        why = "topics are created through the brokers; create them in the control plane and leave 'aliyun.kafka.*' away"
        raise RowkindError("INGEST_CANNOT_RUN_YET", what="a sink with 'aliyun.kafka.*'", why=why)
