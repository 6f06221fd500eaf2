"""Options as declarations: name, type, default and description in one object.

Parsing, validation, documentation and error messages all come from it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import Any, Generic, TypeVar

import yaml

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Option(Generic[T]):
    """One option. `parse` turns the text of the DDL into a value or raises ValueError with the reason."""

    name: str
    parse: Callable[[str], T]
    kind: str
    default: T | None
    description: str
    fallbacks: tuple[str, ...] = ()
    supported: bool = True
    """False: declared, but refused as not yet supported when it is used."""
    secret: bool = False
    later: tuple[T, ...] = ()
    """Values that are refused as not yet supported, while the option itself works."""
    required: str = "no"
    """Whether it has to be given, as the list of options says it: `yes`, `no`, or when."""
    unset: str = ""
    """What counts when it is not given and there is no default value, in words."""

    @property
    def prefix(self) -> str | None:
        """What every key starts with, if this declares a family such as `properties.*`."""
        return self.name[:-1] if self.name.endswith("*") else None


def text(value: str) -> str:
    return value


def boolean(value: str) -> bool:
    match value.strip().lower():
        case "true":
            return True
        case "false":
            return False
    raise ValueError(f"Unrecognized option for boolean: {value}. Expected either true or false(case insensitive)")


def integer(value: str) -> int:
    if not re.fullmatch(r"\s*[+-]?\d+\s*", value):
        raise ValueError(f"'{value}' is not a whole number")
    return int(value)


def positive(value: str) -> int:
    number = integer(value)
    if number < 1:
        raise ValueError(f"'{value}' is not a number above 0")
    return number


_UNITS = {
    "": 0.001,
    **dict.fromkeys(("d", "day", "days"), 86400.0),
    **dict.fromkeys(("h", "hour", "hours"), 3600.0),
    **dict.fromkeys(("m", "min", "minute", "minutes"), 60.0),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("ms", "milli", "millis", "millisecond", "milliseconds"), 0.001),
    **dict.fromkeys(("us", "µs", "micro", "micros", "microsecond", "microseconds"), 1e-6),
    **dict.fromkeys(("ns", "nano", "nanos", "nanosecond", "nanoseconds"), 1e-9),
}


def duration(value: str) -> timedelta:
    """A number and a unit; a bare number is milliseconds."""
    match = re.fullmatch(r"\s*(-?\d+)\s*([a-zµ]*)\s*", value.lower())
    if not match or match[2] not in _UNITS:
        raise ValueError(f"'{value}' is not a duration such as '100 ms', '1s' or '5 min'")
    return timedelta(seconds=int(match[1]) * _UNITS[match[2]])


def strings(value: str) -> tuple[str, ...]:
    """A list split on `;`, or a YAML list; a token may be quoted with ' or " to hold a `;`."""
    if value.strip().startswith("[") and value.strip().endswith("]"):
        return _yaml_list(value)
    tokens = re.findall(r"""\s*("(?:[^"]|"")*"|'(?:[^']|'')*'|[^;]*?)\s*(?:;|$)""", value)
    return tuple(t for t in (_unquote(t) for t in tokens) if t)


def _yaml_list(value: str) -> tuple[str, ...]:
    """Every item as the text that was written, without YAML's guesses at its type."""
    try:
        items = yaml.load(value, Loader=yaml.BaseLoader)
    except yaml.YAMLError:
        raise ValueError(f"'{value}' is not a list") from None
    if not all(isinstance(item, str) for item in items):
        raise ValueError(f"'{value}' is not a list of texts")
    return tuple(items)


def _unquote(token: str) -> str:
    if len(token) >= 2 and token[0] == token[-1] and token[0] in "'\"":
        return token[1:-1].replace(token[0] * 2, token[0])
    return token


def choice(kind: type[Enum]) -> Callable[[str], Any]:
    """One of an enum's values, in any case."""

    def parse(value: str) -> Any:
        for member in kind:
            if str(member.value).lower() == value.strip().lower():
                return member
        raise ValueError(f"'{value}' is none of {', '.join(str(m.value) for m in kind)}")

    return parse
