"""Arithmetic functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rowkind import types as t
from rowkind.plan.expressions import arithmetic
from rowkind.plan.expressions.casts import convert
from rowkind.plan.expressions.clock import BATCH, SEED
from rowkind.plan.expressions.common import APPROXIMATE, as_decimal
from rowkind.plan.expressions.functions.call import Call, Function, alias, as_first, mapped, special
from rowkind.plan.expressions.functions.rounding import floor_or_ceil
from rowkind.plan.expressions.scope import failure
from rowkind.plan.expressions.typed import Typed, any_nullable
from rowkind.types import DataType, Root, spark_type

_OF_ONE = ("SIN", "SINH", "COS", "TAN", "TANH", "COT", "ASIN", "ACOS", "ATAN", "COSH", "DEGREES", "RADIANS", "EXP")


def _logarithm(log: str, value: str) -> str:
    """Spark gives NULL for what is not positive; Flink -Infinity and NaN."""
    otherwise = f"CAST(IF({value} = 0, '-Infinity', 'NaN') AS DOUBLE)"
    return f"IF({value} IS NULL, NULL, coalesce({log}, {otherwise}))"


def _log(args: Sequence[Typed]) -> str:
    if len(args) == 1:
        return _logarithm(f"ln({args[0].sql})", args[0].sql)
    base, value = args[0].sql, args[1].sql
    return arithmetic.floating_quotient(
        _logarithm(f"ln({value})", value), _logarithm(f"ln({base})", base), spark_type(t.DOUBLE)
    )


def _round(call: Call, args: list[Typed]) -> Typed:
    return _rounded(args, "round")


def _truncate(call: Call, args: list[Typed]) -> Typed:
    return _rounded(args, "truncate")


def _rounded(args: list[Typed], how: str) -> Typed:
    value, digits = args[0], args[1] if len(args) > 1 else Typed("0", t.INT.not_null(), constant=0)
    type = replace(_rounded_type(value.type, digits), nullable=any_nullable([value, digits]))
    if how == "round":
        sql = f"round({value.sql}, {digits.sql})" if digits.constant is not None else _rounded_by(value, digits)
    else:
        sql = _truncated(value, digits)
    return Typed(f"CAST({sql} AS {spark_type(type)})", type)


def _rounded_type(type: DataType, digits: Typed) -> DataType:
    if type.root is not Root.DECIMAL:
        return type
    precision, scale = as_decimal(type)
    if not isinstance(digits.constant, int) or digits.constant >= scale:
        return type
    if digits.constant < 0:
        return t.decimal(min(38, 1 + precision - scale), 0)
    return t.decimal(1 + precision - scale + digits.constant, digits.constant)


def _rounded_by(value: Typed, digits: Typed) -> str:
    """Spark's round wants a constant number of digits."""
    power = f"power(10, {digits.sql})"
    return f"(round(CAST({value.sql} AS DOUBLE) * {power}) / {power})"


def _truncated(value: Typed, digits: Typed) -> str:
    """Towards zero: the floor of the size, with the sign of the value."""
    if value.root in t.INTEGERS and isinstance(digits.constant, int) and digits.constant >= 0:
        return value.sql
    if not isinstance(digits.constant, int):
        power = f"power(10, {digits.sql})"
        return f"(sign({value.sql}) * floor(CAST(abs({value.sql}) AS DOUBLE) * {power}) / {power})"
    if value.root in APPROXIMATE:
        # From there on a DOUBLE has no fraction.
        near = f"abs({value.sql}) < 1e15D"
        return f"IF({near}, {_towards_zero(f'CAST({value.sql} AS DECIMAL(38, 18))', digits.constant)}, {value.sql})"
    return _towards_zero(value.sql, digits.constant)


def _towards_zero(number: str, digits: int) -> str:
    return f"IF({number} < 0, -floor(-{number}, {digits}), floor({number}, {digits}))"


def _mod(call: Call, args: list[Typed]) -> Typed:
    found = arithmetic.arithmetic("%", args[0], args[1])
    if found is None:
        types = f"{args[0].type} and {args[1].type}"
        raise failure("OPERATOR_TYPES", call.node, operator="MOD", types=types)
    return found


