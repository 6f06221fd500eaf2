"""A translated expression: Spark SQL text and the Flink type of its value."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from rowkind.types import DataType, Root, spark_type


@dataclass(frozen=True, slots=True)
class Typed:
    """Spark SQL over back-quoted column names, and the Flink type.

    `constant` is the value of a literal, for rules that look at it (the scale of ROUND, the pattern of LIKE).
    """

    sql: str
    type: DataType
    constant: str | int | bool | None = None

    @property
    def root(self) -> Root:
        return self.type.root

    @property
    def nullable(self) -> bool:
        return self.type.nullable

    @property
    def is_null(self) -> bool:
        """Whether this is an untyped NULL."""
        return self.type.root is Root.NULL

    def with_type(self, type: DataType) -> Typed:
        return replace(self, type=type)


def any_nullable(args: Iterable[Typed]) -> bool:
    return any(a.nullable for a in args)


def null_of(type: DataType) -> Typed:
    return Typed(f"CAST(NULL AS {spark_type(type)})", type.as_nullable())


def text(value: str) -> str:
    r"""A Spark string literal, exact whatever is in the value.

    `${` would be taken for a variable of Spark's, and `/*` could look like one of the markers of `clock`.

    >>> print(text("a\\b'c"))
    'a\\\\b\\'c'
    """
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return "'" + escaped.replace("${", "$\\u007B").replace("/*", "/\\u002A") + "'"
