"""A job that is started again with another query: which state it keeps, and which edits its checkpoint refuses.

State that no longer fits is never used and never dropped in silence. An operator that is gone while a table that it
worked for is still written has been changed, and that is refused; if all its tables are gone, its state goes with them.
"""

from __future__ import annotations

from rowkind.errors import RowkindError
from rowkind.runtime.driver.job_plan import JobPlan
from rowkind.runtime.driver.job_record import JobRecord, OperatorRecord


def check_edits(checkpoint: str, stored: JobRecord, given: JobRecord) -> list[str]:
    """What the user should know of the edit. Raises what makes it impossible."""
    _check_keys(checkpoint, stored, given)
    if [source.identity for source in stored.sources] != [source.identity for source in given.sources]:
        raise RowkindError(
            "CHECKPOINT_OF_ANOTHER_JOB",
            checkpoint=checkpoint,
            stored=" and ".join(source.text for source in stored.sources) or "nothing",
            given=" and ".join(source.text for source in given.sources) or "nothing",
        )
    gone = {name: was for name, was in stored.operators.items() if name not in given.operators}
    fresh = {name: now for name, now in given.operators.items() if name not in stored.operators}
    _check_gone(checkpoint, gone, fresh, set(given.sinks))
    notes = _changed_inputs(checkpoint, stored, given)
    notes += [f"{was.text}: the query no longer has it, and its state is removed." for was in gone.values()]
    return notes + [f"{now.text} is new: it starts empty and sees the rows from here on." for now in fresh.values()]


def check_partitions(checkpoint: str, stored: JobRecord, plan: JobPlan) -> None:
    """State is cut once, at a job's first start. The usual number may be another by now; one that is asked for not."""
    if plan.partitions_given and plan.partitions != stored.partitions:
        raise RowkindError(
            "CHECKPOINT_PARTITIONS_CHANGED", checkpoint=checkpoint, stored=stored.partitions, given=plan.partitions
        )


def _check_keys(checkpoint: str, stored: JobRecord, given: JobRecord) -> None:
    """One row must have one message key: a second one would leave the first in the topic for ever."""
    for topic, key in given.keys.items():
        was = stored.keys.get(topic, key)
        if was != key:
            raise RowkindError("CHECKPOINT_KEY_CHANGED", checkpoint=checkpoint, topic=topic, stored=was, given=key)


def _check_gone(
    checkpoint: str, gone: dict[str, OperatorRecord], fresh: dict[str, OperatorRecord], written: set[str]
) -> None:
    lost = [was for was in gone.values() if written & set(was.sinks)]
    if lost:
        tables = {table for was in lost for table in was.sinks}
        now = [new.text for new in fresh.values() if tables & set(new.sinks)]
        raise RowkindError(
            "CHECKPOINT_OPERATOR_CHANGED",
            checkpoint=checkpoint,
            operators="; ".join(was.text for was in lost),
            now="; ".join(now) or "nothing in its place",
        )


def _changed_inputs(checkpoint: str, stored: JobRecord, given: JobRecord) -> list[str]:
    notes = []
    for name, now in given.operators.items():
        was = stored.operators.get(name)
        if was is None or was.conditions == now.conditions:
            continue
        if not (was.lenient and now.lenient):
            raise RowkindError("CHECKPOINT_INPUT_CHANGED", checkpoint=checkpoint, operator=now.text)
        notes.append(f"{now.text}: a filter below it has changed; rows that came before stay in its state.")
    return notes
