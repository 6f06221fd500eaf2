"""Dates and times as text: the two timestamp standards of json, of which csv uses the SQL one.

Values are days, nanoseconds of the day and microseconds since the epoch, as Arrow holds them. Fractions are read up to
nine digits; what lies below a microsecond (below a millisecond for TIME) is cut.
"""

from __future__ import annotations

import re
from enum import StrEnum

DAY = 86_400_000_000
"""Microseconds."""
_DATE = r"([+-]?)([0-9]{4,9})-([0-9]{2})-([0-9]{2})"
_SECONDS = r":([0-9]{2})(?:\.([0-9]{0,9}))?"
_DATE_ONLY = re.compile(_DATE)
_TIME = re.compile(rf"([0-9]{{2}}):([0-9]{{2}}){_SECONDS}")
_SQL = re.compile(rf"{_DATE} ([0-9]{{2}}):([0-9]{{2}}){_SECONDS}(Z?)")
_ISO = re.compile(rf"{_DATE}([Tt])([0-9]{{2}}):([0-9]{{2}})(?:{_SECONDS})?(Z?)")
_MONTH_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class TimestampStandard(StrEnum):
    SQL = "SQL"
    ISO_8601 = "ISO-8601"


def timestamp_standard(value: str) -> TimestampStandard:
    """The value of `timestamp-format.standard`, which minds its case."""
    if value not in set(TimestampStandard):
        raise ValueError(
            f"Unsupported value '{value}' for timestamp-format.standard. Supported values are [SQL, ISO-8601]."
        )
    return TimestampStandard(value)


def days_from_civil(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 in the proleptic Gregorian calendar."""
    year -= month <= 2
    of_era = year % 400
    of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    return year // 400 * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def civil_from_days(days: int) -> tuple[int, int, int]:
    """Year, month and day of days since 1970-01-01."""
    days += 719_468
    of_era = days % 146_097
    year = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153
    day = of_year - (153 * month + 2) // 5 + 1
    month = month + 3 if month < 10 else month - 9
    return year + days // 146_097 * 400 + (month <= 2), month, day


def parse_date(text: str) -> int:
    """Days of `yyyy-MM-dd`."""
    match = _DATE_ONLY.fullmatch(text)
    if not match:
        raise ValueError(f"'{text}' is not a date such as 2020-12-30")
    return _bounded(_days(match.groups(), text, smart=False), 31, text)


def parse_time(text: str) -> int:
    """Nanoseconds of the day of `HH:mm:ss[.fff]`, cut to milliseconds."""
    match = _TIME.fullmatch(text)
    if not match:
        raise ValueError(f"'{text}' is not a time such as 12:13:14.123")
    return _micros(match.groups(), text, smart=True) % DAY // 1000 * 1_000_000


def parse_timestamp(text: str, standard: TimestampStandard, local_zone: bool) -> int:
    """Microseconds since the epoch of a TIMESTAMP, or with `local_zone` of a TIMESTAMP_LTZ, which ends in Z."""
    match = (_SQL if standard is TimestampStandard.SQL else _ISO).fullmatch(text)
    if not match or (match.groups()[-1] == "Z") != local_zone:
        raise ValueError(
            f"'{text}' is not a timestamp such as {render_timestamp(1609330394123000, standard, local_zone)}"
        )
    parts = match.groups()[:-1]
    if standard is TimestampStandard.SQL:
        return _bounded(_days(parts[:4], text, True) * DAY + _micros(parts[4:], text, True), 63, text)
    # Java's two ISO forms differ: the one with Z resolves leniently, but minds the case of its T.
    if local_zone and parts[4] == "t":
        raise ValueError(f"'{text}' must have an upper-case T")
    return _bounded(_days(parts[:4], text, local_zone) * DAY + _micros(parts[5:], text, local_zone), 63, text)


def _days(parts: tuple[str | None, ...], text: str, smart: bool) -> int:
    sign, digits, month, day = parts[0] or "", parts[1] or "", int(parts[2] or 0), int(parts[3] or 0)
    year = int(sign + digits)
    if (sign == "+") != (len(digits) > 4 and sign != "-") or (sign == "-" and year == 0):
        raise ValueError(f"'{text}': a year has four digits, and a + in front when it has more")
    if not 1 <= month <= 12 or not 1 <= day <= 31:
        raise ValueError(f"'{text}' is not a date in the calendar")
    length = 29 if month == 2 and year % 4 == 0 and (year % 100 or year % 400 == 0) else _MONTH_LENGTHS[month - 1]
    if day > length and not smart:
        raise ValueError(f"'{text}' is not a date in the calendar")
    return days_from_civil(year, month, min(day, length))


def _micros(parts: tuple[str | None, ...], text: str, smart: bool) -> int:
    hour, minute, second = (int(part or 0) for part in parts[:3])
    fraction = (parts[3] or "").ljust(9, "0")
    midnight = smart and hour == 24 and minute == second == int(fraction) == 0
    if (hour > 23 and not midnight) or minute > 59 or second > 59:
        raise ValueError(f"'{text}' is not a time of day")
    return ((hour * 60 + minute) * 60 + second) * 1_000_000 + int(fraction[:6])


def _bounded(value: int, bits: int, text: str) -> int:
    if not -(1 << bits) <= value < 1 << bits:
        raise ValueError(f"'{text}' lies outside of what a column can hold")
    return value


def render_date(days: int) -> str:
    """
    >>> render_date(-719529), render_date(2932897)
    ('-0001-12-31', '+10000-01-01')
    """
    year, month, day = civil_from_days(days)
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    return f"{sign}{abs(year):04d}-{month:02d}-{day:02d}"


def render_time(nanos: int) -> str:
    """
    >>> render_time(43_932_120_999_999)
    '12:12:12.12'
    """
    return _clock(nanos // 1_000_000 * 1000)


def render_timestamp(micros: int, standard: TimestampStandard, local_zone: bool) -> str:
    """
    >>> render_timestamp(1609330394120000, TimestampStandard.ISO_8601, True)
    '2020-12-30T12:13:14.12Z'
    """
    separator = " " if standard is TimestampStandard.SQL else "T"
    return f"{render_date(micros // DAY)}{separator}{_clock(micros % DAY)}{'Z' if local_zone else ''}"


def _clock(micros: int) -> str:
    seconds, fraction = divmod(micros, 1_000_000)
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{clock}.{fraction:06d}".rstrip("0") if fraction else clock
