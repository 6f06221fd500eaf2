"""Functions of arrays and maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rowkind import types as t
from rowkind.plan.expressions.casts import to_common, widened
from rowkind.plan.expressions.common import common_type
from rowkind.plan.expressions.functions.call import Call, Function, as_first, mapped, special
from rowkind.plan.expressions.typed import Typed, any_nullable, null_of, once
from rowkind.types import DataType, Field, map_members


def _element(value: Typed) -> DataType:
    assert value.type.element
    return value.type.element


def _element_of(args: Sequence[Typed]) -> DataType:
    return _element(args[0]).as_nullable()


def _with_element(function: str) -> Function:
    """ARRAY_APPEND and ARRAY_PREPEND: the element type widens to hold the new element."""

    def body(call: Call, args: list[Typed]) -> Typed:
        values, member = args
        element = common_type([_element(values), member.type])
        if element is None:
            raise call.wrong_type(2, str(_element(values)), member.type)
        type = replace(t.array(element), nullable=any_nullable(args))
        sql = f"{function.lower()}({widened(values, type).sql}, {widened(member, element).sql})"
        return Typed(sql, type)

    return special(function, "array, any", body)


def _needle(call: Call, args: list[Typed]) -> tuple[str, Typed]:
    """The element to look for, in the type of the array's elements."""
    values, wanted = args
    element = _element(values)
    if wanted.is_null:
        return values.sql, null_of(element)
    common = common_type([element, wanted.type])
    if common is None:
        raise call.wrong_type(2, str(element), wanted.type)
    return values.sql, widened(wanted, element)


def _contains(call: Call, args: list[Typed]) -> Typed:
    values, wanted = _needle(call, args)
    # Unlike Spark's array_contains, NULL is an element like any other.
    return Typed(f"exists({values}, __e -> __e <=> {wanted.sql})", replace(t.BOOLEAN, nullable=args[0].nullable))


def _position(call: Call, args: list[Typed]) -> Typed:
    values, wanted = _needle(call, args)
    type = replace(t.INT, nullable=any_nullable(args))
    return Typed(f"CAST(array_position({values}, {wanted.sql}) AS INT)", type)


def _remove(call: Call, args: list[Typed]) -> Typed:
    values, wanted = _needle(call, args)
    return Typed(f"filter({values}, __e -> NOT (__e <=> {wanted.sql}))", args[0].type)


def _joined(function: str, count: str = "array, array") -> Function:
    """Functions of arrays that must have one type."""

    def body(call: Call, args: list[Typed]) -> Typed:
        values = to_common(args, common_type([a.type for a in args]), "NO_COMMON_TYPE", call.node)
        sql = f"{function}({', '.join(v.sql for v in values)})"
        return Typed(sql, replace(values[0].type, nullable=any_nullable(args)))

    name = "ARRAY_CONCAT" if function == "concat" else function.upper()
    return special(name, count, body)


def _slice(args: Sequence[Typed]) -> str:
    """From one position to the other, both counted from 1 or backwards from -1; an end of 0 is the first position."""
    values, start = args[0].sql, args[1].sql
    size = f"size({values})"
    end = args[2].sql if len(args) > 2 else size
    first = f"greatest(IF({start} < 0, {size} + {start} + 1, {start}), 1)"
    turned = f"IF({end} < 0, {size} + {end} + 1, {end})"
    last = f"IF({turned} = 0, 1, least({turned}, {size}))"
    unknown = " OR ".join(f"{a.sql} IS NULL" for a in args[1:] if a.nullable)
    found = f"IF({size} = 0, {values}, slice({values}, {first}, greatest({last} - {first} + 1, 0)))"
    return f"IF({unknown}, NULL, {found})" if unknown else found


def _sort(args: Sequence[Typed]) -> str:
    values = args[0].sql
    ascending = args[1].sql if len(args) > 1 else "TRUE"
    nulls_first = args[2].sql if len(args) > 2 else ascending
    up = "CASE WHEN __l < __r THEN -1 WHEN __l > __r THEN 1 ELSE 0 END"
    nulls = f"CASE WHEN __l IS NULL AND __r IS NULL THEN 0 WHEN (__l IS NULL) = {nulls_first} THEN -1 ELSE 1 END"
    order = f"IF(__l IS NULL OR __r IS NULL, {nulls}, IF({ascending}, 1, -1) * {up})"
    sorted_ = f"array_sort({values}, (__l, __r) -> {order})"
    unknown = " OR ".join(f"{a.sql} IS NULL" for a in args[1:] if a.nullable)
    return f"IF({unknown}, NULL, {sorted_})" if unknown else sorted_


