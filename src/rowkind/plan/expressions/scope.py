"""What a rule needs while an expression is translated: the columns, the types Spark has told, and the walk itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from rowkind.errors import RowkindError
from rowkind.plan.expressions.typed import Typed
from rowkind.sql import render
from rowkind.types import DataType

Rule = Callable[["Scope", exp.Expr], Typed]

RULES: dict[type[exp.Expr], Rule] = {}
"""One translation rule per kind of tree node; the modules of this package fill it in."""


def rule(*kinds: type[exp.Expr]) -> Callable[[Rule], Rule]:
    """Declare the translation of some kinds of nodes."""

    def declare(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(kinds, function))
        return function

    return declare


class AskSpark(Exception):
    """The type of a function that only Spark knows is needed to go on."""

    def __init__(self, sql: str) -> None:
        super().__init__(sql)
        self.sql = sql


@dataclass(frozen=True, slots=True)
class Scope:
    """The columns an expression may use, and the types that Spark has told so far (by Spark SQL text)."""

    columns: Mapping[str, DataType]
    told: Mapping[str, DataType] = field(default_factory=dict)

    def translate(self, node: exp.Expr) -> Typed:
        found = next((RULES[kind] for kind in type(node).__mro__ if kind in RULES), None)
        if found is None:
            raise failure("EXPRESSION_NOT_SUPPORTED", node, kind=type(node).__name__)
        return found(self, node)

    def all(self, nodes: Sequence[exp.Expr]) -> list[Typed]:
        return [self.translate(node) for node in nodes]

    def type_by_spark(self, sql: str) -> DataType:
        """Spark's word on the type of an expression; it is asked about many expressions at once."""
        if sql not in self.told:
            raise AskSpark(sql)
        return self.told[sql]


def failure(condition: str, node: exp.Expr, **params: object) -> RowkindError:
    """A named error that tells the expression and where it stands in the script."""
    place = next(((n.meta["line"], n.meta["col"]) for n in node.walk() if "line" in n.meta), None)
    where = f"Line {place[0]}, column {place[1]}: " if place else ""
    return RowkindError(condition, where=where, expression=render(node), **params)
