"""JSON functions, on Spark's VARIANT."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from rowkind import types as t
from rowkind.plan.expressions.casts import convert, widened
from rowkind.plan.expressions.functions.call import Call, Function, mapped, special
from rowkind.plan.expressions.functions.json_paths import JsonPath, kind, read
from rowkind.plan.expressions.functions.json_text import rendered, string
from rowkind.plan.expressions.typed import Typed, any_nullable, null_of, once, text
from rowkind.sql import type_of
from rowkind.types import DataType, Root


def _path(call: Call, value: Typed) -> JsonPath:
    if not isinstance(value.constant, str):
        raise call.bad_argument(2, "must be a literal path")
    found = read(value.constant)
    if isinstance(found, str):
        raise call.bad_argument(2, found)
    return found


def _is_scalar(member: str) -> str:
    return f"({kind(member)} NOT LIKE 'OBJECT%' AND {kind(member)} NOT LIKE 'ARRAY%')"


@dataclass(frozen=True, slots=True)
class _Search:
    """A document, a path in it, and what there is instead of a value."""

    input: str
    path: JsonPath
    empty: str
    error: str

    def cases(self, use: Callable[[str], str]) -> str:
        """The value in the order in which Flink looks: bad input, then a missing member, then the rest.

        JSON's null holds no path, so it counts as an error, in every mode.
        """
        return once(f"try_parse_json({self.input})", lambda document: self._cases(document, use), always=True)

    def _cases(self, document: str, use: Callable[[str], str]) -> str:
        bad = self.error if self.path.strict else self.empty
        known = [
            f"WHEN {self.input} IS NULL THEN NULL",
            f"WHEN {document} IS NULL THEN {bad}",
            f"WHEN is_variant_null({document}) THEN {self.error}",
        ]
        if self.path.strict:
            known.append(f"WHEN {self.path.missing(document)} THEN {self.error}")
        return f"CASE {' '.join(known)} ELSE {use(document)} END"

    def member(self, document: str, use: Callable[[str], str]) -> str:
        return once(self.path.start(document), use, always=True)


def _otherwise(call: Call, key: str, type: DataType, default: str) -> str:
    """What `… ON EMPTY` or `… ON ERROR` gives."""
    node = call.node.args.get(key)
    word = node.name if isinstance(node, exp.Var) else None
    if node is not None and word is None:
        return widened(convert(call.scope.translate(node), type), type).sql
    match word or default:
        case "ERROR":
            return f"CAST(raise_error({text(f'{call.name}: ' + key.replace('_', ' ').upper())}) AS STRING)"
        case "EMPTY_ARRAY":
            return "'[]'" if type.root in t.CHARACTERS else f"CAST(array() AS {t.spark_type(type)})"
        case "EMPTY_OBJECT":
            return "'{}'"
        case "TRUE" | "FALSE" as value:
            return value
    return null_of(type).sql


def _search(call: Call, args: list[Typed], type: DataType) -> _Search:
    empty, error = _otherwise(call, "on_empty", type, "NULL"), _otherwise(call, "on_error", type, "NULL")
    return _Search(args[0].sql, _path(call, args[1]), empty, error)


def _returned(call: Call) -> DataType:
    returning = call.node.args.get("returning")
    return type_of(returning).as_nullable() if returning else t.STRING


def _value(call: Call, args: list[Typed]) -> Typed:
    type = _returned(call)
    search = _search(call, args, type)
    other = search.error if search.path.strict else search.empty
    if not search.path.definite:
        return Typed(search.cases(lambda document: other), type)
    wanted = text(_variant_type(call, type))

    def shown(member: str) -> str:
        empty = f"WHEN {member} IS NULL OR is_variant_null({member}) THEN {search.empty}"
        return (
            f"CASE {empty} WHEN NOT {_is_scalar(member)} THEN {other} ELSE try_variant_get({member}, '$', {wanted}) END"
        )

    return Typed(search.cases(lambda document: search.member(document, shown)), type)


def _variant_type(call: Call, type: DataType) -> str:
    found = {
        Root.BOOLEAN: "boolean",
        Root.INT: "int",
        Root.BIGINT: "bigint",
        Root.DOUBLE: "double",
        Root.FLOAT: "float",
    }
    if type.root in t.CHARACTERS:
        return "string"
    if type.root not in found:
        raise call.bad_argument(2, f"cannot be returned as {type}: only STRING, BOOLEAN, INT, BIGINT and DOUBLE can")
    return found[type.root]


def _exists(call: Call, args: list[Typed]) -> Typed:
    error = _otherwise(call, "on_error", t.BOOLEAN, "FALSE")
    search = _Search(args[0].sql, _path(call, args[1]), "FALSE", error)
    if not search.path.definite:
        return Typed(search.cases(lambda document: "TRUE"), t.BOOLEAN)
    there = "({0} IS NOT NULL AND NOT is_variant_null({0}))"
    return Typed(search.cases(lambda document: search.member(document, there.format)), t.BOOLEAN)


def _query(call: Call, args: list[Typed]) -> Typed:
    type = _returned(call)
    if type.root not in t.CHARACTERS and not (type.root is Root.ARRAY and _strings(type)):
        raise call.bad_argument(2, f"cannot be returned as {type}: only STRING and ARRAY<STRING> can")
    search = _search(call, args, type)
    wrapper = str(call.node.args.get("wrapper") or "WITHOUT")
    if not search.path.definite:
        return Typed(search.cases(lambda document: _shown(search.path.found(document), wrapper, type)), type)

    def shown(member: str) -> str:
        cases = [f"WHEN {member} IS NULL OR is_variant_null({member}) THEN {search.empty}"]
        if wrapper == "WITHOUT":
            cases.append(f"WHEN {_is_scalar(member)} THEN {search.error if search.path.strict else search.empty}")
        if type.root is Root.ARRAY and wrapper == "WITHOUT":
            cases.append(f"WHEN {kind(member)} NOT LIKE 'ARRAY%' THEN {search.error}")
        return f"CASE {' '.join(cases)} ELSE {_wrapped(member, wrapper, type)} END"

    return Typed(search.cases(lambda document: search.member(document, shown)), type)


def _strings(type: DataType) -> bool:
    return type.element is not None and type.element.root in t.CHARACTERS


def _wrapped(member: str, wrapper: str, type: DataType) -> str:
    """A value as text or as an array of texts, in brackets of its own where they are asked for."""
    is_array = f"{kind(member)} LIKE 'ARRAY%'"
    if type.root is Root.ARRAY:
        items = f"try_variant_get({member}, '$', 'array<variant>')"
        alone = {"UNCONDITIONAL": "TRUE", "CONDITIONAL": f"NOT ({is_array})"}.get(wrapper, "FALSE")
        return _texts(f"IF({alone}, array({member}), {items})")
    whole = f"to_json({member})"
    if wrapper == "UNCONDITIONAL":
        return f"concat('[', {whole}, ']')"
    return f"IF({is_array}, {whole}, concat('[', {whole}, ']'))" if wrapper == "CONDITIONAL" else whole


def _shown(values: str, wrapper: str, type: DataType) -> str:
    """All that a path has found, as text or as an array of texts."""
    if type.root is Root.ARRAY:
        return _texts(values)
    whole = f"to_json({values})"
    return f"concat('[', {whole}, ']')" if wrapper == "UNCONDITIONAL" else whole


def _texts(values: str) -> str:
    item = f"IF({_is_scalar('__t')}, CAST(__t AS STRING), to_json(__t))"
    return f"transform({values}, __t -> {item})"


def _member_text(call: Call, node: exp.Expr) -> str:
    """A member of JSON_OBJECT or JSON_ARRAY; JSON made by a JSON function goes in as it is."""
    value = call.scope.translate(node)
    name = str(node.this).upper() if isinstance(node, exp.Expression) and "expressions" in node.arg_types else ""
    if name in ("JSON", "JSON_OBJECT", "JSON_ARRAY", "JSON_QUERY") and value.root in t.CHARACTERS:
        return value.sql
    return rendered(value.sql, value.type) if not value.is_null else "CAST(NULL AS STRING)"


def _object(call: Call, args: list[Typed]) -> Typed:
    """Members in the order of their keys, and of those with the same key the last, as Flink writes them."""
    keep = (call.node.args.get("on_null") or "NULL") == "NULL"
    members: dict[str, str] = {}
    for pair in call.nodes:
        key, value = pair.expressions
        name = call.scope.translate(key)
        if not isinstance(name.constant, str):
            raise call.bad_argument(1, "must have literal keys")
        shown = _member_text(call, value)
        shown = f"coalesce({shown}, 'null')" if keep else shown
        members[name.constant] = f"concat({string(name.sql, name.type)}, ':', {shown})"
    sorted_members = ", ".join(members[key] for key in sorted(members))
    return Typed(f"concat('{{', concat_ws(',', {sorted_members}), '}}')" if members else "'{}'", t.STRING.not_null())


def _elements(call: Call, args: list[Typed]) -> Typed:
    keep = (call.node.args.get("on_null") or "ABSENT") == "NULL"
    shown = [_member_text(call, n) for n in call.nodes]
    members = ", ".join(f"coalesce({s}, 'null')" if keep else s for s in shown)
    return Typed(f"concat('[', concat_ws(',', {members}), ']')" if members else "'[]'", t.STRING.not_null())


def _json_string(call: Call, args: list[Typed]) -> Typed:
    return Typed(rendered(args[0].sql, args[0].type), replace(t.STRING, nullable=args[0].nullable))


def _json(call: Call, args: list[Typed]) -> Typed:
    """JSON('…') puts a text into JSON_OBJECT or JSON_ARRAY as the JSON it is."""
    return Typed(f"to_json(parse_json({args[0].sql}))", replace(t.STRING, nullable=any_nullable(args)))


def _quoted(args: Sequence[Typed]) -> str:
    return string(args[0].sql, t.STRING)


def _unquoted(args: Sequence[Typed]) -> str:
    """The text of a JSON string; anything that is none stays as it is."""
    value = args[0].sql
    parsed = f"try_parse_json({value})"
    return f"IF({kind(parsed)} = 'STRING', CAST({parsed} AS STRING), {value})"


JSON: tuple[Function, ...] = (
    special("JSON_EXISTS", "text, text", _exists),
    special("JSON_VALUE", "text, text", _value, note="numbers come in their shortest form: 1.50 gives 1.5"),
    special("JSON_QUERY", "text, text", _query),
    special("JSON_STRING", "any", _json_string),
    special("JSON_OBJECT", "any*", _object),
    special("JSON_ARRAY", "any*", _elements),
    special("JSON", "text", _json, note="inside JSON_OBJECT and JSON_ARRAY"),
    mapped("JSON_QUOTE", "text", t.STRING, _quoted),
    mapped("JSON_UNQUOTE", "text", t.STRING, _unquoted),
)
