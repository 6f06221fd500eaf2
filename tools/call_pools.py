"""Values that look for trouble, as Flink SQL: what generated calls are made of.

A pool is named after what its values are for. Each value is a literal or a cast of one; a call may have it as it is, or
as a column of the pool's type.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pool:
    """Values of one SQL type."""

    type: str
    values: tuple[str, ...]


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _texts(*values: str, type: str = "STRING") -> Pool:
    return Pool(type, (f"CAST(NULL AS {type})", *map(quoted, values)))


def _of(type: str, *values: str) -> Pool:
    """Values cast from texts."""
    return Pool(type, (f"CAST(NULL AS {type})", *(f"CAST('{value}' AS {type})" for value in values)))


_DAYS = ("1970-01-01", "2024-02-29", "2023-12-31", "1969-12-31", "1582-10-04", "0001-01-01", "9999-12-31", "2024-03-31")
_MOMENTS = (
    "1970-01-01 00:00:00",
    "2024-02-29 23:59:59.999999",
    "2024-03-31 02:30:00",
    "2024-10-27 02:30:00.5",
    "1969-12-31 23:59:59.999",
    "1900-01-01 00:00:00",
    "9999-12-31 23:59:59.999",
    "2023-12-31 12:34:56.789",
    "2024-01-31 10:00:00",
)

TEXT = _texts(
    "", " ", "abc", "Hello World", "  both  ", "a,b,,c", "aXbXc", "e\u0301t\u00e9", "\u00df", "\U0001f600a\U0001f600",
    "x" * 70, "\t7\n", "it's", "100%_\\", "12", "-3.5", "NaN", "true", "2024-02-30", "a b c", "ABC", "\u0130", "null",
)  # fmt: skip
SHORT = _texts("", " ", "a", "b", "ab", ",", "X", "%", "\u00e9", "\U0001f600", "l", "xyz", "|", ".")
NUMBER_TEXT = _texts(
    "0", "-0", "12", "-3.5", ".5", "5.", "1e3", "1E-2", " 7 ", "\t7\n", "+1", "1L", "00012", "", "abc", "NaN",
    "Infinity", "-inf", "2147483647", "2147483648", "9223372036854775808", "1_000", "0x1F", "1.0000000001", "1e400",
    "0.05", "9.995", "--1", "1d", "1f", "12345678901234567890.123",
)  # fmt: skip
TIME_TEXT = _texts(
    "2024-01-05", "2024-1-5", "2024-01-05 10:00:00", "2024-01-05 10:00:00.5", "2024-01-05T10:00:03", "2023-02-29",
    "2024-02-30 00:00:00", "2024-13-01", "garbage", "", "2024", "2024-02", "10:11:12", "1:2:3", "25:00:00",
    "10:11", "10:11:12.123456789", "9999-12-31 23:59:59.999", "1969-12-31 23:59:59", "0001-01-01", "now", "epoch",
    "2024-03-31 02:30:00", "05/06/69", "20240105", " 2024-01-05 ", "2024-01-05 24:00:00", "2024-01-05 10:00:00Z",
)  # fmt: skip
BOOLEAN_TEXT = _texts("true", "FALSE", "T", "f", "yes", "n", "1", "0", "", " true ", "on", "maybe")
REGEX = _texts(
    "a", "[a-z]+", "(a)(b)?", "x*", "([", "(?i)HELLO", "\\d+", "^$", "", "(.)(.)", "l+", "\\s", "(?<n>b)", "a|b", ".*",
    "[0-9]+", "\\bW", "b(?=c)",
)  # fmt: skip
JSON = _texts(
    '{"a": 1}', '{"a": {"b": [1, 2, {"c": null}]}, "b": "x"}', "[]", "{}", "[1, [2, 3], null]", '{"a": null}', "",
    '{"a": 1, "a": 2}', "{'a': 1}", "not json", '"text"', "12", "1.50", "true", "null", '{"a": 1e20, "b": 0.1}',
    '{"a": "\u00e9\\u0041\\n"}', '{"a": [1,2,3]', ' {"a" : 1 } ', '{"a": {"b": {"c": "deep"}}}', '[{"a": 1}, {"a": 2}]',
)  # fmt: skip
JSON_PATH = (
    "$", "$.a", "$.b", "$.a.b", "lax $.a", "strict $.a", "lax $.b.c", "strict $.b", "$.a[0]", "$[0]", "$[1][0]",
    "$.a.b[2].c", "$[*]", "$[*].a", "$.*", "$['a']", "lax $[0].a", "$.a.b.c", "$[-1]", "$[0:2]",
)  # fmt: skip
URL = _texts(
    "http://user:pw@host:80/p/a?k=v&q=1&k=2#frag", "https://example.com", "http://h/a b", "ftp://x/y;z", "no url", "",
    "http://[::1]/", "//h/p?q", "mailto:a@b.c", "http://h?k=%20v",
)  # fmt: skip
URL_TEXT = _texts("a b", "a%20b", "%", "%zz", "a+b", "\u00e9", "%C3%A9", "", "~-_.*", "\U0001f600")
BASE64 = _texts("", "YWJj", "YQ==", "YQ", "????", "w6k=", "YW Jj", "/+8=")
HEX_TEXT = _texts("", "41", "4", "zz", "C3A9", "c3a9ff", "0x41", "4 1")
CHARSET = _texts("UTF-8", "US-ASCII", "ISO-8859-1", "UTF-16", "utf-16le", "no-such", "")
ZONE = _texts("UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "GMT+05:30", "No/Such", "", "PST")
FORMAT = _texts(
    "yyyy-MM-dd HH:mm:ss",
    "yyyy-MM-dd",
    "yyyy-MM-dd HH:mm:ss.SSS",
    "dd/MM/yy",
    "yyyyMMdd",
    "HH:mm",
    "yyyy-MM-dd'T'HH:mm:ss",
)
PRINT_FORMAT = _texts("%s", "%d", "%5s|", "%-5d|", "%05d", "%x", "%%", "plain", "%", "%s %s", "%.2f", "%b", "%c", "%,d")
TINYINT = _of("TINYINT", "0", "1", "-1", "127", "-128", "7")
SMALLINT = _of("SMALLINT", "0", "1", "-1", "32767", "-32768", "300")
INT = _of("INT", "0", "1", "-1", "2", "3", "-5", "10", "42", "2147483647", "-2147483648")
SMALL = _of("INT", "0", "1", "-1", "2", "3", "-5", "10", "100")
BIGINT = _of("BIGINT", "0", "1", "-1", "7", "1704067203", "5000000000", "9223372036854775807", "-9223372036854775808")
FLOAT = _of(
    "FLOAT", "0", "-0.0", "1.5", "-2.25", "3.4028235E38", "1.4E-45", "NaN", "Infinity", "-Infinity", "0.1", "1e10"
)
DOUBLE = _of(
    "DOUBLE", "0", "-0.0", "0.5", "-2.5", "1e23", "1.7976931348623157E308", "4.9E-324", "NaN", "Infinity", "-Infinity",
    "0.1", "12345678", "1e-7", "123456789.123456789", "2e15",
)  # fmt: skip
DECIMAL = _of("DECIMAL(10, 2)", "0", "1.25", "-1.25", "0.05", "12345678.99", "-99999999.99", "2.50")
LARGE = _of("DECIMAL(38, 10)", "0", "1.0000000001", "9999999999999999999999999999.9999999999", "-123456789012.5")
DIGITS = _of("DECIMAL(38, 0)", "1", "-7", "99999999999999999999999999999999999999", "12345678901234567890")
FRACTION = _of("DECIMAL(20, 18)", "0.000000000000000001", "-12.5", "99.999999999999999999")
BOOLEAN = Pool("BOOLEAN", ("TRUE", "FALSE", "CAST(NULL AS BOOLEAN)"))
BYTES = Pool("BYTES", ("X''", "X'00'", "X'616263'", "X'C3A9'", "X'FF00FE'", "CAST(NULL AS BYTES)"))
DATE = _of("DATE", *_DAYS)
TIME = _of("TIME(0)", "00:00:00", "23:59:59", "12:34:56", "01:02:03")
TIMESTAMP = _of("TIMESTAMP(3)", *_MOMENTS)
TIMESTAMP_6 = _of("TIMESTAMP(6)", *_MOMENTS)
TIMESTAMP_0 = _of("TIMESTAMP(0)", *_MOMENTS)
INSTANT = _of("TIMESTAMP_LTZ(3)", *(moment for moment in _MOMENTS if not moment.startswith("9999")))
DAY_TIME = Pool(
    "INTERVAL DAY TO SECOND(3)",
    ("INTERVAL '1' DAY", "INTERVAL '-1' SECOND", "INTERVAL '1 02:03:04.567' DAY TO SECOND", "INTERVAL '90' MINUTE"),
)
YEAR_MONTH = Pool(
    "INTERVAL YEAR TO MONTH", ("INTERVAL '1' MONTH", "INTERVAL '-13' MONTH", "INTERVAL '2-03' YEAR TO MONTH")
)
INT_ARRAY = Pool(
    "ARRAY<INT>",
    (
        "ARRAY[3, 1, 2]",
        "ARRAY[1, CAST(NULL AS INT), 1]",
        "CAST(NULL AS ARRAY<INT>)",
        "ARRAY[7]",
        "ARRAY[-1, 0, 2147483647, 3]",
    ),
)
TEXT_ARRAY = Pool(
    "ARRAY<STRING>",
    ("ARRAY['x', 'y']", "ARRAY['', CAST(NULL AS STRING), 'a']", "CAST(NULL AS ARRAY<STRING>)", "ARRAY['b', 'a', 'b']"),
)
TEXT_MAP = Pool(
    "MAP<STRING, INT>",
    ("MAP['a', 1, 'b', 2]", "MAP['b', CAST(NULL AS INT)]", "CAST(NULL AS MAP<STRING, INT>)", "MAP['', 0, 'x', -1]"),
)
ROW = Pool("ROW<x INT, y STRING>", ("ROW(1, 'one')", "ROW(CAST(NULL AS INT), 'two')", "ROW(3, CAST(NULL AS STRING))"))
EXACT = (TINYINT, SMALLINT, INT, BIGINT, DECIMAL, LARGE, DIGITS, FRACTION)
NUMBERS = (*EXACT, FLOAT, DOUBLE)
WHOLE = (TINYINT, SMALLINT, INT, BIGINT)
POINTS = (DATE, TIMESTAMP, TIMESTAMP_6, TIMESTAMP_0, INSTANT)
SIMPLE = (TEXT, *NUMBERS, BOOLEAN, BYTES, TIME, *POINTS)
NESTED = (INT_ARRAY, TEXT_ARRAY, TEXT_MAP, ROW)
CASTS = ("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(5, 2)", "DECIMAL(20, 4)",
         "DECIMAL(38, 18)", "STRING", "VARCHAR(4)", "CHAR(6)", "BYTES", "DATE", "TIME", "TIMESTAMP(3)", "TIMESTAMP(0)",
         "TIMESTAMP(6)", "TIMESTAMP_LTZ(3)")  # fmt: skip
