"""What a checkpoint remembers of its job: enough to tell whether a changed query may go on with its state."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from secrets import token_hex
from typing import Any

from rowkind.kinds import ChangelogMode
from rowkind.plan import nodes as n
from rowkind.plan.described import described
from rowkind.plan.identity import digest, identity
from rowkind.plan.traits import emits
from rowkind.runtime.driver.job_plan import JobPlan

FORMAT = 5
"""Of checkpoints: changes when something is kept or placed in another way, so that old folders are refused."""


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """A table that is read: the digest of what it is, and in the words of EXPLAIN, for errors."""

    identity: str
    text: str


@dataclass(frozen=True, slots=True)
class OperatorRecord:
    """An operator with state: what its rows have passed, and for which tables it works."""

    text: str
    """In the words of EXPLAIN, for errors and notes; its name is what tells it from others."""
    conditions: str
    sinks: tuple[str, ...]
    lenient: bool
    """Whether other conditions leave the state good: rows only come, and no other operator can be taken for it."""
    since: int = 0
    """The first batch that it took part in: state of before then belonged to another run of the same operator."""


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A job as job.json has it."""

    id: str
    sources: tuple[SourceRecord, ...]
    sinks: tuple[str, ...]
    partitions: int
    hash_key: str = field(repr=False)
    """A secret, in hexadecimal, that keys are hashed by: rows of a source cannot be made to collide."""
    operators: Mapping[str, OperatorRecord] = field(default_factory=dict)
    """By the names of their state."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """What decides the key's bytes, of every upsert table that was ever read or written, by side and topic."""
    version: int = FORMAT

    def following(self, stored: JobRecord, batch: int) -> JobRecord:
        """This job as the successor of another: what is new begins with the next batch."""
        since = {name: stored.operators[name].since if name in stored.operators else batch for name in self.operators}
        operators = {name: replace(record, since=since[name]) for name, record in self.operators.items()}
        keys = {**stored.keys, **self.keys}
        return replace(self, partitions=stored.partitions, hash_key=stored.hash_key, operators=operators, keys=keys)

    def owns(self, state: str, version: int) -> bool:
        """Whether state under a name, of a version, is that of an operator of this job."""
        operator = self.operators.get(state.partition(".")[0])
        return operator is not None and version >= operator.since

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def of_json(said: Mapping[str, Any]) -> JobRecord:
        """Raises KeyError, TypeError or AttributeError for what is no record."""
        operators = {name: OperatorRecord(**{**o, "sinks": tuple(o["sinks"])}) for name, o in said["operators"].items()}
        sources = tuple(SourceRecord(**source) for source in said["sources"])
        return JobRecord(**{**said, "sources": sources, "sinks": tuple(said["sinks"]), "operators": operators})


def job_record(id: str, plan: JobPlan) -> JobRecord:
    """The record of a job that is to run."""
    serves: dict[n.Node, set[str]] = defaultdict(set)
    for root in plan.roots:
        for node in n.walk(root):
            serves[node].add(_target(root))
    operators = {
        name.name: OperatorRecord(
            described(node),
            name.conditions,
            tuple(sorted(serves[node])),
            name.alone and all(emits(i) is ChangelogMode.INSERT_ONLY for i in node.inputs),
        )
        for node, name in plan.names.items()
    }
    sources = tuple(SourceRecord(digest(identity(scan)), described(scan)) for scan in plan.scans)
    return JobRecord(
        id, sources, tuple(map(_target, plan.roots)), plan.partitions, token_hex(16), operators, _keys(plan)
    )


def _keys(plan: JobPlan) -> dict[str, str]:
    tables = [*plan.tables, *(sink.table for sink in plan.sinks)]
    return dict(table.lasting_key for table in tables if table.lasting_key is not None)


def _target(root: n.Node) -> str:
    """The table that a plan writes."""
    return root.table.name if isinstance(root, n.Sink) else "the screen"
