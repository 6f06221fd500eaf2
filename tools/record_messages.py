"""Record how real Flink reads odd messages with ignore-parse-errors: `python -m tools.record_messages`.

Every token stands in a column `v` of every type, between an `id` and a column `z` that shows whether the rest of the
row survived. Lines of a file are the messages, since Flink reads them by the same formats as those of Kafka.
"""

from __future__ import annotations

import gzip
import json
import tempfile
from ast import literal_eval
from pathlib import Path

from tools.flink.client import Flink

FIXTURE = Path(__file__).parent.parent / "tests" / "formats" / "fixtures" / "messages.json.gz"
TYPES = (
    "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "DOUBLE", "DECIMAL(10, 2)", "STRING", "BYTES", "DATE", "TIME",
    "TIMESTAMP(3)", "ARRAY<INT>", "ROW<x INT>",
)  # fmt: skip
TOKENS = (
    "null", "true", "false", '"true"', '"TRUE"', '""', '" "', "0", "-0", "1", "-1", "127", "128", "32768", "2147483647",
    "2147483648", "9223372036854775807", "9223372036854775808", "1.5", "1.0", "1e2", "1E400", "-1.005", "0.005",
    "12345678.99", "123456789.99", '"1"', '" 1 "', '"1.5"', '"1e2"', '"abc"', '"NaN"',
    '"\\u00e9"', '"\\u12"', '"\\ud83d"',
    '"2024-01-05"', '"2024-1-5"', '"2024-02-30"', '"2024-01-05 10:00:00"', '"2024-01-05T10:00:00"', '"10:00:00"',
    '"10:00:00.123456"', '"10:00"', '"24:00:00"', '"2024-01-05 10:00:00.123456789"', '"9999-12-31 23:59:59"', '"YWJj"',
    '"YQ="', '"????"', "[]", "[1]", "[1,null]", '["1"]', '["x"]', "[[1]]", "{}", '{"x":1}', '{"x":"y"}', '{"x":null}',
    '{"y":1}', "nul", "01", "'a'", "1,", '"a', "NaN",
)  # fmt: skip


def message(form: str, number: int, token: str) -> str:
    row = f'{{"id":{number},"v":{token},"z":1}}'
    return {
        "json": row,
        "debezium-json": f'{{"before":null,"after":{row},"op":"c"}}',
        "canal-json": f'{{"data":[{row}],"type":"INSERT"}}',
        "maxwell-json": f'{{"data":{row},"type":"insert"}}',
        "ogg-json": f'{{"before":null,"after":{row},"op_type":"I"}}',
    }[form]


FORMATS = ("json", "debezium-json", "canal-json", "maxwell-json", "ogg-json")


def read(flink: Flink, form: str, type: str, folder: Path) -> list[list[object]]:
    """Token, and what Flink has of its row: the value as text and `z`, or None where there is no row."""
    path = folder / f"{form}-{TYPES.index(type)}.txt"
    path.write_text("\n".join(message(form, i, token) for i, token in enumerate(TOKENS)) + "\n", "utf-8")
    options = f"'connector'='filesystem','path'='file://{path}','format'='{form}','{form}.ignore-parse-errors'='true'"
    shown = "TO_BASE64(v)" if type == "BYTES" else "CAST(v AS STRING)"
    results = flink.run([f"CREATE TABLE t (id INT, v {type}, z INT) WITH ({options})", f"SELECT id, {shown}, z FROM t"])
    if "error" in results[-1]:
        raise RuntimeError(results[-1]["error"])
    found = {literal_eval(i): [literal_eval(v), literal_eval(z)] for _, i, v, z in results[-1]["rows"]}
    return [[token, found.get(number)] for number, token in enumerate(TOKENS)]


def main() -> None:
    with Flink() as flink, tempfile.TemporaryDirectory() as folder:
        answers = {form: {type: read(flink, form, type, Path(folder)) for type in TYPES} for form in FORMATS}
    FIXTURE.parent.mkdir(exist_ok=True)
    FIXTURE.write_bytes(gzip.compress(json.dumps(answers, ensure_ascii=False).encode(), mtime=0))
    print(f"{len(FORMATS) * len(TYPES) * len(TOKENS)} messages")


if __name__ == "__main__":
    main()
