"""A job's folder: what it is, which batches are done, its state, and Spark's own logs.

job.json         the job's id, its sources and sinks, the number of state partitions
manifests/<v>    batch v is done: written after its sinks and its state
state/           keyed state, by operator and partition
spark/           Spark's offset and commit logs
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from rowkind.errors import RowkindError
from rowkind.plan.explain import described
from rowkind.runtime.job_plan import JobPlan
from rowkind.state.files import Folder

_KEPT_MANIFESTS = 100


@dataclass(frozen=True, slots=True)
class JobRecord:
    """What a checkpoint remembers of its job."""

    id: str
    sources: tuple[str, ...]
    sinks: tuple[str, ...]
    partitions: int
    operators: Mapping[str, str] = field(default_factory=dict)
    """Operators with state, by name, in the words of EXPLAIN."""
    version: int = 1


class Checkpoint:
    """Opened by the driver when a job starts. `uri` is a folder on any file system that all of Spark can reach."""

    def __init__(self, uri: str) -> None:
        self.uri = uri.rstrip("/")
        self._folder = Folder(self.uri)
        self._manifests = Folder(f"{self.uri}/manifests")

    @property
    def spark(self) -> str:
        return f"{self.uri}/spark"

    @property
    def state(self) -> str:
        return f"{self.uri}/state"

    def record(self) -> JobRecord | None:
        """What an earlier run wrote down; None in a fresh folder."""
        try:
            said: dict[str, Any] = json.loads(self._folder.read_bytes("job.json"))
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise RowkindError("CHECKPOINT_DAMAGED", checkpoint=self.uri, file="job.json", reason=str(error)) from None
        return JobRecord(**{**said, "sources": tuple(said["sources"]), "sinks": tuple(said["sinks"])})

    def open(self, plan: JobPlan) -> JobRecord:
        """The record of this job: as it was written, or written now. Another job's checkpoint is refused."""
        found = self.record()
        sources, sinks = _described(plan)
        operators = {chain[0].name: described(node) for node, chain in plan.operators.items()}
        if found is None:
            return self._recorded(JobRecord(str(uuid.uuid4()), sources, sinks, plan.partitions, operators))
        if found.sources != sources:
            raise RowkindError(
                "CHECKPOINT_OF_ANOTHER_JOB",
                checkpoint=self.uri,
                stored=" and ".join(found.sources) or "nothing",
                given=" and ".join(sources) or "nothing",
            )
        lost = [text for name, text in found.operators.items() if name not in operators]
        if lost:
            raise RowkindError("CHECKPOINT_OPERATOR_CHANGED", checkpoint=self.uri, operators="; ".join(lost))
        changed = replace(found, sinks=sinks, operators=operators)
        return found if changed == found else self._recorded(changed)

    def _recorded(self, record: JobRecord) -> JobRecord:
        self._folder.write_bytes("job.json", json.dumps(asdict(record), indent=2).encode())
        return record

    def claim(self) -> str:
        """Make this run the owner of the checkpoint: an older run that is still alive stops when it notices."""
        owner = str(uuid.uuid4())
        self._folder.write_bytes("owner", owner.encode())
        return owner

    def check_owner(self, owner: str) -> None:
        if self._folder.read_bytes("owner").decode() != owner:
            raise RowkindError("JOB_TAKEN_OVER", checkpoint=self.uri)

    def sink_tasks(self, version: int, wanted: dict[str, int]) -> dict[str, int]:
        """In how many tasks each exactly-once sink writes a batch: as recorded when the batch was first begun."""
        name = f"tasks-{version}"
        try:
            found: dict[str, int] = json.loads(self._folder.read_bytes(name))
            return found
        except FileNotFoundError:
            self._folder.write_bytes(name, json.dumps(wanted).encode())
        if self._folder.exists(f"tasks-{version - 2}"):
            self._folder.remove(f"tasks-{version - 2}")
        return wanted

    def transactional_ids(self) -> list[str]:
        """Ids that this job has used, whose transactions may be open still."""
        try:
            found: list[str] = json.loads(self._folder.read_bytes("transactions.json"))
        except FileNotFoundError:
            return []
        return found

    def record_transactional_ids(self, ids: Iterable[str]) -> None:
        """To be written before they are used."""
        known = self.transactional_ids()
        fresh = [name for name in ids if name not in known]
        if fresh:
            self._folder.write_bytes("transactions.json", json.dumps([*known, *fresh]).encode())

    def done(self, version: int) -> bool:
        return self._manifests.exists(str(version))

    def last(self) -> int | None:
        """The newest batch that is done."""
        return max((int(name) for name in self._manifests.names() if name.isdigit()), default=None)

    def finish(self, version: int, content: dict[str, Any]) -> None:
        """Batch `version` is done: from here on it is never run again."""
        self._manifests.write_bytes(str(version), json.dumps(content).encode())
        if self._manifests.exists(str(version - _KEPT_MANIFESTS)):
            self._manifests.remove(str(version - _KEPT_MANIFESTS))

    def manifest(self, version: int) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._manifests.read_bytes(str(version)))
        return found


def _described(plan: JobPlan) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(described(s) for s in plan.scans), tuple(described(s) for s in plan.sinks)
