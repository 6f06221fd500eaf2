"""Texts read as points in time by a literal pattern, as Java's two kinds of formats do it.

Flink has both: `SimpleDateFormat`, which is lenient (fields overflow into the next, what follows is left unread) in
UNIX_TIMESTAMP and TO_DATE, and `DateTimeFormatter`, which is not, in TO_TIMESTAMP. Spark has one that is stricter than
either, so a pattern becomes a regular expression, and its groups become a TIMESTAMP_NTZ.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rowkind.plan.expressions.clock import CLOCK
from rowkind.plan.expressions.typed import once, text

_TOKEN = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|.", re.DOTALL)
_FIELDS = "yMdHmsS"
_SQL_TIMESTAMP = r"^\s*([0-9]{4})-([0-9]{1,2})-([0-9]{1,2}) +([0-9]+):([0-9]+):([0-9]+)(?:\.([0-9]{1,9}))?\s*\z"
_SQL_DATE = r"^\s*([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})\s*\z"


_DEFAULTS = {"y": "1970", "M": "1", "d": "1", "H": "0", "m": "0", "s": "0"}


@dataclass(frozen=True, slots=True)
class Part:
    """A field with its number of letters, or a text between fields."""

    letter: str
    count: int
    text: str = ""


def parts_of(pattern: str) -> list[Part] | None:
    """A pattern of numbers in parts; None where it has other letters than those of numbers.

    >>> [p.letter or p.text for p in parts_of("yyyy-MM''dd") or []]
    ['y', '-', 'M', "'", 'd']
    """
    parts: list[Part] = []
    for match in _TOKEN.finditer(pattern):
        letter = match[2]
        if letter is None:
            between = "'" if match[0] == "''" else (match[1].replace("''", "'") if match[1] else match[0])
            parts.append(Part("", 0, between))
        elif letter not in _FIELDS or (letter == "M" and len(match[0]) > 2) or letter in (p.letter for p in parts):
            return None
        else:
            parts.append(Part(letter, len(match[0])))
    return parts


def lenient(value: str, parts: list[Part]) -> str:
    """As SimpleDateFormat: numbers of any length, spaces before them, and anything after the last."""
    regex = "^"
    for position, part in enumerate(parts):
        following = parts[position + 1] if position + 1 < len(parts) else None
        if not part.letter:
            regex += re.escape(part.text)
        elif following and following.letter:
            n = part.count
            regex += rf"[ \t]*(?=.{{{n}}})(-[0-9]{{1,{max(n - 1, 1)}}}|[0-9]{{1,{n}}})"
        else:
            regex += r"[ \t]*(-?[0-9]+)"
    counts = {part.letter: part.count for part in parts}
    year = _of_century if counts.get("y", 4) <= 2 else None
    return _read(value, regex + "(?s:.*)", parts, lambda fields: _moment(fields, year=year, digits=3))


def _of_century(text: str, year: str) -> str:
    """Two digits are a year between 80 years before the batch and 20 years after it."""
    oldest = f"(year(timestamp_micros({CLOCK})) - 80)"
    return f"IF(length({text}) = 2, {oldest} + pmod({year} - {oldest}, 100), {year})"


def strict(value: str, parts: list[Part]) -> str:
    """As DateTimeFormatter; where the text does not fit, as Timestamp.valueOf and Date.valueOf of Java's SQL."""
    regex = "^" + "".join(re.escape(p.text) if not p.letter else _strict_field(p) for p in parts) + r"\z"
    counts = {part.letter: part.count for part in parts}
    year = (lambda _, year: f"(2000 + {year})") if counts.get("y") == 2 else None
    exact = _read(
        value, regex, parts, lambda fields: _moment(fields, year=year, digits=counts.get("S", 0), ranges=_RANGES)
    )
    return f"coalesce({exact}, {by_java_sql(value)})"


_RANGES = {"M": (1, 12), "d": (1, 31), "H": (0, 23), "m": (0, 59), "s": (0, 59)}


def _strict_field(part: Part) -> str:
    """`MM` is two digits, `M` as many as there are; `yyyy` four."""
    return rf"([0-9]{{{part.count}}})" if part.letter == "S" or part.count > 1 else "([0-9]{1,6})"


def by_java_sql(value: str) -> str:
    """`2024-1-5` and `2024-1-5 1:2:3.5`; the fields of the clock may overflow."""
    names = [Part(letter, 1) for letter in _FIELDS]
    ranges = {"M": (1, 12), "d": (1, 31)}
    moment = _read(value, _SQL_TIMESTAMP, names, lambda fields: _moment(fields, ranges=ranges, overflows=True))
    date = _read(value, _SQL_DATE, names[:3], lambda fields: _moment(fields, ranges=ranges, overflows=True))
    return f"coalesce({moment}, {date})"


def _read(value: str, regex: str, parts: list[Part], use: Callable[[dict[str, str]], str]) -> str:
    """What is made of the groups of a text that fits, by their letters; NULL for any other."""
    letters = [part.letter for part in parts if part.letter]
    groups = ",".join(f"${number}" for number in range(1, len(letters) + 1))
    fields = f"split(regexp_replace({value}, {text(regex)}, {text(groups)}), ',')"
    known = f"IF({value} RLIKE {text(regex)}, {fields}, NULL)"
    return once(known, lambda found: use({letter: f"get({found}, {i})" for i, letter in enumerate(letters)}))


def _moment(
    fields: dict[str, str],
    *,
    year: Callable[[str, str], str] | None = None,
    digits: int | None = None,
    ranges: Mapping[str, tuple[int, int]] | None = None,
    overflows: bool = False,
) -> str:
    """The fields as a TIMESTAMP_NTZ, NULL where one is out of its range or the year has more than four digits.

    `digits` are those of the fraction, None for as many as there are. With ranges, and unless it overflows, a day after
    the last of the month is the last.
    """
    numbers = {
        letter: f"TRY_CAST({fields[letter]} AS INT)" if letter in fields else default
        for letter, default in _DEFAULTS.items()
    }
    if year is not None:
        numbers["y"] = year(fields["y"], numbers["y"])
    bounds = {"y": (1, 9999), **(ranges or {})}
    checks = [f"{numbers[f]} >= {low} AND {numbers[f]} <= {high}" for f, (low, high) in bounds.items() if f in fields]
    checks += [f"abs({numbers[f]}) < 1000000" for f in fields if f not in bounds and f != "S"]
    start = "(make_timestamp_ntz({y}, 1, 1, 0, 0, 0) + make_ym_interval(0, {M} - 1))".format(**numbers)
    days = f"{numbers['d']} - 1"
    if ranges and not overflows:
        days = f"least({days}, day(last_day(CAST({start} AS DATE))) - 1)"
    seconds = f"{numbers['s']} + {_fraction(fields.get('S'), digits)}"
    moved = f"{start} + make_dt_interval({days}, {numbers['H']}, {numbers['m']}, {seconds})"
    return f"CASE WHEN {' AND '.join(checks) or 'TRUE'} THEN {moved} END"


def _fraction(field: str | None, digits: int | None) -> str:
    if field is None or digits == 0:
        return "0.0BD"
    if digits is None:
        return f"CAST(TRY_CAST(rpad({field}, 9, '0') AS BIGINT) / 1000000000BD AS DECIMAL(18, 6))"
    return f"CAST(TRY_CAST({field} AS BIGINT) / 1{'0' * digits}BD AS DECIMAL(18, 6))"
