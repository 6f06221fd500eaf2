"""The exact way from a JSON tree to a row's cells, one value at a time: what the fast path must agree with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rowkind.formats import text as java
from rowkind.formats.json.tree import Int, Members, Real, Unreadable, number_text, render
from rowkind.formats.temporal import TimestampStandard, parse_date, parse_time, parse_timestamp
from rowkind.types import DataType, Field, Root, map_members

Cell = Callable[[Any], Any]
"""Turns a JSON value that is not null into what pyarrow.array takes for its column."""
_BITS = {Root.TINYINT: 8, Root.SMALLINT: 16, Root.INT: 32, Root.BIGINT: 64}


@dataclass(frozen=True, slots=True)
class JsonReading:
    """How messages are read: the options of a decoder."""

    ignore_errors: bool = False
    fail_on_missing: bool = False
    standard: TimestampStandard = TimestampStandard.SQL
    streaming: bool = True
    """Flink's streaming parser; otherwise its tree parser."""
    exact_reals: bool = False
    """A tree holds decimals instead of doubles, which Flink does when the table has a DECIMAL."""


@dataclass(slots=True)
class Cells:
    """Converters for a decoder's columns. `ignored` counts the values that were nulled instead of failing."""

    reading: JsonReading
    ignored: int = field(default=0)

    def row(self, fields: Sequence[Field]) -> Callable[[Any], list[Any]]:
        """A converter of an object to its fields' values, in order."""
        names = {f.name: i for i, f in enumerate(fields)}
        cells = [self.cell(f.type) for f in fields]
        return self._streamed(names, cells) if self.reading.streaming else self._looked_up(names, cells)

    def _streamed(self, names: dict[str, int], cells: list[Cell]) -> Callable[[Any], list[Any]]:
        """Flink's streaming parser stops looking once it has met as many known keys as there are columns."""

        def convert(value: Any) -> list[Any]:
            row: list[Any] = [None] * len(cells)
            met = 0
            for name, member in _members(value):
                if met >= len(cells):
                    break
                index = names.get(name)
                if index is not None:
                    row[index] = _at(name, cells[index], member)
                    met += 1
            if met < len(cells) and self.reading.fail_on_missing:
                absent = sorted(names.keys() - {name for name, _ in value})
                raise Unreadable(f"missing: {', '.join(absent)}")
            return row

        return convert

    def _looked_up(self, names: dict[str, int], cells: list[Cell]) -> Callable[[Any], list[Any]]:
        """Flink's tree parser: the last of duplicate keys."""

        def convert(value: Any) -> list[Any]:
            found = dict(_members(value))
            if self.reading.fail_on_missing and names.keys() - found.keys():
                raise Unreadable(f"missing: {', '.join(sorted(names.keys() - found.keys()))}")
            return [_at(name, cells[index], found.get(name)) for name, index in names.items()]

        return convert

    def cell(self, type: DataType) -> Cell:
        """A converter that lets null through, and with `ignore_errors` makes one of what does not fit."""
        convert = self._not_null(type)

        def cell(value: Any) -> Any:
            if value is None:
                return None
            try:
                return convert(value)
            except ValueError:
                if not self.reading.ignore_errors:
                    raise
                self.ignored += 1
                return None

        return cell

    def _not_null(self, type: DataType) -> Cell:
        match type.root:
            case Root.NULL:
                return lambda value: None
            case Root.BOOLEAN:
                return _boolean
            case Root.TINYINT | Root.SMALLINT:
                return lambda value: _small(value, _BITS[type.root])
            case Root.INT | Root.BIGINT:
                return lambda value: _whole(value, _BITS[type.root])
            case Root.INTERVAL_YEAR_MONTH:
                return lambda value: _whole(value, 32)
            case Root.INTERVAL_DAY_TIME:
                return _duration
            case Root.FLOAT:
                return self._float
            case Root.DOUBLE:
                return lambda value: java.double(java.trimmed(self._text(value)))
            case Root.DECIMAL:
                return self._decimal(type)
            case Root.CHAR | Root.VARCHAR:
                return self._string
            case Root.BINARY | Root.VARBINARY:
                return _bytes
            case Root.DATE:
                return lambda value: parse_date(_scalar(value))
            case Root.TIME:
                return lambda value: parse_time(_scalar(value))
            case Root.TIMESTAMP | Root.TIMESTAMP_LTZ:
                local_zone = type.root is Root.TIMESTAMP_LTZ
                return lambda value: parse_timestamp(_scalar(value), self.reading.standard, local_zone)
            case Root.ARRAY:
                return self._array(type)
            case Root.MAP | Root.MULTISET:
                return self._map(type)
            case Root.ROW:
                return self._nested(type)

    def _string(self, value: Any) -> str:
        if isinstance(value, list):
            return _encodable(render(value, self.reading.exact_reals))
        return _encodable(self._text(value))

    def _text(self, value: Any) -> str:
        """A scalar's text: the streaming parser has a number's own, the tree parser prints it anew."""
        if isinstance(value, (Int, Real)) and not self.reading.streaming:
            return number_text(value, self.reading.exact_reals)
        return _scalar(value)

    def _float(self, value: Any) -> float:
        if isinstance(value, Real) and not self.reading.streaming and not self.reading.exact_reals:
            return java.round_single(float(value))
        return java.single(java.trimmed(self._text(value)))

    def _decimal(self, type: DataType) -> Cell:
        assert type.precision is not None
        assert type.scale is not None
        precision, scale = type.precision, type.scale

        def convert(value: Any) -> Any:
            text = _scalar(value)
            if self.reading.streaming:
                text = java.trimmed(text)
            return java.fit_decimal(java.parse_decimal(text), precision, scale)

        return convert

    def _array(self, type: DataType) -> Cell:
        assert type.element
        element = self.cell(type.element)

        def convert(value: Any) -> list[Any]:
            if not isinstance(value, list) or isinstance(value, Members):
                raise Unreadable(f"{render(value, False)[:80]} is not an array")
            return [element(e) for e in value]

        return convert

    def _map(self, type: DataType) -> Cell:
        member = self.cell(map_members(type)[1])

        def convert(value: Any) -> list[tuple[str, Any]]:
            return list({_encodable(k): member(v) for k, v in _members(value)}.items())

        return convert

    def _nested(self, type: DataType) -> Cell:
        convert = self.row(type.fields)
        names = [f.name for f in type.fields]
        return lambda value: dict(zip(names, convert(value), strict=True))


