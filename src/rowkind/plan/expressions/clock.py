"""The batch's clock and seeds inside translated expressions.

What Flink computes anew for every record (the time, random numbers) is fixed here per batch, so that a replayed batch
computes the same bytes. The text holds markers; `bind_clock` puts the numbers in when the batch runs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b

CLOCK = "0L /*rowkind:clock*/"
SEED = "0L /*rowkind:seed*/"
"""Of a call without a seed of its own: another number in every job, batch and place."""
BATCH = "0L /*rowkind:batch*/"
"""The number of the batch, for a call that has a seed."""


@dataclass(frozen=True, slots=True)
class Moment:
    """When and where an expression is computed: the same when the batch is run again, and never the same otherwise."""

    clock: int
    """Microseconds since 1970."""
    batch: int
    job: str = ""
    """The id of the job's checkpoint."""
    place: tuple[int, ...] = ()
    """Which expression of the plan it is."""

    def at(self, *place: int) -> Moment:
        return replace(self, place=place)

    def seed(self, call: int) -> int:
        """A number for a random call of the expression. Spark adds the number of the task, so it must not be a small
        one: the second task of a batch would have the numbers of the first task of the next."""
        said = f"{self.job}/{self.batch}/{self.place}/{call}"
        return int.from_bytes(blake2b(said.encode(), digest_size=8).digest()) >> 1


def bind_clock(sql: str, moment: Moment) -> str:
    """The expression with the batch's clock and random seeds in it.

    >>> bind_clock("timestamp_micros(0L /*rowkind:clock*/)", Moment(clock=5, batch=7))
    'timestamp_micros(5L)'
    """
    first, *rest = sql.replace(CLOCK, f"{moment.clock}L").replace(BATCH, f"{moment.batch}L").split(SEED)
    return first + "".join(f"{moment.seed(call)}L{part}" for call, part in enumerate(rest))


def depends_on_clock(sql: str) -> bool:
    """Whether the expression's value differs from batch to batch."""
    return any(marker in sql for marker in (CLOCK, SEED, BATCH))
