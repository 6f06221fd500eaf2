from __future__ import annotations

from pathlib import Path

import pytest
from sqlglot import exp

from rowkind import types as t
from rowkind.sql import (
    JoinedTables,
    JsonCall,
    WindowTable,
    interval_length,
    parse_expression,
    parse_query,
    parse_script,
    render,
    type_of,
)
from rowkind.sql.statements import Select

QUERIES = [s.text for s in parse_script((Path(__file__).parent / "fixtures" / "queries.sql").read_text("utf-8")) if s]


@pytest.mark.parametrize("text", QUERIES)
def test_written_back_it_is_the_same_query(text: str) -> None:
    query = parse_query(text)
    written = render(query)
    again = parse_query(written)
    assert repr(again) == repr(query)
    assert render(again) == written


def test_the_fixture_is_all_queries() -> None:
    assert len(QUERIES) > 50
    assert all(isinstance(s, Select) for q in QUERIES for s in parse_script(q))


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("if(a, b, c)", "IF", 3),
        ("NVL(a, b)", "NVL", 2),
        ("date_format(ts, 'yyyy')", "DATE_FORMAT", 2),
        ("TO_TIMESTAMP(a, b)", "TO_TIMESTAMP", 2),
        ("LOG(2, 8)", "LOG", 2),
        ("LOCATE('a', s)", "LOCATE", 2),
        ("INSTR(s, 'a')", "INSTR", 2),
        ("COUNT(*)", "COUNT", 1),
        ("SUM(a)", "SUM", 1),
        ("CURRENT_TIMESTAMP", "CURRENT_TIMESTAMP", 0),
        ("PROCTIME()", "PROCTIME", 0),
        ("ROW(1, 2)", "ROW", 2),
        ("ARRAY[1, 2]", "ARRAY", 2),
        ("MAP['a', 1]", "MAP", 2),
        ("TIMESTAMPADD(day, 1, ts)", "TIMESTAMPADD", 3),
        ("TRIM(s)", "TRIM", 1),
        ("TRIM(LEADING FROM s)", "TRIM", 3),
        ("POSITION('a' IN b)", "POSITION", 2),
        ("SUBSTRING(a FROM 1 FOR 2)", "SUBSTRING", 3),
        ("OVERLAY(a PLACING b FROM 1)", "OVERLAY", 3),
        ("FLOOR(ts TO day)", "FLOOR", 2),
        ("`my func`(1)", "my func", 1),
        ("LEFT(a, 1)", "LEFT", 2),
    ],
)
def test_calls_keep_name_and_arguments(text: str, name: str, arguments: int) -> None:
    node = parse_expression(text)
    assert type(node) is exp.Anonymous
    assert node.name == name
    assert len(node.expressions) == arguments


@pytest.mark.parametrize(
    ("text", "grouped"),
    [
        ("a OR b AND NOT c = d", "(a OR (b AND (NOT (c = d))))"),
        ("a = b IS NULL", "((a = b) IS NULL)"),
        ("a LIKE b = c", "((a LIKE b) = c)"),
        ("1 + 2 * 3 || d", "(1 + ((2 * 3) || d))"),
        ("a - b - c", "((a - b) - c)"),
        ("-a * b", "((-a) * b)"),
        ("NOT a IS NULL", "(NOT (a IS NULL))"),
        ("a BETWEEN 1 AND 2 AND b", "((a BETWEEN 1 AND 2) AND b)"),
        ("a IN (1) = b", "((a IN (1)) = b)"),
        ("a < b + 1 AND c IS DISTINCT FROM d + 1", "((a < (b + 1)) AND (c IS DISTINCT FROM (d + 1)))"),
    ],
)
def test_precedence_is_flinks(text: str, grouped: str) -> None:
    def bare(node: exp.Expr) -> str:
        root = exp.Paren(this=node)
        for paren in list(root.find_all(exp.Paren))[:0:-1]:
            paren.replace(paren.this)
        return repr(root)

    assert bare(parse_expression(text)) == bare(parse_expression(grouped))


def test_column_parts() -> None:
    assert [p.name for p in parse_expression("a").parts] == ["a"]
    assert [p.name for p in parse_expression("t.`A b`.c").parts] == ["t", "A b", "c"]
    deep = parse_expression("a.b.c.d.e")
    assert isinstance(deep, exp.Dot)
    assert [p.name for p in deep.parts] == ["a", "b", "c", "d", "e"]


def test_types_of_casts_and_literals() -> None:
    cast = parse_expression("CAST(a AS MAP<STRING, INT NOT NULL>)")
    assert type_of(cast) == t.map_of(t.STRING, t.INT.not_null())
    assert type_of(cast.copy()) == type_of(cast)
    stamp = parse_expression("TIMESTAMP '2020-01-01 00:00:00.123'")
    assert type_of(stamp) == t.timestamp(3).not_null()
    assert stamp.meta["literal"]
    assert type_of(parse_expression("DATE '2020-01-01'")) == t.DATE.not_null()
    assert type_of(parse_expression("TIME '10:00:00'")) == t.time(0).not_null()


