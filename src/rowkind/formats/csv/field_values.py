"""One csv field to one value, as Flink's converters read it: the exact way.

Dates, times and timestamps are the whole numbers that Arrow holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from rowkind.formats.csv.csv_dialect import Dialect
from rowkind.formats.temporal import TimestampStandard, days_from_civil, parse_timestamp
from rowkind.formats.text import double, fit_decimal, from_base64, integer, parse_decimal, single, trimmed
from rowkind.types import DataType, Field, Root

Reader = Callable[[str], Any]
_RANGES = {Root.TINYINT: 7, Root.SMALLINT: 15, Root.INT: 31, Root.BIGINT: 63}
_DATE = re.compile(r"([+0-9][0-9]{3})-([+0-9]?[0-9])-([+0-9]?[0-9])")
_TIME = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9])(?:\.([0-9]{0,9}))?)?")


class FieldReader:
    """Reads the fields of one record into values; counts what it had to ignore."""

    def __init__(self, columns: tuple[Field, ...], dialect: Dialect) -> None:
        self.dialect = dialect
        self.columns = columns
        self.readers = [self._reader(c.type) for c in columns]
        self.ignored = 0

    def read(self, fields: list[str]) -> list[Any]:
        """Raises ValueError that names the column; missing fields are NULL."""
        values: list[Any] = []
        for column, reader, field in zip(self.columns, self.readers, fields, strict=False):
            try:
                values.append(reader(field))
            except ValueError as e:
                raise ValueError(f"Fail to deserialize at field: {column.name}: {e}") from None
        missing = len(self.columns) - len(values)
        self.ignored += missing > 0
        return values + [None] * missing

    def _reader(self, type: DataType) -> Reader:
        match type.root:
            case Root.ARRAY:
                assert type.element
                return self._array(self._element(type.element))
            case Root.ROW:
                return self._row(type)
            case _:
                return self._element(type)

    def _element(self, type: DataType) -> Reader:
        convert = scalar(type)
        is_null = self.dialect.is_null

        def read(field: str) -> Any:
            if is_null(field):
                return None
            try:
                return convert(field)
            except ValueError:
                if not self.dialect.ignore_errors:
                    raise
                self.ignored += 1
                return None

        return read

    def _parts(self, field: str) -> list[str]:
        parts = field.split(self.dialect.elements)
        if len(parts) == 1 and not trimmed(field):
            return []
        return [trimmed(p) for p in parts] if self.dialect.trim else parts

    def _array(self, element: Reader) -> Reader:
        return lambda field: [element(part) for part in self._parts(field)]

    def _row(self, type: DataType) -> Reader:
        names = [f.name for f in type.fields]
        readers = [self._element(f.type) for f in type.fields]

        def read(field: str) -> dict[str, Any] | None:
            parts = self._parts(field)
            if not parts:
                return None
            if len(parts) < len(names):
                if not self.dialect.ignore_errors:
                    raise ValueError(f"Row length mismatch. {len(names)} fields expected but was {len(parts)}.")
                self.ignored += 1
            values = [reader(part) for reader, part in zip(readers, parts, strict=False)]
            return dict(zip(names, values + [None] * (len(names) - len(values)), strict=True))

        return read


def scalar(type: DataType) -> Reader:
    """The conversion of one text that is not NULL."""
    match type.root:
        case Root.CHAR | Root.VARCHAR:
            return str
        case Root.BOOLEAN:
            return lambda text: trimmed(text).lower() == "true"
        case Root.BINARY | Root.VARBINARY:
            return from_base64
        case Root.FLOAT:
            return lambda text: single(trimmed(text))
        case Root.DOUBLE:
            return lambda text: double(trimmed(text))
        case Root.DECIMAL:
            precision, scale = type.precision or 0, type.scale or 0
            return lambda text: fit_decimal(parse_decimal(text), precision, scale)
        case Root.DATE:
            return sql_date
        case Root.TIME:
            return lambda text: local_time(text, type.precision or 0)
        case Root.TIMESTAMP | Root.TIMESTAMP_LTZ:
            zone = type.root is Root.TIMESTAMP_LTZ
            return lambda text: parse_timestamp(trimmed(text), TimestampStandard.SQL, zone)
        case Root.NULL:
            return lambda text: None
        case _:
            return lambda text: _whole(trimmed(text), _RANGES[type.root])


def _whole(text: str, bits: int) -> int:
    value = integer(text)
    if not -(1 << bits) <= value < 1 << bits:
        raise ValueError(f"'{text}' is out of range")
    return value


def sql_date(text: str) -> int:
    """Days of java.sql.Date.valueOf: short months and days are fine, and the 30th of February is in March.

    >>> sql_date("1970-1-2"), sql_date("1970-02-30")
    (1, 60)
    """
    match = _DATE.fullmatch(text)
    year, month, day = (int(part) for part in match.groups()) if match else (0, 0, 0)
    if not 1 <= month <= 12 or not 1 <= day <= 31:
        raise ValueError(f"'{text}' is not a date such as 2020-12-30")
    # java.sql.Date counts in the Julian calendar before October 1582: a leap day in every century.
    julian_leap = year < 1582 and year % 100 == 0 and year % 400 != 0 and month == 2
    if julian_leap and day == 29:
        raise ValueError(f"'{text}' is not a date in the calendar")
    if (year, month) == (1582, 10) and 5 <= day <= 14:
        return days_from_civil(year, month, day + 10)
    following = days_from_civil(year + month // 12, month % 12 + 1, 1)
    rolled = days_from_civil(year, month, 1) + day - 1
    return rolled - 1 if julian_leap and rolled > following else rolled


def local_time(text: str, precision: int) -> int:
    """Nanoseconds of LocalTime.parse, cut to the column's digits."""
    match = _TIME.fullmatch(text)
    if not match:
        raise ValueError(f"'{text}' is not a time such as 12:13:14.123")
    hour, minute, second = (int(part or 0) for part in match.groups()[:3])
    nanos = ((hour * 60 + minute) * 60 + second) * 1_000_000_000 + int((match[4] or "").ljust(9, "0"))
    unit: int = 10 ** (9 - min(precision, 3))
    return nanos // unit * unit
