"""What rows look like in each format: nothing is lost in a pipe, a terminal cuts with a mark, lines stay lines."""

from __future__ import annotations

import csv
import io
import json
import os
import pty

import pytest

from rowkind import types as t
from rowkind.cli.console import Console
from rowkind.cli.layouts import OutputFormat, print_all
from rowkind.types import Field

LONG = "x" * 60
ROWS: list[tuple[str, tuple[object, ...]]] = [
    ("+I", ("1", "a\nb", None, bytearray(b"\x00\xff"))),
    ("+I", ("2", "日本語", "NULL", None)),
    ("-D", ("3", LONG, "", b"")),
]
FIELDS = (Field("id", t.INT), Field("s", t.STRING), Field("n", t.STRING), Field("b", t.BYTES))


def shown(format: OutputFormat, *batches: list[tuple[str, tuple[object, ...]]]) -> str:
    out = io.StringIO()
    console = Console(out, io.StringIO(), format)
    console.announce(FIELDS)
    for batch in batches:
        console.rows(tuple(f.name for f in FIELDS), batch)
    console.selected()
    return out.getvalue()


def test_a_table_lines_up_and_cuts_nothing_in_a_pipe() -> None:
    assert shown(OutputFormat.TABLE, ROWS[:2]).splitlines() == [
        "+----+--------------+--------------+--------------+--------------+",
        "| op | id           | s            | n            | b            |",
        "+----+--------------+--------------+--------------+--------------+",
        "| +I | 1            | a\\nb         | NULL         | x'00ff'      |",
        "| +I | 2            | 日本語       | 'NULL'       | NULL         |",
        "+----+--------------+--------------+--------------+--------------+",
    ]
    assert f"| {LONG} |" in shown(OutputFormat.TABLE, ROWS)


def test_columns_grow_below_a_new_heading() -> None:
    lines = shown(OutputFormat.TABLE, ROWS[:1], ROWS[1:2], ROWS[2:]).splitlines()
    assert [line[:8] for line in lines].count("| op | i") == 2
    assert lines[-2].endswith(f"| {LONG} |              | x''          |")


def test_a_select_without_rows_shows_its_columns() -> None:
    assert len(shown(OutputFormat.TABLE).splitlines()) == 4
    assert shown(OutputFormat.CSV) == "op,id,s,n,b\n"


def test_json_has_numbers_and_nulls() -> None:
    found = [json.loads(line) for line in shown(OutputFormat.JSON, ROWS).splitlines()]
    assert found == [
        {"op": "+I", "id": 1, "s": "a\nb", "n": None, "b": "AP8="},
        {"op": "+I", "id": 2, "s": "日本語", "n": "NULL", "b": None},
        {"op": "-D", "id": 3, "s": LONG, "n": "", "b": ""},
    ]


@pytest.mark.parametrize(
    ("type", "text", "written"),
    [
        (t.DOUBLE, "1.0E10", "1.0E10"),
        (t.DOUBLE, "NaN", '"NaN"'),
        (t.decimal(38, 0), "12345678901234567890123456789012345678", "12345678901234567890123456789012345678"),
        (t.BOOLEAN, "TRUE", "true"),
        (t.STRING, "1", '"1"'),
    ],
)
def test_json_values_follow_their_types(type: t.DataType, text: str, written: str) -> None:
    out = io.StringIO()
    console = Console(out, io.StringIO(), OutputFormat.JSON)
    console.announce((Field("op", type),))
    console.rows(("op",), [("+I", (text,))])
    assert out.getvalue() == f'{{"$op":"+I","op":{written}}}\n'


def test_csv_tells_null_from_an_empty_text() -> None:
    text = shown(OutputFormat.CSV, ROWS)
    assert text.splitlines()[1:] == ['+I,1,"a', "b\",,x'00ff'", "+I,2,日本語,NULL,", f"-D,3,{LONG},\"\",x''"]
    assert [row[2] for row in csv.reader(io.StringIO(text))] == ["s", "a\nb", "日本語", LONG]


def test_markdown_stays_a_table() -> None:
    out = io.StringIO()
    print_all(("a|b", "c"), [("x|y", "1\n2")], OutputFormat.MARKDOWN, out)
    assert out.getvalue() == "| a\\|b | c |\n|---|---|\n| x\\|y | 1\\n2 |\n"


def test_a_terminal_cuts_with_a_mark() -> None:
    screen, inner = pty.openpty()
    with os.fdopen(inner, "w", encoding="utf-8") as terminal:
        console = Console(terminal, io.StringIO())
        console.rows(("a", "b"), [("+I", (LONG, "日" * 40))])
        seen = b""
        while seen.count(b"\n") < 4:  # a terminal hands on what it gets line by line
            seen += os.read(screen, 65536)
    os.close(screen)
    shown = seen.decode()
    assert f"| {'x' * 29}… | {'日' * 14} … |" in shown or f"| {'x' * 29}… | {'日' * 14}… " in shown