def _array_join(args: Sequence[Typed]) -> str:
    joined = f"array_join({', '.join(a.sql for a in args)})"
    unknown = " OR ".join(f"{a.sql} IS NULL" for a in args if a.nullable)
    return f"IF({unknown}, NULL, {joined})" if unknown else joined


def _map_union(call: Call, args: list[Typed]) -> Typed:
    maps = to_common(args, common_type([a.type for a in args]), "NO_COMMON_TYPE", call.node)
    sql = f"map_concat({', '.join(m.sql for m in maps)})"
    return Typed(sql, replace(maps[0].type, nullable=any_nullable(args)))


def _keys_type(args: Sequence[Typed]) -> DataType:
    return replace(t.array(map_members(args[0].type)[0]), nullable=args[0].nullable)


def _values_type(args: Sequence[Typed]) -> DataType:
    return replace(t.array(map_members(args[0].type)[1]), nullable=args[0].nullable)


def _entries_type(args: Sequence[Typed]) -> DataType:
    key, value = map_members(args[0].type)
    return replace(t.array(t.row(Field("key", key), Field("value", value))), nullable=args[0].nullable)


def _from_arrays_type(args: Sequence[Typed]) -> DataType:
    return replace(t.map_of(_element(args[0]), _element(args[1])), nullable=any_nullable(args))


def _from_arrays(args: Sequence[Typed]) -> str:
    """Spark's maps have no NULL key, so its pair is left out. Arrays of two lengths are an error, also in Flink."""
    keys, values = args[0].sql, args[1].sql
    pairs = f"zip_with({keys}, {values}, (__k, __v) -> named_struct('k', __k, 'v', __v))"
    known = f"map_from_entries(filter({pairs}, __e -> __e.k IS NOT NULL))"
    return f"IF(size({keys}) = size({values}), {known}, map_from_arrays({keys}, {values}))"


def _only_element(args: Sequence[Typed]) -> str:
    values = args[0].sql
    return f"IF(size({values}) > 1, raise_error('ELEMENT of an array with more than one element'), get({values}, 0))"


def _only_type(args: Sequence[Typed]) -> DataType:
    return replace(_element(args[0]), nullable=args[0].nullable or _element(args[0]).nullable)


COLLECTIONS: tuple[Function, ...] = (
    mapped("CARDINALITY", "collection", t.INT, lambda a: f"IF({a[0].sql} IS NULL, NULL, cardinality({a[0].sql}))"),
    mapped("ELEMENT", "array", _only_type, _only_element),
    _with_element("ARRAY_APPEND"),
    _with_element("ARRAY_PREPEND"),
    special("ARRAY_CONTAINS", "array, any", _contains),
    mapped("ARRAY_DISTINCT", "array", as_first, "array_distinct({0})"),
    special("ARRAY_POSITION", "array, any", _position),
    special("ARRAY_REMOVE", "array, any", _remove),
    mapped("ARRAY_REVERSE", "array", as_first, "reverse({0})"),
    mapped(
        "ARRAY_SLICE",
        "array, int, int?",
        as_first,
        lambda a: once(a[0].sql, lambda values: _slice([replace(a[0], sql=values), *a[1:]])),
    ),
    mapped("ARRAY_SORT", "array, bool?, bool?", as_first, _sort),
    _joined("array_union"),
    _joined("array_except"),
    _joined("array_intersect"),
    _joined("concat", "array, array*"),
    mapped("ARRAY_MAX", "array", _element_of, "array_max({0})"),
    mapped("ARRAY_MIN", "array", _element_of, "array_min({0})"),
    mapped("ARRAY_JOIN", "array, text, text?", t.STRING, _array_join),
    mapped("MAP_KEYS", "map", _keys_type, "map_keys({0})"),
    mapped("MAP_VALUES", "map", _values_type, "map_values({0})"),
    mapped("MAP_ENTRIES", "map", _entries_type, "map_entries({0})"),
    special("MAP_UNION", "map, map*", _map_union),
    mapped("MAP_FROM_ARRAYS", "array, array", _from_arrays_type, _from_arrays),
)
