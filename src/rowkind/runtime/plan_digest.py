"""A digest of what a job computes and where to: a batch that was begun must be finished with the same."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from rowkind.catalog.kafka_table import KafkaTable
from rowkind.plan import nodes as n
from rowkind.runtime.insert_names import insert_names
from rowkind.runtime.job_plan import JobPlan


def plan_digest(plan: JobPlan) -> str:
    """The same for INSERTs in another order, and whatever options of reading and pacing are."""
    names = insert_names(plan.sinks)
    roots = [(names[root], replace(root, index=0)) if isinstance(root, n.Sink) else ("", root) for root in plan.roots]
    said = sorted((name, repr(_said(root))) for name, root in roots)
    return hashlib.blake2b(repr(said).encode(), digest_size=12).hexdigest()


def _said(value: Any) -> Any:
    """A value in lists and texts that are the same in every process."""
    if isinstance(value, KafkaTable):
        return _table(value)
    if is_dataclass(value):
        return type(value).__name__, [(f.name, _said(getattr(value, f.name))) for f in fields(value) if f.compare]
    if isinstance(value, Mapping):
        return sorted((repr(key), repr(_said(item))) for key, item in value.items())
    if isinstance(value, (set, frozenset)):
        return sorted(repr(_said(item)) for item in value)
    if isinstance(value, (tuple, list)):
        return [_said(item) for item in value]
    return repr(value)


def _table(table: KafkaTable) -> Any:
    """A table by its rows, its topics and what is promised of them; where its brokers are may change."""
    pattern = table.topic_pattern and table.topic_pattern.pattern
    formats = table.value_format.name, table.key_format and table.key_format.name
    promised = table.sink.guarantee, table.sink.transactional_id_prefix
    return [_said(part) for part in (table.name, table.topics, pattern, table.stored_columns, formats, promised)]
