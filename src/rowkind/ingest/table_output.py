"""What a job writes of one table, with the types of its columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from rowkind.ingest.planned import PlannedTable, Target
from rowkind.ingest.tables import SourceTable
from rowkind.ingest.transforms import Transform
from rowkind.types import Field

Bind = Callable[[Transform], tuple[Field, ...]]
"""The columns that a transform's expressions make. Their types are Spark's business."""


@dataclass(frozen=True, slots=True)
class TableOutput:
    """One table on its way out."""

    planned: PlannedTable
    columns: tuple[Field, ...]

    @property
    def transform(self) -> Transform:
        return self.planned.transform

    @property
    def table(self) -> SourceTable:
        return self.transform.table

    @property
    def targets(self) -> tuple[Target, ...]:
        return self.planned.targets

    @property
    def plain(self) -> bool:
        """Whether rows pass as they are, at most with columns left out or under other names."""
        return is_plain(self.transform)

    @property
    def keeps_key(self) -> bool:
        """Whether the key of the messages is that of the table, so that rows may be spread by it."""
        passed = {name for name, tree in self.transform.items if _passed(tree) == name}
        return self.transform.primary_key == self.table.primary_key and passed.issuperset(self.table.primary_key)

    def source_of(self, column: str) -> str | None:
        """The table's column that a column of a plain output is."""
        return next((_passed(tree) for name, tree in self.transform.items if name == column), None)


def table_output(planned: PlannedTable, bind: Bind) -> TableOutput:
    transform = planned.transform
    if not is_plain(transform):
        return TableOutput(planned, bind(transform))
    types = transform.table.types
    return TableOutput(planned, tuple(Field(name, types[str(_passed(tree))]) for name, tree in transform.items))


def is_plain(transform: Transform) -> bool:
    names = [_passed(tree) for _, tree in transform.items]
    return transform.condition is None and all(name in transform.table.types for name in names)


def _passed(tree: exp.Expr) -> str | None:
    return str(tree.name) if isinstance(tree, exp.Column) and len(tree.parts) == 1 else None
