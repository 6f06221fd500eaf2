"""A digest of what a job computes and where to: a batch that was begun must be finished with the same."""

from __future__ import annotations

from rowkind.plan import identity
from rowkind.runtime.insert_names import insert_names
from rowkind.runtime.job_plan import JobPlan


def plan_digest(plan: JobPlan) -> str:
    """The same for INSERTs in another order, and whatever options of reading and pacing are.

    What is promised of a sink counts: its markers would be looked for elsewhere.
    """
    names = insert_names(plan.sinks)
    promised = {
        names[sink]: (str(sink.table.sink.guarantee), sink.table.sink.transactional_id_prefix) for sink in plan.sinks
    }
    return identity.digest([identity.plan_digest(plan.roots), promised])