def _members(value: Any) -> Members:
    if not isinstance(value, Members):
        raise Unreadable(f"{render(value, False)[:80]} is not an object")
    return value


def _at(name: str, cell: Cell, value: Any) -> Any:
    try:
        return cell(value)
    except ValueError as error:
        raise Unreadable(f"field '{name}': {error}") from None


def _scalar(value: Any) -> str:
    if isinstance(value, list):
        raise Unreadable(f"{render(value, False)[:80]} is not a single value")
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _boolean(value: Any) -> bool:
    """Never an error: whatever does not read `true` is false, as in Java's parseBoolean."""
    return not isinstance(value, list) and java.trimmed(_scalar(value)).lower() == "true"


def _small(value: Any, bits: int) -> int:
    return _ranged(java.integer(java.trimmed(_scalar(value))), bits)


def _whole(value: Any, bits: int) -> int:
    if not isinstance(value, Real):
        return _small(value, bits)
    number, limit = float(value), float(1 << bits - 1)
    if not -limit <= number <= float((1 << bits - 1) - 1):
        raise Unreadable(f"{value[:80]} is out of range")
    return min(int(number), (1 << bits - 1) - 1)


def _ranged(number: int, bits: int) -> int:
    if not -(1 << bits - 1) <= number < 1 << bits - 1:
        raise Unreadable(f"{str(number)[:80]} is out of range")
    return number


def _duration(value: Any) -> int:
    return _ranged(_whole(value, 64) * 1000, 64)


def _bytes(value: Any) -> bytes:
    if not isinstance(value, str) or isinstance(value, (Int, Real)):
        raise Unreadable(f"{render(value, False)[:80]} is not a base64 string")
    return java.from_base64(value)


def _encodable(text: str) -> str:
    """A lone surrogate, which only an escape can bring, becomes `?`, as Java writes it in UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text
