"""`csv`: one record a message, without header and without line end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rowkind.errors import RowkindError
from rowkind.formats.contract import Decoder, Encoder, FormatChoice
from rowkind.formats.csv.csv_dialect import Dialect
from rowkind.formats.csv.decode import CsvDecoder
from rowkind.formats.csv.encode import CsvEncoder
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
        return CsvDecoder(tuple(columns), Dialect.of(choice))

    def encoder(self, columns: Sequence[Field], choice: FormatChoice) -> Encoder:
        return CsvEncoder(tuple(columns), Dialect.of(choice))


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
