"""The job that a file describes: validated, immutable, and without a secret in what it shows or stores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rowkind.connectors.settings import Guarantee
from rowkind.errors import RowkindError
from rowkind.ingest.endpoints import MysqlSource, Sink, UpsertKafkaSink
from rowkind.ingest.evolution import Policy
from rowkind.ingest.given import Given
from rowkind.ingest.modes import Behavior, JobMode, RouteMode
from rowkind.ingest.routes import Route
from rowkind.ingest.schema_changes import Accepted
from rowkind.ingest.transforms import TransformRule

VERSION = 1
_FIXED: Mapping[str, tuple[str, ...]] = {
    "source": ("type", "treat-tinyint1-as-boolean.enabled"),
    "sink": ("type", "topic"),
    "pipeline": ("route-mode", "transform.allow.trimming.pk-columns"),
}
"""Settings that decide where rows go and what they look like: they stay as long as the checkpoint does."""
_BEGINNING = ("scan.startup.mode", "scan.startup.specific-offset.file", "scan.startup.specific-offset.pos")


@dataclass(frozen=True, slots=True)
class Pipeline:
    name: str
    parallelism: int | None
    time_zone: str | None
    mode: JobMode
    route_mode: RouteMode
    behavior: Behavior
    trim_keys: bool


@dataclass(frozen=True, slots=True)
class IngestionJob:
    """What `rowkind ingest` runs."""

    source: MysqlSource
    sink: Sink
    routes: tuple[Route, ...]
    transforms: tuple[TransformRule, ...]
    pipeline: Pipeline
    accepted: Accepted
    """The changes of schemas that the sink's lists let through."""
    checkpoint: str | None
    given: Mapping[str, tuple[Given, ...]] = field(repr=False)
    """The settings of each section of the file."""
    notes: tuple[str, ...] = field(default=(), compare=False, repr=False)

    @property
    def name(self) -> str:
        return self.pipeline.name

    @property
    def ends(self) -> str:
        """What the file calls source and sink; empty when it does not."""
        names = self.source.name, self.sink.name
        return f"{names[0] or self.source.type} -> {names[1] or self.sink.type}" if any(names) else ""

    def policy(self, shared: bool) -> Policy:
        """What becomes of changes of a table's schema; `shared` when other tables go to the same topic."""
        return Policy(self.pipeline.behavior, self.accepted, shared, self.source.schema_changes)

    def chunks_at_once(self, cores: int) -> int:
        """How many chunks are read at the same time, each under a server id of its own."""
        ids = self.source.server_ids
        most = cores if ids is None else max(1, min(cores, len(ids) - 1))
        return max(1, self.pipeline.parallelism or most)

    def transactional_id_prefix(self, checkpoint_id: str) -> str:
        """The start of the job's transactional ids: the same for every run on one checkpoint, and no other job's."""
        given = self.sink.transactional_id_prefix if isinstance(self.sink, UpsertKafkaSink) else None
        return given or f"{self.name}-{checkpoint_id}"

    @property
    def exactly_once(self) -> bool:
        return isinstance(self.sink, UpsertKafkaSink) and self.sink.guarantee is Guarantee.EXACTLY_ONCE

    def to_json(self) -> dict[str, Any]:
        """The job for its checkpoint: every setting as written, secrets crossed out."""
        sections = {name: [given.shown() for given in parts] for name, parts in self.given.items()}
        return {
            "version": VERSION,
            "name": self.name,
            **{name: sections[name][0] for name in ("source", "sink", "pipeline")},
            **{name: sections[name] for name in ("route", "transform")},
            "schema_changes": sorted(self.accepted.tags),
        }


def check_resumable(recorded: Mapping[str, Any], job: IngestionJob) -> list[str]:
    """Compare the job with the one that its checkpoint is of.

    Raises when rows would go elsewhere or look otherwise; returns notes about the other differences.
    """
    now = job.to_json()
    changed = [f"'{key}'" for key in ("route", "transform") if _rules(recorded[key]) != _rules(now[key])]
    for section, keys in _FIXED.items():
        changed += [f"'{section}.{k}'" for k in keys if recorded[section].get(k) != now[section].get(k)]
    if job.exactly_once and _prefix(recorded) != _prefix(now):
        changed.append("the name that transactional ids start with")
    if changed:
        raise RowkindError("INGEST_JOB_CHANGED", changed=", ".join(changed), checkpoint=job.checkpoint)
    return [note for section in ("source", "sink", "pipeline") for note in _differences(section, recorded, now)]


def _rules(sections: list[dict[str, str]]) -> list[dict[str, str]]:
    """What rules do, without what they say about themselves."""
    return [{k: v for k, v in section.items() if k != "description"} for section in sections]


def _prefix(job: Mapping[str, Any]) -> str:
    return str(job["sink"].get("sink.transactional-id-prefix") or job["name"])


def _differences(section: str, recorded: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    before, after = recorded[section], now[section]
    notes = []
    for key in sorted(before.keys() | after.keys()):
        if before.get(key) == after.get(key):
            continue
        change = f"'{section}.{key}' was {_shown(before.get(key))} and is {_shown(after.get(key))}"
        counts = (
            "it has no effect: the checkpoint says where to go on" if key in _BEGINNING else "it counts from here on"
        )
        notes.append(f"{change}; {counts}.")
    return notes


def _shown(value: str | None) -> str:
    return "not set" if value is None else f"'{value}'"
