"""JSON functions, on Spark's VARIANT."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from rowkind import types as t
from rowkind.plan.expressions.casts import convert, widened
from rowkind.plan.expressions.functions.call import Call, Function, mapped, special
from rowkind.plan.expressions.functions.json_text import rendered, string
from rowkind.plan.expressions.typed import Typed, any_nullable, null_of, text
from rowkind.sql import type_of
from rowkind.types import DataType, Root

_STEP = re.compile(r"""\.([A-Za-z_][\w$-]*)|\[(\d+)\]|\[['"]([^'"]+)['"]\]|\.['"]([^'"]+)['"]""")


def _path(call: Call, value: Typed) -> tuple[str, bool]:
    """The path as VARIANT reads it, and whether it is strict: then a missing member is an error, not empty."""
    if not isinstance(value.constant, str):
        raise call.bad_argument(2, "must be a literal path")
    mode, _, rest = (
        value.constant.strip().rpartition(" ") if " $" in value.constant else ("", "", value.constant.strip())
    )
    if mode.strip().lower() not in ("", "lax", "strict") or not rest.startswith("$"):
        raise call.bad_argument(2, f"is no JSON path: {value.constant!r}")
    steps, position = ["$"], 1
    while position < len(rest):
        match = _STEP.match(rest, position)
        if match is None:
            raise call.bad_argument(2, "may only hold members and positions, such as $.a.b[0]['c d']")
        name, index, quoted, dotted = match.groups()
        steps.append(f"[{index}]" if index else f"['{name or quoted or dotted}']")
        position = match.end()
    return "".join(steps), mode.strip().lower() == "strict"


def _member(document: str, path: str) -> str:
    return f"try_variant_get({document}, {text(path)}, 'variant')"


def _shape(member: str) -> str:
    return f"schema_of_variant({member})"


def _is_scalar(member: str) -> str:
    shape = _shape(member)
    return f"({shape} NOT LIKE 'OBJECT%' AND {shape} NOT LIKE 'ARRAY%')"


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


def _value(call: Call, args: list[Typed]) -> Typed:
    path, strict = _path(call, args[1])
    returning = call.node.args.get("returning")
    type = type_of(returning).as_nullable() if returning else t.STRING
    document = f"try_parse_json({args[0].sql})"
    member = _member(document, path)
    empty, error = _otherwise(call, "on_empty", type, "NULL"), _otherwise(call, "on_error", type, "NULL")
    scalar = f"try_variant_get({document}, {text(path)}, {text(_variant_type(call, type))})"
    cases = [
        f"WHEN {args[0].sql} IS NULL THEN NULL",
        f"WHEN {document} IS NULL THEN {error}",
        f"WHEN {member} IS NULL THEN {error if strict else empty}",
        f"WHEN is_variant_null({member}) THEN {empty}",
        f"WHEN NOT {_is_scalar(member)} THEN {error}",
    ]
    return Typed(f"CASE {' '.join(cases)} ELSE {scalar} END", type)


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
    path, strict = _path(call, args[1])
    document = f"try_parse_json({args[0].sql})"
    member = _member(document, path)
    error = _otherwise(call, "on_error", t.BOOLEAN, "FALSE")
    missing = error if strict else "FALSE"
    sql = (
        f"CASE WHEN {args[0].sql} IS NULL THEN NULL WHEN {document} IS NULL THEN {error} "
        f"WHEN {member} IS NULL THEN {missing} ELSE NOT is_variant_null({member}) END"
    )
    return Typed(sql, t.BOOLEAN)


def _query(call: Call, args: list[Typed]) -> Typed:
    path, strict = _path(call, args[1])
    returning = call.node.args.get("returning")
    type = type_of(returning).as_nullable() if returning else t.STRING
    if type.root not in t.CHARACTERS and not (type.root is Root.ARRAY and _strings(type)):
        raise call.bad_argument(2, f"cannot be returned as {type}: only STRING and ARRAY<STRING> can")
    document = f"try_parse_json({args[0].sql})"
    member = _member(document, path)
    empty, error = _otherwise(call, "on_empty", type, "NULL"), _otherwise(call, "on_error", type, "NULL")
    whole = f"to_json({member})"
    wrapper = call.node.args.get("wrapper") or "WITHOUT"
    found, refused = _wrapped(whole, member, str(wrapper))
    if type.root is Root.ARRAY:
        found = f"try_variant_get({document}, {text(path)}, 'array<string>')"
    cases = [
        f"WHEN {args[0].sql} IS NULL THEN NULL",
        f"WHEN {document} IS NULL THEN {error}",
        f"WHEN {member} IS NULL THEN {error if strict else empty}",
        *([f"WHEN {refused} THEN {error}"] if refused else []),
    ]
    return Typed(f"CASE {' '.join(cases)} ELSE {found} END", type)


def _strings(type: DataType) -> bool:
    return type.element is not None and type.element.root in t.CHARACTERS


def _wrapped(whole: str, member: str, wrapper: str) -> tuple[str, str | None]:
    """The result's text, and the condition under which there is none."""
    if wrapper == "UNCONDITIONAL":
        return f"concat('[', {whole}, ']')", None
    if wrapper == "CONDITIONAL":
        return f"IF({_shape(member)} LIKE 'ARRAY%', {whole}, concat('[', {whole}, ']'))", None
    return whole, _is_scalar(member)


def _member_text(call: Call, node: exp.Expr) -> str:
    """A member of JSON_OBJECT or JSON_ARRAY; JSON made by a JSON function goes in as it is."""
    value = call.scope.translate(node)
    name = str(node.this).upper() if isinstance(node, exp.Expression) and "expressions" in node.arg_types else ""
    if name in ("JSON", "JSON_OBJECT", "JSON_ARRAY", "JSON_QUERY") and value.root in t.CHARACTERS:
        return value.sql
    return rendered(value.sql, value.type) if not value.is_null else "CAST(NULL AS STRING)"


def _object(call: Call, args: list[Typed]) -> Typed:
    keep = (call.node.args.get("on_null") or "NULL") == "NULL"
    members: list[str] = []
    for pair in call.nodes:
        key, value = pair.expressions
        shown = _member_text(call, value)
        shown = f"coalesce({shown}, 'null')" if keep else shown
        name = call.scope.translate(key)
        members.append(f"concat({string(name.sql, name.type)}, ':', {shown})")
    return Typed(
        f"concat('{{', concat_ws(',', {', '.join(members)}), '}}')" if members else "'{}'", t.STRING.not_null()
    )


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
    return f"IF({_shape(parsed)} = 'STRING', CAST({parsed} AS STRING), {value})"


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
