"""`csv`: one record a message, without header and without line end."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rowkind.errors import RowkindError
from rowkind.formats.contract import Decoder, Encoder, FormatChoice
from rowkind.kinds import ChangelogMode
from rowkind.options.declarations import Option, boolean, text
from rowkind.types import BINARIES, CHARACTERS, NUMERICS, TIMESTAMPS, DataType, Field, Root

OPTIONS: tuple[Option[Any], ...] = (
    Option("field-delimiter", text, "string", ",", "One character between fields; Java escapes such as \\t are read."),
    Option("disable-quote-character", boolean, "boolean", False, "Never quote, neither reading nor writing."),
    Option("quote-character", text, "string", None, 'One character around quoted fields; `"` when not given.'),
    Option("allow-comments", boolean, "boolean", False, "Reading: skip lines that start with #."),
    Option("ignore-parse-errors", boolean, "boolean", False, "Reading: a bad field is NULL, a bad row is dropped."),
    Option("array-element-delimiter", text, "string", ";", "One character between the elements of an ARRAY or ROW."),
    Option("escape-character", text, "string", None, "One character that takes the meaning from the next one."),
    Option("null-literal", text, "string", None, "The text that stands for NULL."),
    Option(
        "write-bigdecimal-in-scientific-notation",
        boolean,
        "boolean",
        False,
        "Writing: DECIMAL without trailing zeros and with an exponent where that is shorter. "
        "Flink documents true as the default, but behaves as false.",
    ),
    Option("trim-spaces", boolean, "boolean", False, "Reading: drop blanks around unquoted fields."),
    Option("ignore-trailing-unmappable", boolean, "boolean", False, "Reading: ignore fields after the last column."),
    Option("allow-trailing-comma", boolean, "boolean", True, "Reading: one blank field after the last column is fine."),
    Option(
        "fail-on-missing-columns", boolean, "boolean", False, "Reading: a short row is bad, also when ignoring errors."
    ),
    Option("empty-string-as-null", boolean, "boolean", False, "Reading: an empty field is NULL."),
)

_SIMPLE = CHARACTERS | BINARIES | NUMERICS | TIMESTAMPS | {Root.DATE, Root.TIME, Root.BOOLEAN, Root.NULL}


class CsvFormat:
    """The `csv` format."""

    name = "csv"
    options = OPTIONS
    changelog = ChangelogMode.INSERT_ONLY
    metadata: Mapping[str, DataType] = {}

    def validate(self, columns: Sequence[Field], choice: FormatChoice) -> None:
        Dialect.of(choice)
        for column in columns:
            _check(column, choice.context.table)

    def decoder(self, columns: Sequence[Field], metadata: Sequence[str], choice: FormatChoice) -> Decoder:
        from rowkind.formats.csv.decode import CsvDecoder

        return CsvDecoder(tuple(columns), Dialect.of(choice))

    def encoder(self, columns: Sequence[Field], choice: FormatChoice) -> Encoder:
        from rowkind.formats.csv.encode import CsvEncoder

        return CsvEncoder(tuple(columns), Dialect.of(choice))


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


def _check(column: Field, table: str) -> None:
    match column.type.root:
        case Root.ARRAY:
            assert column.type.element
            members = [column.type.element]
        case Root.ROW:
            members = [f.type for f in column.type.fields]
        case _:
            members = []
            if column.type.root not in _SIMPLE:
                raise RowkindError("CSV_UNSUPPORTED_TYPE", table=table, column=column.name, type=column.type)
    for member in members:
        if member.root not in _SIMPLE:
            raise RowkindError("CSV_NESTED_TOO_DEEP", table=table, column=column.name, type=member)
    for type in (column.type, *members):
        if type.root is Root.TIME and (type.precision or 0) > 3:
            raise RowkindError("CSV_TIME_PRECISION", table=table, column=column.name, precision=type.precision)
