"""What decides the bytes of a message key: one row must have one key, for as long as its topic is compacted by it."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any

from rowkind.formats.contract import FormatChoice
from rowkind.formats.registry import format_named
from rowkind.types import Field, quote

_READING_ONLY = frozenset(
    {
        "ignore-parse-errors",
        "fail-on-missing-field",
        "decode.json-parser.enabled",
        "allow-comments",
        "trim-spaces",
        "ignore-trailing-unmappable",
        "allow-trailing-comma",
        "fail-on-missing-columns",
    }
)
"""What is done with keys that should not be there."""
_ACCESS = ("url", "ssl.", "basic-auth.", "bearer-auth.", "properties.")
"""How a schema registry is reached: it may move, and credentials belong into no checkpoint."""


def key_bytes(format: FormatChoice, columns: Iterable[Field]) -> str:
    """Columns of the key with their types in their order, its format, and the options that count.

    Names what a reader of an error can look for in the DDL, and is what two runs are compared by.
    """
    told = ", ".join(f"{quote(c.name)} {c.type}" for c in columns)
    options = _options(format)
    given = f" ({', '.join(f'{name} = {value!r}' for name, value in options.items())})" if options else ""
    return f"({told}) in {format.name}{given}"


def _options(choice: FormatChoice) -> dict[str, Any]:
    """Options that do not have their default; an option that is not known to be harmless counts."""
    found = {}
    for option in format_named(choice.name).options:
        value = choice.options.get(option.name)
        if option.secret or option.name in _READING_ONLY or option.name.startswith(_ACCESS):
            continue
        if value not in (None, option.default):
            found[option.name] = value.value if isinstance(value, Enum) else value
    return found