def _sign(call: Call, args: list[Typed]) -> Typed:
    return convert(Typed(f"sign({args[0].sql})", t.DOUBLE, None), args[0].type).with_type(args[0].type)


def _rand(call: Call, args: list[Typed]) -> Typed:
    return Typed(_random(call, args), t.DOUBLE.not_null())


def _rand_integer(call: Call, args: list[Typed]) -> Typed:
    *seed, bound = args
    return Typed(
        f"CAST(floor({_random(call, seed)} * {bound.sql}) AS INT)", replace(t.INT, nullable=any_nullable(args))
    )


def _random(call: Call, seed: Sequence[Typed], member: int = 0) -> str:
    """Random numbers of the batch. Calls without a seed differ by where they stand, or two of them would be alike."""
    if seed:
        return f"rand(xxhash64({BATCH}, {seed[0].sql}))"
    return f"rand({SEED} + {16 * int(call.node.meta.get('start', 0)) + member})"


def _uuid(call: Call, args: list[Typed]) -> Typed:
    """A version 4 UUID out of the batch's random numbers."""
    a, b, c, d, e = (_hex_digits(_random(call, args, i), n) for i, n in enumerate((8, 4, 3, 3, 12)))
    variant = f"substring('89ab', CAST(floor({_random(call, args, 5)} * 4) AS INT) + 1, 1)"
    sql = f"concat({a}, '-', {b}, '-4', {c}, '-', {variant}, {d}, '-', {e})"
    return Typed(sql, DataType(Root.CHAR, nullable=False, length=36))


def _hex_digits(random: str, length: int) -> str:
    return f"lpad(lower(hex(CAST(floor({random} * {16**length}L) AS BIGINT))), {length}, '0')"


_REPLAYED = "the same when a batch is replayed"
_CEIL = special("CEIL", "any, word?", floor_or_ceil("ceil"))

NUMBERS: tuple[Function, ...] = (
    mapped("POWER", "double, double", t.DOUBLE, "power({0}, {1})"),
    mapped("ABS", "number", as_first, "abs({0})"),
    mapped("SQRT", "double", t.DOUBLE, "power({0}, 0.5D)"),
    mapped("LN", "double", t.DOUBLE, lambda a: _logarithm(f"ln({a[0].sql})", a[0].sql)),
    mapped("LOG10", "double", t.DOUBLE, lambda a: _logarithm(f"log10({a[0].sql})", a[0].sql)),
    mapped("LOG2", "double", t.DOUBLE, lambda a: _logarithm(f"log2({a[0].sql})", a[0].sql)),
    mapped("LOG", "double, double?", t.DOUBLE, _log),
    *(mapped(name, "double", t.DOUBLE, f"{name.lower()}({{0}})") for name in _OF_ONE),
    mapped("ATAN2", "double, double", t.DOUBLE, "atan2({0}, {1})"),
    _CEIL,
    alias("CEILING", _CEIL),
    special("FLOOR", "any, word?", floor_or_ceil("floor")),
    special("SIGN", "number", _sign),
    special("ROUND", "number, int?", _round),
    special("TRUNCATE", "number, int?", _truncate),
    special("MOD", "number, number", _mod),
    mapped("PI", "", t.DOUBLE.not_null(), "pi()"),
    mapped("E", "", t.DOUBLE.not_null(), "e()"),
    special("RAND", "int?", _rand, note=_REPLAYED),
    special("RAND_INTEGER", "int, int?", _rand_integer, note=_REPLAYED),
    special("UUID", "", _uuid, note=_REPLAYED),
    mapped("BIN", "bigint", t.STRING, "bin({0})"),
    mapped("HEX", "text_or_int", t.STRING, "hex({0})"),
    mapped(
        "UNHEX",
        "text",
        t.BYTES,
        "unhex(IF(length({0}) % 2 = 0, {0}, concat('00', substring({0}, 2))))",
        nullable=True,
    ),
)