@pytest.mark.parametrize(
    ("text", "months", "microseconds"),
    [
        ("'1' DAY", 0, 86_400_000_000),
        ("'-1' DAY", 0, -86_400_000_000),
        ("-'-1' DAY", 0, 86_400_000_000),
        ("'5' MINUTES", 0, 300_000_000),
        ("'1.5' SECOND", 0, 1_500_000),
        ("'1 10:00:00.25' DAY TO SECOND", 0, 86_400_000_000 + 36_000_250_000),
        ("'10:30' MINUTE TO SECOND", 0, 630_000_000),
        ("'1 2' DAY TO HOUR", 0, 93_600_000_000),
        ("'1-2' YEAR TO MONTH", 14, 0),
        ("-'3' QUARTER", -9, 0),
        ("'2' WEEK", 0, 14 * 86_400_000_000),
    ],
)
def test_interval_lengths(text: str, months: int, microseconds: int) -> None:
    node = parse_expression(f"INTERVAL {text}")
    assert isinstance(node, exp.Interval)
    length = interval_length(node)
    assert (length.months, length.microseconds) == (months, microseconds)


def test_strings() -> None:
    assert parse_expression(r"'a\n''b'").name == r"a\n'b"
    assert parse_expression(r"U&'\00e9\\\D83D\DE00'").name == "é\\😀"
    assert parse_expression("U&'!0041!!' UESCAPE '!'").name == "A!"


def test_window_functions() -> None:
    query = parse_query(
        "SELECT * FROM HOP(SIZE => INTERVAL '1' HOUR, DATA => TABLE s, TIMECOL => DESCRIPTOR(ts), "
        "SLIDE => INTERVAL '5' MINUTE) h"
    )
    node = query.args["from_"].this
    assert isinstance(node, WindowTable)
    assert node.function == "HOP"
    assert node.this.name == "s"
    assert node.args["timecol"].name == "ts"
    assert interval_length(node.args["slide"]).microseconds == 300_000_000
    assert interval_length(node.args["size"]).microseconds == 3_600_000_000
    assert node.args["alias"].name == "h"
    session = parse_query("SELECT * FROM TABLE(SESSION(TABLE s PARTITION BY a, b, DESCRIPTOR(ts), INTERVAL '1' HOUR))")
    assert [k.name for k in session.args["from_"].this.args["partition_by"]] == ["a", "b"]


def test_hints() -> None:
    query = parse_query(
        "SELECT /*+ STATE_TTL('o'='1d') */ * FROM t /*+ OPTIONS('a'='b') */ JOIN u /* no hint */ ON TRUE"
    )
    assert query.args["from_"].this.meta["options"] == {"a": "b"}
    assert "options" not in query.args["joins"][0].this.meta
    assert [h.name for h in query.args["hint"].expressions] == ["STATE_TTL"]


def test_joins() -> None:
    query = parse_query(
        "SELECT * FROM a, b JOIN c ON TRUE LEFT JOIN d USING (x) NATURAL FULL OUTER JOIN e CROSS JOIN f"
    )
    (comma,) = query.args["joins"]
    assert comma.args["kind"] == "CROSS"
    inner = comma.this
    assert isinstance(inner, JoinedTables)
    shapes = [(j.args.get("method"), j.args.get("side"), j.args.get("kind")) for j in inner.args["joins"]]
    assert shapes == [(None, None, "INNER"), (None, "LEFT", None), ("NATURAL", "FULL", None), (None, None, "CROSS")]
    assert [u.name for u in inner.args["joins"][1].args["using"]] == ["x"]


def test_intersect_binds_tighter() -> None:
    query = parse_query("SELECT 1 UNION SELECT 2 INTERSECT SELECT 3 EXCEPT ALL SELECT 4")
    assert isinstance(query, exp.Except)
    assert query.args["distinct"] is False
    assert isinstance(query.this, exp.Union)
    assert isinstance(query.this.expression, exp.Intersect)


def test_nulls_are_smallest() -> None:
    query = parse_query("SELECT a FROM t ORDER BY a, b DESC, c NULLS LAST, d DESC NULLS FIRST")
    ordered = query.args["order"].expressions
    assert [(o.args["desc"], o.args["nulls_first"]) for o in ordered] == [
        (False, True), (True, False), (False, False), (True, True)
    ]  # fmt: skip


def test_json_clauses() -> None:
    node = parse_expression("JSON_VALUE(j, '$.a' RETURNING INT DEFAULT 0 ON EMPTY ERROR ON ERROR)")
    assert isinstance(node, JsonCall)
    assert type_of(node.args["returning"]) == t.INT
    assert node.args["on_empty"].name == "0"
    assert node.args["on_error"].name == "ERROR"


def test_temporal_join_and_unnest() -> None:
    query = parse_query(
        "SELECT * FROM o JOIN r FOR SYSTEM_TIME AS OF o.ts AS x ON o.c = x.c CROSS JOIN UNNEST(o.t) AS u(a)"
    )
    versioned, unnest = (j.this for j in query.args["joins"])
    assert versioned.args["version"].expression.name == "ts"
    assert versioned.alias == "x"
    assert isinstance(unnest, exp.Unnest)
    assert [c.name for c in unnest.args["alias"].args["columns"]] == ["a"]
