"""What a stateful operator is: Arrow in, Arrow out, on versioned state.

An operator is a frozen, picklable definition. The runtime moves it through a batch in two steps:

1. `combine`, in the tasks that hold an input's delta, before the shuffle: stateless, shrinks the delta and brings it
   into the exchange schema, which is one for all inputs (a join tells its sides apart by a column of its own).
2. the exchange, partitioned by `key`, into the number of state partitions that the checkpoint records. An operator
   with an empty key runs in exactly one partition.
3. `process`, once a batch and state partition, with all rows of the partition, none included.

Every delta, exchanged or not, has the int8 column `__kind`, unless the exchange schema of the operator says otherwise.
Both steps give the same answer for the same rows whatever the order in which the exchange delivers them, so that a
batch that is run again writes the same bytes: what depends on input order carries `order` through the exchange.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rowkind.state.contract import StateTables

END_OF_TIME = 2**63 - 1
"""The watermark of a bounded input that has ended, in microseconds."""


@dataclass(frozen=True, slots=True)
class BatchContext:
    """The batch as an operator sees it; the same when the batch is run again. Times are microseconds since 1970."""

    version: int
    clock: int = 0
    watermark: int | None = None
    """Where time is after the rows of this batch; None until there is one. END_OF_TIME when the input has ended."""
    previous_watermark: int | None = None
    """Where it was before them: what should have come by then is late."""
    zone: str = "UTC"
    """The session's time zone, in which windows over instants begin and end."""


@dataclass(frozen=True, slots=True)
class Output:
    """What `process` gives: a delta of the output schema, and what it counted (dropped, suppressed, late…)."""

    rows: pa.Table
    counters: Mapping[str, int] = field(default_factory=dict)
    due: int | None = None
    """When the operator has to be run again even without rows, by the clock: of processing-time windows."""
    came: npt.NDArray[np.int64] | None = None
    """Of an operator that tells it: for each row, where the last input row was that it comes from."""


class Operator(Protocol):
    """One stateful operator of a plan. Instances are frozen and hold no state."""

    @property
    def input_schemas(self) -> tuple[pa.Schema, ...]:
        """One a input, each with `__kind`."""
        ...

    @property
    def key(self) -> tuple[str, ...]:
        """Columns of the exchange schema to partition by."""
        ...

    @property
    def exchange_schema(self) -> pa.Schema: ...

    @property
    def output_schema(self) -> pa.Schema:
        """With `__kind`."""
        ...

    def combine(self, delta: pa.Table, input: int = 0, order: int = 0) -> pa.Table:
        """Rows of one input, as exchange rows. Called once a task or once a piece of it.

        `order` is the position of the delta's first row among all rows of that input in the batch: any numbers that
        grow with the input order and leave room for the rows, such as task number * 2**40 + rows before.
        """
        ...

    def process(self, delta: pa.Table, state: StateTables, batch: BatchContext) -> Output:
        """The exchange rows of one partition, as output rows: the net change per key, unchanged results left out."""
        ...
