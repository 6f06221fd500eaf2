"""Where formats read or write otherwise than Flink's, and why: for the pages of the formats and for the tests."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ALL_JSON = ("json", "debezium-json", "canal-json", "maxwell-json", "ogg-json")


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs, in words; where messages show it, also as patterns.

    `types` and `token` say for which column and JSON value, `here` and `flink` what becomes of its row with
    ignore-parse-errors: the value as text, `NULL`, `…, rest lost` where the columns after it are NULL, or `no row`.
    """

    formats: tuple[str, ...]
    words: str
    types: str = ""
    token: str = ""
    here: str = ""
    flink: str = ""

    def covers(self, form: str, type: str, token: str, here: str, flink: str) -> bool:
        patterns = ((self.types, type), (self.token, token), (self.here, here), (self.flink, flink))
        return form in self.formats and all(p and re.fullmatch(p, text, re.DOTALL) for p, text in patterns)


DIFFERENCES: tuple[Difference, ...] = (
    Difference(
        ("canal-json",),
        "Whether a column changed is looked up in the row's own entry of `old`. Flink looks through all of `old`, so "
        "in an update of several rows a column that changed in one of them becomes NULL in the `-U` of the others.",
    ),
    Difference(
        ("csv",),
        "`write-bigdecimal-in-scientific-notation` is documented as true there and works as false; here it is false.",
    ),
    Difference(
        ("csv",),
        "The reading options that Flink has since 2.3 (`trim-spaces`, `ignore-trailing-unmappable`, …) are there.",
    ),
    Difference(
        ("debezium-json",),
        "`source.collection` is read as the table of MongoDB events, as Flink's documentation says and its code does "
        "not.",
    ),
    Difference(
        ("debezium-json",),
        "An event whose image is missing or whose metadata cannot be read gives no row at all.",
    ),
    Difference(
        ("maxwell-json",),
        "A column counts as changed when `old` itself names it. Flink also finds the name inside nested objects of "
        "`old`.",
    ),
    Difference(
        ("ogg-json",),
        "Both timestamps are read with a blank or a T, whatever `timestamp-format.standard` says, which is about the "
        "columns.",
    ),
    Difference(
        ("json", "csv"),
        "FLOAT and DOUBLE are written with the fewest digits that read as the same number, whichever Java there is. "
        "Flink on Java 17 and older writes a digit more of some, such as `2.14748365E9` for `2.1474836E9`.",
    ),
    Difference(
        ("json",),
        "An object or an array in place of a simple value is NULL with `ignore-parse-errors`, and the rest of the row "
        "stays. Flink goes on inside of it, and loses the columns after it or the whole row.",
        types=r"[A-Z]+(\(.*\))?|(ARRAY|ROW)<.*>",
        token=r"[\[{].*",
        here=r".*",
        flink=r".*, rest lost|no row",
    ),
    Difference(
        ("json",),
        "BYTES that are not base64 are NULL with `ignore-parse-errors`. Flink loses the row.",
        types="BYTES",
        token='".*"',
        here="NULL",
        flink="no row",
    ),
    Difference(
        ("json",),
        'A text with half an escape (`"\\u12"`) is not JSON: with `ignore-parse-errors` the message gives no row, and '
        "is counted. Flink has NULL for the text.",
        types=".*",
        token=r'"\\u12"',
        here="no row",
        flink="NULL.*",
    ),
)
