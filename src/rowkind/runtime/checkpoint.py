"""A job's folder: what it is, which batches were begun and which are done, and its state.

job.json         the job's id, its sources and sinks, the number of state partitions
batches/<v>      what batch v reads: written before it is run
manifests/<v>    batch v is done: written after its sinks and its state
state/           keyed state, by operator and partition; the file "checkpoint" in it has the job's id
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable
from typing import Any

from rowkind.errors import RowkindError
from rowkind.runtime.edits import check_edits, check_partitions
from rowkind.runtime.job_plan import JobPlan
from rowkind.runtime.job_record import FORMAT, JobRecord, job_record
from rowkind.state.belonging import mark
from rowkind.state.files import Folder, absolute

_KEPT = 100
"""Batches back to which entries and manifests stay, for whoever wants to look."""


class Checkpoint:
    """Opened by the driver when a job starts. `uri` is a folder on any file system that all of Spark can reach."""

    def __init__(self, uri: str) -> None:
        self.uri = absolute(uri)
        self._folder = Folder(self.uri)
        self._batches = Folder(f"{self.uri}/batches")
        self._manifests = Folder(f"{self.uri}/manifests")

    @property
    def state(self) -> str:
        return f"{self.uri}/state"

    def record(self) -> JobRecord | None:
        """What an earlier run wrote down; None in a fresh folder."""
        said = self._read("job.json")
        if said is None:
            return None
        try:
            if said["version"] != FORMAT:
                raise RowkindError("CHECKPOINT_OTHER_VERSION", checkpoint=self.uri, found=said["version"], known=FORMAT)
            return JobRecord.of_json(said)
        except (KeyError, TypeError, AttributeError) as error:
            raise self._damaged("job.json", f"not a job: {error!r}") from None

    def open(self, plan: JobPlan) -> tuple[JobRecord, list[str]]:
        """The record of this job, as it was written or written now, and what to tell. Another's is refused."""
        found = self.record()
        self._check_complete(found)
        if found is None:
            fresh = job_record(str(uuid.uuid4()), plan)
            mark(self.state, fresh.id)
            return self._recorded(fresh), []
        check_partitions(self.uri, found, plan)
        last = self.last()
        given = job_record(found.id, plan).following(found, 0 if last is None else last + 1)
        notes = check_edits(self.uri, found, given)
        mark(self.state, found.id)
        return (found if given == found else self._recorded(given)), notes

    def _check_complete(self, found: JobRecord | None) -> None:
        """That no file is gone without which the job would begin again somewhere else, as if nothing had happened."""
        last, begun = self.last(), _numbers(self._batches)
        if found is None and (last is not None or begun):
            raise self._missing("job.json")
        if last is not None and last not in begun:
            raise self._missing(f"batches/{last}")
        before = max(begun, default=0) - 1  # a batch begins when the one before is done
        if before >= 0 and (last is None or last < before):
            raise self._missing(f"manifests/{before}")

    def _missing(self, file: str) -> RowkindError:
        return RowkindError("CHECKPOINT_FILE_MISSING", checkpoint=self.uri, file=file)

    def _recorded(self, record: JobRecord) -> JobRecord:
        self._folder.write_bytes("job.json", json.dumps(record.to_json(), indent=2).encode())
        return record

    def _read(self, name: str) -> Any | None:
        """The content of a json file, None where there is none."""
        try:
            return json.loads(self._folder.read_bytes(name))
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise self._damaged(name, str(error)) from None

    def _damaged(self, file: str, reason: str) -> RowkindError:
        return RowkindError("CHECKPOINT_DAMAGED", checkpoint=self.uri, file=file, reason=reason)

    def begun(self, version: int) -> bool:
        return self._batches.exists(str(version))

    def begin(self, version: int, entry: dict[str, Any]) -> dict[str, Any]:
        """Write down what a batch reads. From now on it never changes: an entry that is there already stands."""
        try:
            self._batches.create_bytes(str(version), json.dumps(entry).encode())
        except FileExistsError:  # of a run that was about to be taken over
            return self.entry(version)
        return entry

    def entry(self, version: int) -> dict[str, Any]:
        """What a batch reads, as it was written down."""
        return self._found(f"batches/{version}")

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
        found: dict[str, int] | None = self._read(f"tasks-{version}")
        if found is not None:
            return found
        self._folder.write_bytes(f"tasks-{version}", json.dumps(wanted).encode())
        self._folder.remove(f"tasks-{version - 2}")
        return wanted

    def transactional_ids(self) -> list[str]:
        """Ids that this job has used, whose transactions may be open still."""
        found: list[str] | None = self._read("transactions.json")
        return found or []

    def record_transactional_ids(self, ids: Iterable[str]) -> None:
        """To be written before they are used."""
        known = self.transactional_ids()
        fresh = [name for name in ids if name not in known]
        if fresh:
            self._folder.write_bytes("transactions.json", json.dumps([*known, *fresh]).encode())

    def last(self) -> int | None:
        """The newest batch that is done."""
        return max(_numbers(self._manifests), default=None)

    def finish(self, version: int, content: dict[str, Any]) -> None:
        """Batch `version` is done: from here on it is never run again."""
        self._manifests.write_bytes(str(version), json.dumps(content).encode())
        for folder in (self._batches, self._manifests):
            folder.remove(str(version - _KEPT))

    def manifest(self, version: int) -> dict[str, Any]:
        return self._found(f"manifests/{version}")

    def _found(self, file: str) -> dict[str, Any]:
        found: dict[str, Any] | None = self._read(file)
        if found is None:
            raise self._missing(file)
        return found


def _numbers(folder: Folder) -> set[int]:
    return {int(name) for name in folder.names() if name.isdigit()}
