"""Shapes as JSON text: coordinates, type and reference system, whole numbers without a decimal point."""

from __future__ import annotations

import json
import struct
from typing import Any

_POINT, _LINE, _POLYGON, _MULTI_POINT, _MULTI_LINE, _MULTI_POLYGON, _COLLECTION = range(1, 8)
_NAMES = {
    _POINT: "Point",
    _LINE: "LineString",
    _POLYGON: "Polygon",
    _MULTI_POINT: "MultiPoint",
    _MULTI_LINE: "MultiLineString",
    _MULTI_POLYGON: "MultiPolygon",
    _COLLECTION: "GeometryCollection",
}


def geometry_text(value: bytes) -> str:
    """The JSON of a value in the server's own form: a reference system, then well-known binary.

    >>> geometry_text(bytes(4) + b"\\1" + struct.pack("<Idd", 1, 1.0, 2.5))
    '{"coordinates":[1,2.5],"type":"Point","srid":0}'
    """
    (srid,) = struct.unpack_from("<I", value)
    kind, content, _ = _shape(value, 4)
    member = "geometries" if kind == _COLLECTION else "coordinates"
    return json.dumps({member: content, "type": _NAMES[kind], "srid": srid}, separators=(",", ":"))


def _shape(value: bytes, at: int) -> tuple[int, Any, int]:
    """Kind and content of a shape, and where it ends."""
    order = "<" if value[at] else ">"
    (kind,) = struct.unpack_from(f"{order}I", value, at + 1)
    at += 5
    if kind == _POINT:
        return kind, *_point(value, at, order)
    (count,) = struct.unpack_from(f"{order}I", value, at)
    at += 4
    content = []
    for _ in range(count):
        part, at = _part(value, at, order, kind)
        content.append(part)
    return kind, content, at


def _part(value: bytes, at: int, order: str, kind: int) -> tuple[Any, int]:
    if kind == _LINE:
        return _point(value, at, order)
    if kind == _POLYGON:
        (count,) = struct.unpack_from(f"{order}I", value, at)
        numbers = struct.unpack_from(f"{order}{2 * count}d", value, at + 4)
        ring = [[_number(x), _number(y)] for x, y in zip(numbers[0::2], numbers[1::2], strict=True)]
        return ring, at + 4 + 16 * count
    inner, content, at = _shape(value, at)
    if kind == _COLLECTION:
        member = "geometries" if inner == _COLLECTION else "coordinates"
        return {"type": _NAMES[inner], member: content}, at
    return content, at


def _point(value: bytes, at: int, order: str) -> tuple[list[int | float], int]:
    x, y = struct.unpack_from(f"{order}dd", value, at)
    return [_number(x), _number(y)], at + 16


def _number(value: float) -> int | float:
    return int(value) if value.is_integer() else value
