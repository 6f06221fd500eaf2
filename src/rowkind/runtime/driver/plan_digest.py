"""A digest of what a job computes and where to: a batch that was begun must be finished with the same."""

from __future__ import annotations

from rowkind.catalog.table_settings import SinkSettings
from rowkind.plan import identity
from rowkind.runtime.driver.insert_names import insert_names
from rowkind.runtime.driver.job_plan import JobPlan


def plan_digest(plan: JobPlan) -> str:
    """The same for INSERTs in another order, and whatever options of reading and pacing are.

    What is promised of a sink counts: its markers would be looked for elsewhere. So does when it writes what it holds
    back: that decides which rows are the batch's.
    """
    promised = {name: _promised(sink.table.sink) for sink, name in insert_names(plan.sinks).items()}
    return identity.digest([identity.plan_digest(plan.roots), promised])


def _promised(sink: SinkSettings) -> list[str | int | None]:
    return [str(sink.guarantee), sink.transactional_id_prefix, sink.buffer_max_rows, str(sink.buffer_interval)]
