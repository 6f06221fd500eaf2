"""Scripts for Flink are cut where Flink would cut them."""

from __future__ import annotations

import pytest

from tools.flink.script import split

STATEMENT_SET = """EXECUTE STATEMENT SET BEGIN
INSERT INTO a SELECT CASE WHEN x > 0 THEN 1 END FROM t;
INSERT INTO b SELECT CASE x WHEN 1 THEN 'one' END;
END"""


@pytest.mark.parametrize(
    ("script", "statements"),
    [
        ("", []),
        (" ;; \n-- nothing\n; /* at all; */", []),
        ("SELECT 1", ["SELECT 1"]),
        ("SELECT 1; SELECT 2;", ["SELECT 1", "SELECT 2"]),
        ("SELECT 'it''s; fine'; SELECT `a;b`", ["SELECT 'it''s; fine'", "SELECT `a;b`"]),
        ("SELECT /* ; */ 1 -- ;\n; SELECT 2", ["SELECT /* ; */ 1 -- ;", "SELECT 2"]),
    ],
)
def test_semicolons_outside_of_text_end_a_statement(script: str, statements: list[str]) -> None:
    assert split(script) == statements


def test_a_case_at_the_end_of_an_insert_does_not_end_the_statement_set() -> None:
    assert split(f"{STATEMENT_SET};\nSELECT 1;") == [STATEMENT_SET, "SELECT 1"]
