"""What a function is: parameters, result type and Spark SQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from rowkind import types as t
from rowkind.errors import RowkindError
from rowkind.plan.expressions.casts import convert
from rowkind.plan.expressions.scope import Scope, failure
from rowkind.plan.expressions.typed import Typed, any_nullable
from rowkind.types import DataType, Root


@dataclass(frozen=True, slots=True)
class Call:
    """A call under translation."""

    name: str
    scope: Scope
    node: exp.Expr
    nodes: tuple[exp.Expr, ...]

    def bad_argument(self, position: int, reason: str) -> RowkindError:
        return failure("FUNCTION_ARGUMENT_VALUE", self.node, function=self.name, position=position, reason=reason)

    def wrong_type(self, position: int, expected: str, found: object) -> RowkindError:
        return failure(
            "FUNCTION_ARGUMENT", self.node, function=self.name, position=position, expected=expected, found=found
        )


@dataclass(frozen=True, slots=True)
class Kind:
    """What an argument may be.

    `target` is the type it is converted to, None for as it is; `null` the type of an untyped NULL.
    """

    words: str
    roots: frozenset[Root]
    target: DataType | None = None
    null: DataType | None = None


_POINTS = t.TIMESTAMPS | {Root.DATE, Root.TIME}
KINDS: dict[str, Kind] = {
    "text": Kind("a string", t.CHARACTERS, null=t.STRING),
    "int": Kind("an integer", t.INTEGERS, t.INT, t.INT),
    "bigint": Kind("an integer", t.INTEGERS, t.BIGINT, t.BIGINT),
    "double": Kind("a number", t.NUMERICS, t.DOUBLE, t.DOUBLE),
    "number": Kind("a number", t.NUMERICS, null=t.DOUBLE),
    "bool": Kind("a BOOLEAN", frozenset({Root.BOOLEAN}), t.BOOLEAN, t.BOOLEAN),
    "bytes": Kind("BINARY or VARBINARY", t.BINARIES, null=t.BYTES),
    "text_or_bytes": Kind("a string or bytes", t.CHARACTERS | t.BINARIES, null=t.STRING),
    "text_or_int": Kind("a string or an integer", t.CHARACTERS | t.INTEGERS, null=t.STRING),
    "point": Kind("a date, time or timestamp", _POINTS, null=t.timestamp(3)),
    "date": Kind("a DATE or TIMESTAMP", t.TIMESTAMPS | {Root.DATE}, null=t.timestamp(3)),
    "clock": Kind("a TIME or TIMESTAMP", t.TIMESTAMPS | {Root.TIME}, null=t.timestamp(3)),
    "array": Kind("an ARRAY", frozenset({Root.ARRAY})),
    "map": Kind("a MAP", frozenset({Root.MAP})),
    "collection": Kind("an ARRAY, MAP or MULTISET", frozenset({Root.ARRAY, Root.MAP, Root.MULTISET})),
    "any": Kind("a value", frozenset(Root)),
    "word": Kind("a keyword", frozenset({Root.NULL})),
}

Result = DataType | Callable[[Sequence[Typed]], DataType]
Emit = str | Callable[[Sequence[Typed]], str]


@dataclass(frozen=True, slots=True)
class Parameters:
    """`text, int?, any*`: kinds of arguments; `?` may be left out, `*` may come any number of times."""

    kinds: tuple[str, ...]
    required: int
    repeats: bool

    @classmethod
    def of(cls, text: str) -> Parameters:
        parts = [part.strip() for part in text.split(",") if part.strip()]
        required = sum(1 for part in parts if not part.endswith(("?", "*")))
        repeats = bool(parts) and parts[-1].endswith("*")
        return cls(tuple(part.rstrip("?*") for part in parts), required, repeats)

    def kind(self, position: int) -> Kind:
        return KINDS[self.kinds[min(position, len(self.kinds) - 1)]]

    def accepts(self, count: int) -> bool:
        return self.required <= count and (self.repeats or count <= len(self.kinds))

    @property
    def words(self) -> str:
        if self.repeats:
            return f"{self.required} or more arguments"
        if self.required == len(self.kinds):
            return f"{self.required} argument{'' if self.required == 1 else 's'}"
        return f"{self.required} to {len(self.kinds)} arguments"


Body = Callable[[Call, list[Typed]], Typed]


@dataclass(frozen=True, slots=True)
class Function:
    """A function of Flink's: what it takes, and how a call is translated. `spark` and `note` are for the docs."""

    name: str
    parameters: Parameters
    body: Body
    spark: str = ""
    note: str = ""

    def apply(self, call: Call) -> Typed:
        return self.body(call, self._arguments(call))

    def _arguments(self, call: Call) -> list[Typed]:
        count = len(call.nodes)
        if not self.parameters.accepts(count):
            expected = self.parameters.words
            raise failure("FUNCTION_ARGUMENT_COUNT", call.node, function=self.name, expected=expected, found=count)
        return [self._argument(call, position, v) for position, v in enumerate(call.scope.all(call.nodes))]

    def _argument(self, call: Call, position: int, value: Typed) -> Typed:
        kind = self.parameters.kind(position)
        if value.is_null:
            return convert(value, kind.null) if kind.null else value
        if value.root not in kind.roots:
            raise call.wrong_type(position + 1, kind.words, value.type)
        return replace(convert(value, kind.target), constant=value.constant) if kind.target else value


def mapped(
    name: str, parameters: str, result: Result, sql: Emit, *, nullable: bool = False, note: str = ""
) -> Function:
    """A function by template: `result` is a type (NULL if an argument is) or a rule over the arguments.

    `sql` is a template over the arguments ({0}, {1}, {all}) or a function of them; `nullable` says that the result may
    be NULL though no argument is.
    """

    def body(call: Call, args: list[Typed]) -> Typed:
        type = result(args) if callable(result) else replace(result, nullable=any_nullable(args))
        text = sql(args) if callable(sql) else sql.format(*(a.sql for a in args), all=", ".join(a.sql for a in args))
        return Typed(text, type.as_nullable() if nullable else type)

    return Function(name, Parameters.of(parameters), body, sql if isinstance(sql, str) else "", note)


def special(name: str, parameters: str, body: Body, *, note: str = "") -> Function:
    """A function whose translation looks at the call: its syntax, constants or types."""
    return Function(name, Parameters.of(parameters), body, note=note)


def alias(name: str, function: Function) -> Function:
    return replace(function, name=name)


def as_first(args: Sequence[Typed]) -> DataType:
    """The type of the first argument, NULL if any is."""
    return replace(args[0].type, nullable=any_nullable(args))
