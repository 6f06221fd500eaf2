"""Where rowkind's functions and operators answer otherwise than Flink's, and why.

The comparison with recorded answers takes nothing else that is not the same, and docs/functions.md shows them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Difference:
    """Calls that differ on purpose: a pattern of their SQL, and patterns of the two answers.

    An answer is a value as text, `NULL`, `fails` while it runs (here with
    Spark's condition), `refused` while it is planned, or `type …` where only
    the types differ. `example` is a call with the two answers.
    """

    calls: str
    here: str
    flink: str
    what: str
    why: str
    example: tuple[str, str, str]

    def covers(self, call: str, here: str, flink: str) -> bool:
        return (
            re.search(self.calls, call) is not None
            and re.fullmatch(self.here, here) is not None
            and re.fullmatch(self.flink, flink) is not None
        )


_OVERFLOW = r"fails (\w*ARITHMETIC_OVERFLOW|CAST_OVERFLOW|NUMERIC_VALUE_OUT_OF_RANGE|DATETIME_OVERFLOW).*"
_NUMBER_CAST = r"^CAST\(.* AS (TINYINT|SMALLINT|INT|BIGINT|DECIMAL\(\d+, \d+\))\)$"
_ANY = r"[\s\S]*"
_NO_KEY = r"NULL="

DIFFERENCES: tuple[Difference, ...] = (
    Difference(
        ".",
        _OVERFLOW,
        _ANY,
        "a number that does not fit",
        "Flink goes on with another number, or with NULL; wrong numbers must not reach a topic.",
        ("2147483647 + 1", "fails", "-2147483648"),
    ),
    Difference(
        r"^TRY_CAST\(",
        "NULL",
        r"-?[\d.]+",
        "TRY_CAST of a number or text that does not fit",
        "It is NULL; Flink wraps it, cuts it off, or has 0 for what is no number.",
        ("TRY_CAST('a' AS DECIMAL(5, 2))", "NULL", "0.00"),
    ),
    Difference(
        r"^(MOD\(|.* % )",
        r"-?[\d.]+",
        r"-?[\d.]+",
        "remainder of a decimal that no BIGINT holds",
        "Flink makes a BIGINT or INT of it first, which is another number.",
        ("MOD(CAST('12345678901234567890' AS DECIMAL(38, 0)), CAST('-5' AS INT))", "0", "-1"),
    ),
    Difference(
        r" AS INT\)\) IN \(|^CAST.* (NOT )?IN \(",
        "TRUE|FALSE",
        "TRUE|FALSE|NULL",
        "IN over several types of numbers",
        "Numbers are compared as they are; Flink casts them to the type of the first.",
        ("0 IN (CAST(-1 AS BIGINT), -0.05)", "FALSE", "TRUE"),
    ),
    Difference(
        r"INTERVAL '1' WEEK",
        _ANY,
        _ANY,
        "intervals of weeks",
        "A week is seven days; Flink adds an hour.",
        ("TIMESTAMP '2024-01-01 00:00:00' + INTERVAL '1' WEEK", "2024-01-08 00:00:00", "2024-01-01 01:00:00"),
    ),
    Difference(
        r"^(CAST|EXTRACT|YEAR|QUARTER|MONTH|WEEK|DAYOF|HOUR|MINUTE|SECOND|FLOOR|CEIL).*(19[0-6]\d|1582|0001)-",
        _ANY,
        _ANY,
        "fields of points before 1970",
        "They are those of the clock; Flink divides milliseconds towards zero.",
        ("EXTRACT(DAY FROM TIMESTAMP '1969-12-31 23:59:59.500')", "31", "1"),
    ),
    Difference(
        r"^(EXTRACT\((HOUR|MINUTE|SECOND|MILLISECOND) FROM|HOUR|MINUTE|SECOND).* AS DATE\)",
        "0",
        r"-?\d+",
        "clock fields of a DATE",
        "A date has none; Flink takes its days since 1970 for milliseconds.",
        ("EXTRACT(SECOND FROM DATE '2024-01-20')", "0", "19"),
    ),
    Difference(
        r"^(TO_DATE|TO_TIMESTAMP|UNIX_TIMESTAMP)\(",
        "NULL|-9223372036854775808",
        r"\d{4,}-\d\d-\d\d.*",
        "texts that are not dates, with a pattern",
        "They give NULL; Flink makes a date out of the number that stands for a failure.",
        ("TO_DATE('garbage', 'yyyy-MM-dd')", "NULL", "5471-09-27"),
    ),
    Difference(
        r"^(?!CAST)",
        _ANY,
        "fails",
        "data that ends a job of Flink's",
        "Where a function of Flink's throws, there is a value or NULL here, such as for a bad regular expression.",
        ("REGEXP_REPLACE('abc', '([', 'x')", "NULL", "fails"),
    ),
    Difference(
        r"NaN",
        "TRUE|FALSE",
        "TRUE|FALSE",
        "comparisons with NaN",
        "NaN equals itself and is larger than any other number, so that it can be a key, be sorted and be joined.",
        ("1 <= CAST('NaN' AS DOUBLE)", "TRUE", "FALSE"),
    ),
    Difference(
        r"^(EXP|POWER|SINH|COSH|TANH|SIN|COS|TAN|COT|LOG\w*|LN)\(",
        r"-?\d\.\d{12,}.*|-?\d+\.\d{6,}.*",
        r"-?\d\.\d{12,}.*|-?\d+\.\d{6,}.*",
        "the last digit of a DOUBLE",
        "Spark computes by Java's StrictMath, Flink by Math.",
        ("EXP(1)", "2.7182818284590455", "2.718281828459045"),
    ),
    Difference(
        r"^MAP_FROM_ARRAYS\(|^MAP_UNION\(|^STR_TO_MAP\(",
        r"\{.*\}",
        r"\{.*\}",
        "maps with a key twice, and the order of entries",
        "A key has one value, the last one. The order of entries has no meaning.",
        ("MAP_FROM_ARRAYS(ARRAY['b', 'a', 'b'], ARRAY[1, 2, 3])", "{b=3, a=2}", "{b=1, a=2, b=3}"),
    ),
    Difference(
        "[\U00010000-\U0010ffff]",
        _ANY,
        _ANY,
        "characters outside of Unicode's first plane",
        "One is one character. Java counts two, and Flink may cut between them.",
        ("RPAD('\U0001f600a', 1, 'b')", "\U0001f600", "?"),
    ),
    Difference(
        r"^TIMESTAMPDIFF\(.*(0001|1582|9999|1900)-",
        r"-?\d+|fails.*",
        r"-?\d+",
        "TIMESTAMPDIFF over centuries",
        "It is the distance; Flink's milliseconds do not fit its INT.",
        ("TIMESTAMPDIFF(WEEK, TIMESTAMP '2024-10-27 02:30:00.5', DATE '0001-01-01')", "-105597", "924"),
    ),
    Difference(
        r"^(TRUNCATE|ROUND)\(.*DECIMAL",
        r"-?[\d.]+",
        r"-?[\d.]+",
        "a number of digits that is not a literal",
        "The decimal has the digits of its type; Flink leaves them out in the text.",
        ("TRUNCATE(CAST('-12.5' AS DECIMAL(20, 18)), CAST('-1' AS INT))", "-10.000000000000000000", "-10"),
    ),
    Difference(
        r"9999-",
        r"\+1\d{4}-.*|fails.*",
        r"\d{4}-.*",
        "years after 9999",
        "They are written with a sign; Flink leaves out the first digit.",
        (
            "TIMESTAMP '9999-12-31 23:59:59' + INTERVAL '1' MONTH",
            "+10000-01-31 23:59:",
            "0000-01-31 23:59:59",
        ),
    ),
    Difference(
        r"^JSON_(STRING|OBJECT|ARRAY)\(.*DECIMAL",
        r".*0\.000000.*",
        r".*E-\d+.*",
        "small decimals in JSON",
        "They are written without an exponent, and are the same number.",
        ("JSON_STRING(CAST('0.000000000000000001' AS DECIMAL(20, 18)))", "0.000000000000000001", "1E-18"),
    ),
    Difference(
        r"^JSON_QUOTE\(",
        r"\".*\"",
        r"\".*\"",
        "JSON_QUOTE",
        "It is the same JSON string with fewer escapes.",
        ("JSON_QUOTE('a/b\té')", '"a/b\\té"', '"a\\/b\\t\\u00e9"'),
    ),
    Difference(
        r"^MAP",
        _ANY,
        _ANY + _NO_KEY + _ANY,
        "maps with a NULL key",
        "Spark's maps have none: its entry is left out.",
        ("MAP_FROM_ARRAYS(ARRAY['a', ns], ARRAY[1, 2])", "{a=1}", "{a=1, NULL=2}"),
    ),
)
