"""What the planner asks of Spark, without importing it: `runtime/` implements it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rowkind.types import DataType, Field


class Analyzer(Protocol):
    """Spark's view of expressions. Called on the driver while a statement is planned; answers may be cached."""

    def types(self, expressions: Sequence[str], columns: Sequence[Field]) -> list[DataType]:
        """The type of each Spark SQL expression over the given columns.

        Raises RowkindError("EXPRESSION_REFUSED", ...) when Spark's analysis rejects one.
        """
        ...
