"""The part of a join condition that is not an equality of columns, as far as it must be known inside a worker."""

from __future__ import annotations

from typing import Protocol

import pyarrow as pa

from rowkind.operators.changes import Bools


class Residual(Protocol):
    """A condition over a pair of rows. Picklable; evaluated in Python workers, on many pairs at a time."""

    @property
    def columns(self) -> tuple[str, ...]:
        """What it reads, of both sides."""
        ...

    def evaluate(self, pairs: pa.Table) -> Bools:
        """Whether it is true; false and unknown are the same. `pairs` has `columns`, and one row at least."""
        ...
