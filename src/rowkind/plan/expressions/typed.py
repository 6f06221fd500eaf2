"""A translated expression: Spark SQL text and the Flink type of its value."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from zlib import crc32

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


_SHORT = 100


def once(sql: str, use: Callable[[str], str], *, always: bool = False) -> str:
    """An expression that uses another one more than once, without writing it more than once.

    Spark has no variables outside of lambdas, so a long expression becomes the only member of an array. Written out, a
    few steps one around the other would grow to millions of nodes. `always` is for what is slow, however short.

    >>> once("`a`", lambda a: f"{a} * {a}")
    '`a` * `a`'
    """
    if len(sql) <= _SHORT and not always:
        return use(sql)
    name = f"__o{crc32(sql.encode())}"
    return f"get(transform(array({sql}), {name} -> {use(name)}), 0)"


def text(value: str) -> str:
    r"""A Spark string literal, exact whatever is in the value.

    `${` would be taken for a variable of Spark's, and `/*` could look like one of the markers of `clock`.

    >>> print(text("a\\b'c"))
    'a\\\\b\\'c'
    """
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return "'" + escaped.replace("${", "$\\u007B").replace("/*", "/\\u002A") + "'"
