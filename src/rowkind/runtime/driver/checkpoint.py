"""A job's folder: what it is, which batches were begun and which are done, and its state.

job.json         the job's id, its sources and sinks, the number of state partitions
batches/<v>      what batch v reads: written before it is run
manifests/<v>    batch v is done: written after its sinks and its state
state/           keyed state, by operator and partition; the file "checkpoint" in it has the job's id
owner            the run that may go on
restarts         how many runs went on from an earlier one
transactions     where exactly-once tasks have written, before they do
tasks-<v>        in how many tasks exactly-once sinks write batch v
rewound          since the job went back on purpose: markers of before do not count
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from typing import Any

from rowkind.connectors.contract import Used
from rowkind.errors import RowkindError
from rowkind.runtime.driver.checkpoint_owner import Owner, owner_of, this_process
from rowkind.runtime.driver.edits import check_edits, check_partitions
from rowkind.runtime.driver.job_plan import JobPlan
from rowkind.runtime.driver.job_record import FORMAT, JobRecord, job_record
from rowkind.runtime.driver.resuming import Standing
from rowkind.state.belonging import mark
from rowkind.state.files import Folder, absolute

_KEPT = 100
"""Batches back to which entries and manifests stay, for whoever wants to look."""


class Checkpoint:
    """Opened by the driver when a job starts. `uri` is a folder on any file system that all of Spark can reach.

    With `sync` every file is on the disk before what relies on it is done: an entry before its batch is run, state and
    entry before the manifest. So a job goes on after the machine lost its power, too.
    """

    def __init__(self, uri: str, sync: bool = True) -> None:
        self.uri = absolute(uri)
        self.sync = sync
        self._folder = Folder(self.uri, sync=sync)
        self._batches = Folder(f"{self.uri}/batches", sync=sync)
        self._manifests = Folder(f"{self.uri}/manifests", sync=sync)
        self._owner: Owner | None = None
        self.restarts = 0
        """How often runs took over from earlier ones, when this one did."""

    @property
    def state(self) -> str:
        return f"{self.uri}/state"

    @property
    def letters(self) -> str:
        return f"{self.uri}/dead-letters"

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

    def any_record(self) -> Mapping[str, Any] | None:
        """What job.json says, of whatever kind of job."""
        said: Mapping[str, Any] | None = self._read("job.json")
        if said is not None and said.get("version") != FORMAT:
            raise RowkindError("CHECKPOINT_OTHER_VERSION", checkpoint=self.uri, found=said.get("version"), known=FORMAT)
        return said

    def keep_record(self, said: Mapping[str, Any]) -> None:
        """Write down what the job is."""
        if said != self._read("job.json"):
            self._folder.write_bytes("job.json", json.dumps(said, indent=2).encode())

    def open(self, plan: JobPlan) -> tuple[JobRecord, list[str]]:
        """The record of this job, as it was written or written now, and what to tell. Another's is refused."""
        given, notes = self.agreed(plan, self.standing(), self.record())
        self.keep(given)
        return given, notes

    def agreed(self, plan: JobPlan, standing: Standing, found: JobRecord | None) -> tuple[JobRecord, list[str]]:
        """What `open` answers, without a trace."""
        if found is None:
            if standing.last is not None or standing.pending is not None:
                raise self._missing("job.json")
            return job_record(str(uuid.uuid4()), plan), []
        check_partitions(self.uri, found, plan)
        given = job_record(found.id, plan).following(found, standing.next)
        return given, check_edits(self.uri, found, given)

    def standing(self) -> Standing:
        """How far the job is. A file that is gone, without which it would begin again somewhere else, is named."""
        begun = _numbers(self._batches)  # before the manifests: meanwhile another run may finish a batch and begin one
        last = self.last()
        before = max(begun, default=0) - 1  # a batch begins when the one before is done
        if before >= 0 and (last is None or last < before):
            raise self._missing(f"manifests/{before}")
        done = Standing() if last is None else Standing(last, self.manifest(last), self.entry(last))
        return replace(done, pending=self._read(f"batches/{done.next}"))

    def rewind(self, standing: Standing) -> Standing:
        """Go back to the last batch that is done: the next one is planned anew, and no marker of before counts."""
        self._folder.write_bytes("rewound", str(uuid.uuid4()).encode())
        self._batches.remove(str(standing.next))
        self._folder.remove(f"tasks-{standing.next}")
        waiting = Folder(self.letters)
        for name in waiting.names():
            waiting.remove(name)
        return standing.gone_back

    def lineage(self, job: str) -> str:
        """What markers of this checkpoint carry: the job's id, and another one after each time it went back."""
        try:
            return f"{job}/{self._folder.read_bytes('rewound').decode()}"
        except FileNotFoundError:
            return job

    def _missing(self, file: str) -> RowkindError:
        return RowkindError("CHECKPOINT_FILE_MISSING", checkpoint=self.uri, file=file)

    def keep(self, record: JobRecord) -> None:
        """Write down whose folder this is, for tasks to see, and the record where it has changed."""
        mark(self.state, record.id, self.sync)
        if record != self.record():
            self._folder.write_bytes("job.json", json.dumps(record.to_json(), indent=2).encode())

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

    def begin(self, version: int, entry: Mapping[str, Any]) -> Mapping[str, Any]:
        """Write down what a batch reads. From now on it never changes: an entry that is there already stands."""
        self.check_owner()
        try:
            self._batches.create_bytes(str(version), json.dumps(entry).encode())
        except FileExistsError:  # of a run that was about to be taken over
            return self.entry(version)
        return entry

    def entry(self, version: int) -> dict[str, Any]:
        """What a batch reads, as it was written down."""
        return self._found(f"batches/{version}")

    def entry_id(self, version: int) -> str | None:
        """What tells a batch from another of its number; None when its entry is long gone."""
        found = self._read(f"batches/{version}")
        return None if found is None else str(found["id"])

    def claim(self) -> Owner | None:
        """Make this run the owner of the checkpoint: an older run that is still alive stops when it notices.

        The answer is who owned it before. What that run has not begun by now it never runs: it looks again after it has
        written an entry. So all that is read of the checkpoint from here on holds.
        """
        before = self._owned_by()
        if before is not None:
            self.restarts = (self._read("restarts") or 0) + 1
            self._folder.write_bytes("restarts", json.dumps(self.restarts).encode())
        self._owner = this_process()
        self._folder.write_bytes("owner", self._owner.to_bytes())
        self._folder.sync_folders()
        return before

    def check_owner(self) -> None:
        if self._owner is not None and (now := owner_of(self._folder.read_bytes("owner"))).id != self._owner.id:
            raise RowkindError("JOB_TAKEN_OVER", checkpoint=self.uri, by=now)

    def leave(self) -> None:
        """The run has ended: whoever comes next takes over from nobody."""
        if self._owner is not None and (now := self._owned_by()) is not None and now.id == self._owner.id:
            self._folder.write_bytes("owner", replace(now, ended=True).to_bytes())

    def _owned_by(self) -> Owner | None:
        try:
            return owner_of(self._folder.read_bytes("owner"))
        except FileNotFoundError:
            return None

    def sink_tasks(self, version: int, wanted: dict[str, int]) -> dict[str, int]:
        """In how many tasks each exactly-once sink writes a batch: as recorded when the batch was first begun."""
        found: dict[str, int] | None = self._read(f"tasks-{version}")
        if found is not None:
            return found
        self._folder.write_bytes(f"tasks-{version}", json.dumps(wanted).encode())
        self._folder.remove(f"tasks-{version - 2}")
        return wanted

    def used(self) -> list[Used]:
        """Where tasks of this job have written, whose transactions may be open still."""
        try:
            return [Used(**said) for said in self._read("transactions") or []]
        except TypeError as error:
            raise self._damaged("transactions", str(error)) from None

    def record_used(self, used: Iterable[Used]) -> None:
        """To be written before they are used."""
        known = self.used()
        fresh = [one for one in used if one not in known]
        if fresh:
            said = [asdict(one) for one in (*known, *fresh)]
            self._folder.write_bytes("transactions", json.dumps(said).encode())

    def last(self) -> int | None:
        """The newest batch that is done."""
        return max(_numbers(self._manifests), default=None)

    def finish(self, version: int, content: dict[str, Any]) -> int:
        """Batch `version` is done: from here on it is never run again. The size of its manifest, in bytes."""
        self.check_owner()
        manifest = json.dumps(content).encode()
        self._manifests.write_bytes(str(version), manifest)
        for folder in (self._batches, self._manifests):
            folder.remove(str(version - _KEPT))
        return len(manifest)

    def manifest(self, version: int) -> dict[str, Any]:
        return self._found(f"manifests/{version}")

    def _found(self, file: str) -> dict[str, Any]:
        found: dict[str, Any] | None = self._read(file)
        if found is None:
            raise self._missing(file)
        return found


def _numbers(folder: Folder) -> set[int]:
    return {int(name) for name in folder.names() if name.isdigit()}
