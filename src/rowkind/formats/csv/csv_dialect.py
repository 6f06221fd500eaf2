"""What separates, quotes and escapes the fields of csv messages: the options of a table, read."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from rowkind.errors import RowkindError
from rowkind.formats.contract import FormatChoice


@dataclass(frozen=True, slots=True)
class Dialect:
    """The options, read."""

    delimiter: str = ","
    quote: str | None = '"'
    escape: str | None = None
    elements: str = ";"
    null: str | None = None
    comments: bool = False
    ignore_errors: bool = False
    scientific: bool = False
    trim: bool = False
    ignore_trailing: bool = False
    trailing_comma: bool = True
    fail_on_missing: bool = False
    empty_as_null: bool = False

    @classmethod
    def of(cls, choice: FormatChoice) -> Dialect:
        given = choice.options
        if given.get("disable-quote-character") and given.get("quote-character") is not None:
            raise RowkindError("CSV_QUOTE_DISABLED_AND_GIVEN", table=choice.context.table)
        quote = _character(choice, "quote-character") or '"'
        return cls(
            delimiter=_character(choice, "field-delimiter") or ",",
            quote=None if given.get("disable-quote-character") else quote,
            escape=_character(choice, "escape-character"),
            elements=_character(choice, "array-element-delimiter") or ";",
            null=given.get("null-literal"),
            comments=bool(given.get("allow-comments")),
            ignore_errors=bool(given.get("ignore-parse-errors")),
            scientific=bool(given.get("write-bigdecimal-in-scientific-notation")),
            trim=bool(given.get("trim-spaces")),
            ignore_trailing=bool(given.get("ignore-trailing-unmappable")),
            trailing_comma=given.get("allow-trailing-comma") is not False,
            fail_on_missing=bool(given.get("fail-on-missing-columns")),
            empty_as_null=bool(given.get("empty-string-as-null")),
        )

    def is_null(self, value: str) -> bool:
        return value == self.null or (self.empty_as_null and not value)


def _character(choice: FormatChoice, option: str) -> str | None:
    value = choice.options.get(option)
    if value is None:
        return None
    character = unescaped(value) if option == "field-delimiter" else value
    if len(character) != 1 or character > "\uffff":
        raise RowkindError("CSV_NOT_ONE_CHARACTER", table=choice.context.table, option=option, value=value)
    return str(character)


def unescaped(value: str) -> str:
    """Java's escapes read.

    >>> unescaped("\\\\t"), unescaped("\\\\u0001"), unescaped("|")
    ('\\t', '\\x01', '|')
    """
    return re.sub(
        r"\\(u+[0-9a-fA-F]{4}|[0-3]?[0-7]{1,2}|.)",
        lambda m: (
            codecs.decode("\\" + re.sub("^u+", "u", m[1]), "unicode_escape") if m[1][0] in "u01234567btnfr" else m[1]
        ),
        value,
    )
