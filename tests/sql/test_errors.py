from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkind.errors import RowkindError
from rowkind.sql import parse_expression, parse_query, parse_script, pointer, substitute
from rowkind.sql.errors import Source, position_of
from rowkind.sql.tokens import RESERVED


def failure(script: str, file: str | None = None) -> RowkindError:
    with pytest.raises(RowkindError) as caught:
        parse_script(script, file)
    return caught.value


@pytest.mark.parametrize(
    ("script", "condition", "line", "column"),
    [
        ("SELECT a, FROM t", "RESERVED_WORD", 1, 11),
        ("SELECT a FORM t", "SQL_SYNTAX", 1, 15),
        ("SELECT a\nFROM t\nWHERE a BETWEEN 1 2", "SQL_SYNTAX", 3, 19),
        ("SELECT CASE WHEN a 1 END", "SQL_SYNTAX", 1, 20),
        ("SELECT CASE END", "RESERVED_WORD", 1, 13),
        ("SELECT a FROM t, WHERE a = 1", "RESERVED_WORD", 1, 18),
        ("SELECT a IS FOO FROM t", "SQL_SYNTAX", 1, 13),
        ("SELECT (a, b,) FROM t", "SQL_SYNTAX", 1, 14),
        ("SELECT 'a' 'b'", "SQL_SYNTAX", 1, 12),
        ("SELECT a FROM t JOIN u", "SQL_SYNTAX", 1, 23),
        ("SELECT a FROM t LEFT u", "SQL_SYNTAX", 1, 22),
        ("SELECT CAST(a INT) FROM t", "SQL_SYNTAX", 1, 15),
        ("SELECT a FROM t LIMIT 1, 2", "SQL_SYNTAX", 1, 24),
        ("SELECT a FROM t x y", "SQL_SYNTAX", 1, 19),
        ("SELECT a.* + 1 FROM t", "SQL_SYNTAX", 1, 12),
        ("SELECT f(a b)", "SQL_SYNTAX", 1, 12),
        ("SELECT MAP['a']", "SQL_SYNTAX", 1, 15),
        ("SELECT \"a\"", "DOUBLE_QUOTES", 1, 8),
        ("SELECT a FROM t WHERE", "SQL_SYNTAX", 1, 22),
        ("SELECT ?", "SQL_SYNTAX", 1, 8),
        ("SELECT EXTRACT(FOO FROM a)", "SQL_SYNTAX", 1, 16),
        ("SELECT 1 UNION SELCT 2", "SQL_SYNTAX", 1, 16),
        ("SELECT INTERVAL 5 MINUTE", "SQL_SYNTAX", 1, 17),
        ("SELECT INTERVAL '5 minutes' MINUTE", "BAD_LITERAL", 1, 17),
        ("SELECT INTERVAL '1:2' DAY TO SECOND", "BAD_LITERAL", 1, 17),
        ("SELECT DATE '2021-02-29'", "BAD_LITERAL", 1, 13),
        ("SELECT TIMESTAMP '2021-02-28'", "BAD_LITERAL", 1, 18),
        ("SELECT TIME '25:00:00'", "BAD_LITERAL", 1, 13),
        ("SELECT X'0g'", "BAD_LITERAL", 1, 8),
        ("SELECT X'0ff'", "BAD_LITERAL", 1, 8),
        ("SELECT U&'\\00g0'", "SQL_SYNTAX", 1, 8),
        ("SELECT 'abc\nFROM t", "UNTERMINATED_TEXT", 1, 8),
        ("SELECT `abc FROM t", "UNTERMINATED_TEXT", 1, 8),
        ("SELECT 1;\n/* open", "UNTERMINATED_TEXT", 2, 1),
        ("SELECT 1 /* open", "UNTERMINATED_TEXT", 1, 10),
        ("/*", "UNTERMINATED_TEXT", 1, 1),
        ("SELECT 'it''s", "UNTERMINATED_TEXT", 1, 8),
        ("SELECT `a` '", "UNTERMINATED_TEXT", 1, 12),
        ("SELECT '/*' -- /*\n /* *", "UNTERMINATED_TEXT", 2, 2),
        ("SELECT a /*+", "UNTERMINATED_TEXT", 1, 10),
        ("SELECT a FROM t /*+ OPTIONS('a'='b')", "UNTERMINATED_TEXT", 1, 17),
        ("SELECT a FROM t /*+ OPTIONS('a'=b) */", "SQL_SYNTAX", 1, 17),
        ("SELECT a FROM t /*+ OPTIONS('a'='b', */", "SQL_SYNTAX", 1, 38),
        ("SELECT a FROM t /*+ BROADCAST(t) */", "CLAUSE_NOT_SUPPORTED", 1, 17),
        ("SELECT a FROM t /*+ OPTIONS('a'='b', 'a'='c') */", "DUPLICATE_OPTION", 1, 17),
        ("SELECT a FROM cat.db.t", "CATALOG_NOT_SUPPORTED", 1, 15),
        ("SELECT a FROM Default_database.t", "CATALOG_NOT_SUPPORTED", 1, 15),
        ("SELECT * FROM t MATCH_RECOGNIZE (PATTERN (A B))", "MATCH_RECOGNIZE_NOT_SUPPORTED", 1, 17),
        ("SELECT * FROM t AS x MATCH_RECOGNIZE (PATTERN (A B))", "MATCH_RECOGNIZE_NOT_SUPPORTED", 1, 22),
        ("SELECT * FROM t TABLESAMPLE BERNOULLI (10)", "CLAUSE_NOT_SUPPORTED", 1, 17),
        ("SELECT * FROM t QUALIFY a = 1", "CLAUSE_NOT_SUPPORTED", 1, 17),
        ("WITH RECURSIVE x AS (SELECT 1) SELECT 1", "CLAUSE_NOT_SUPPORTED", 1, 6),
        ("SELECT ARRAY_AGG(x ORDER BY y) FROM t", "CLAUSE_NOT_SUPPORTED", 1, 20),
        ("SELECT JSON_VALUE(j, '$.a' PASSING 1 AS x)", "CLAUSE_NOT_SUPPORTED", 1, 28),
        ("SELECT * FROM TABLE(TUMBLE(TABLE t, ts, INTERVAL '1' DAY))", "WINDOW_FUNCTION_ARGUMENT", 1, 37),
        ("SELECT * FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts)))", "WINDOW_FUNCTION_ARGUMENT", 1, 21),
        ("SELECT * FROM TABLE(HOP(DATA => TABLE t, FOO => 1))", "WINDOW_FUNCTION_ARGUMENT", 1, 42),
        ("SELECT * FROM TABLE(HOP(DATA => TABLE t, DATA => TABLE u))", "WINDOW_FUNCTION_ARGUMENT", 1, 42),
        ("SELECT * FROM TABLE(TUMBLE(TABLE t PARTITION BY a, DESCRIPTOR(x), 1))", "WINDOW_FUNCTION_ARGUMENT", 1, 28),
        ("FROM t", "SQL_SYNTAX", 1, 1),
        ("SELECT 1 SELECT 2", "SQL_SYNTAX", 1, 10),
        ("CREATE TABLE t (a INT,) WITH ('x'='y')", "SQL_SYNTAX", 1, 23),
        ("CREATE TABLE t (a FOO)", "UNKNOWN_TYPE", 1, 19),
        ("CREATE TABLE t (\n  a TIMESTAMP(9)\n)", "TYPE_TOO_PRECISE", 2, 5),
        ("CREATE TABLE t (a INT, a INT)", "DUPLICATE_COLUMN", 1, 24),
        ("CREATE TABLE t (table INT)", "RESERVED_WORD", 1, 17),
        ("CREATE TABLE t (a INT PRIMARY KEY)", "PRIMARY_KEY_ENFORCED", 1, 23),
        ("CREATE TABLE t (a INT, PRIMARY KEY (a))", "PRIMARY_KEY_ENFORCED", 1, 24),
        ("CREATE TABLE t (a INT, PRIMARY KEY (a) ENFORCED)", "PRIMARY_KEY_ENFORCED", 1, 24),
        ("CREATE TABLE t (a INT PRIMARY KEY NOT ENFORCED, PRIMARY KEY (a) NOT ENFORCED)", "PRIMARY_KEY_TWICE", 1, 49),
        ("CREATE TABLE t (a INT, PRIMARY KEY (a, a) NOT ENFORCED)", "DUPLICATE_COLUMN", 1, 24),
        ("CREATE TABLE t (a INT UNIQUE)", "CLAUSE_NOT_SUPPORTED", 1, 23),
        ("CREATE TABLE t (a INT, WATERMARK FOR a AS a, WATERMARK FOR a AS a)", "WATERMARK_TWICE", 1, 46),
        ("CREATE TABLE t (a INT) WITH ('x'='1', 'x'='2')", "DUPLICATE_OPTION", 1, 39),
        ("CREATE TABLE t (a INT) WITH ('x'='1',)", "SQL_SYNTAX", 1, 38),
        ("CREATE TABLE t (a INT) WITH (x='1')", "SQL_SYNTAX", 1, 30),
        ("CREATE TABLE t (a INT) WITH ('x'=1)", "SQL_SYNTAX", 1, 34),
        ("CREATE TABLE t (a INT) PARTITIONED BY (a)", "CLAUSE_NOT_SUPPORTED", 1, 24),
        ("CREATE TABLE t (a INT) DISTRIBUTED BY HASH(a) INTO 4 BUCKETS", "CLAUSE_NOT_SUPPORTED", 1, 24),
        ("CREATE TABLE t WITH ('x'='y') AS SELECT 1", "CREATE_TABLE_AS_NOT_SUPPORTED", 1, 31),
        ("CREATE TABLE t LIKE u (INCLUDING EVERYTHING)", "SQL_SYNTAX", 1, 34),
        ("CREATE TABLE t (a INT METADATA FROM x)", "SQL_SYNTAX", 1, 37),
        ("CREATE TABLE t (a AS )", "SQL_SYNTAX", 1, 22),
        ("CREATE VIEW v SELECT 1", "SQL_SYNTAX", 1, 15),
        ("CREATE FOO x", "SQL_SYNTAX", 1, 8),
        ("INSERT OVERWRITE t SELECT 1", "INSERT_OVERWRITE_NOT_SUPPORTED", 1, 1),
        ("INSERT t SELECT 1", "SQL_SYNTAX", 1, 8),
        ("INSERT INTO t PARTITION (a='b') SELECT 1", "CLAUSE_NOT_SUPPORTED", 1, 15),
        ("INSERT INTO t SELECT 1 ON CONFLICT DO UPDATE", "SQL_SYNTAX", 1, 39),
        ("EXECUTE STATEMENT SET BEGIN END", "SQL_SYNTAX", 1, 29),
        ("EXECUTE STATEMENT SET BEGIN SELECT 1; END", "SQL_SYNTAX", 1, 29),
        ("EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1 END", "SQL_SYNTAX", 1, 52),
        ("EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1;", "SQL_SYNTAX", 1, 52),
        ("SET 'a'", "SQL_SYNTAX", 1, 8),
        ("SET 'a' =", "SQL_SYNTAX", 1, 10),
        ("EXPLAIN CREATE TABLE t (a INT)", "SQL_SYNTAX", 1, 9),
        ("SHOW FOO", "SQL_SYNTAX", 1, 6),
        ("DROP TABLE IF t", "SQL_SYNTAX", 1, 15),
        ("FOO BAR", "SQL_SYNTAX", 1, 1),
    ],
)  # fmt: skip
def test_where_and_what(script: str, condition: str, line: int, column: int) -> None:
    error = failure(script)
    assert (error.condition, error.params["line"], error.params["column"]) == (condition, line, column)
    shown = script.split("\n")[line - 1]
    assert error.params["pointer"] == f"  {line} | {shown.rstrip()}\n    | {' ' * (column - 1)}^"


@pytest.mark.parametrize(
    "statement",
    [
        "USE CATALOG x", "USE db", "CREATE CATALOG c WITH ('a'='b')", "CREATE DATABASE d", "DROP DATABASE d",
        "CREATE FUNCTION f AS 'a.B'", "CREATE TEMPORARY FUNCTION f AS 'a.B'", "DROP FUNCTION f", "SHOW FUNCTIONS",
        "CREATE TEMPORARY SYSTEM FUNCTION f AS 'x' LANGUAGE PYTHON", "ALTER TABLE t RENAME TO u",
        "ALTER VIEW v AS SELECT 1", "ANALYZE TABLE t COMPUTE STATISTICS",
        "CREATE MATERIALIZED TABLE t AS SELECT 1", "CREATE OR REPLACE TABLE t AS SELECT 1",
        "UPDATE t SET a = 1", "DELETE FROM t", "TRUNCATE TABLE t", "CALL p()", "LOAD MODULE x", "ADD JAR 'x.jar'",
        "SHOW CATALOGS", "SHOW DATABASES", "SHOW JOBS", "STOP JOB 'x'", "COMPILE PLAN 'x' FOR INSERT INTO a SELECT 1",
        "EXECUTE PLAN 'x'", "CREATE MODEL m WITH ('a'='b')", "SHOW CURRENT CATALOG", "QUIT",
        "REPLACE TABLE t AS SELECT 1",
    ],
)  # fmt: skip
def test_refused_statements_say_what_to_do(statement: str) -> None:
    error = failure(f"SET 'a' = 'b';\n  {statement};")
    assert error.condition == "STATEMENT_NOT_SUPPORTED"
    assert (error.params["line"], error.params["column"]) == (2, 3)
    assert error.hint


@pytest.mark.parametrize(
    ("script", "meant"),
    [
        ("SELECT a FROM t GRUOP BY a", "GROUP"),
        ("SELECT a FORM t", "FROM"),
        ("SELECT a FROM t WEHRE a = 1", "WHERE"),
        ("SELEC a FROM t", "SELECT"),
        ("CREATE TABEL t (a INT)", "TABLE"),
        ("CREATE TABLE t (a INT METADTA)", "METADATA"),
        ("SELECT a FROM t x y", None),
    ],
)
def test_a_misspelt_keyword_is_named(script: str, meant: str | None) -> None:
    found = failure(script).params["found"]
    assert (f"did you mean {meant}?" in found) if meant else ("did you mean" not in found)


def test_the_file_is_named() -> None:
    error = failure("SELECT", "jobs/orders.sql")
    assert error.params["place"] == "jobs/orders.sql, line 1, column 7"


def test_views_and_computed_columns_point_into_the_script() -> None:
    with pytest.raises(RowkindError) as caught:
        parse_query("SELECT a\nFROM", line=7, column=20, origin="view v")
    assert (caught.value.params["line"], caught.value.params["column"]) == (8, 5)
    assert caught.value.params["place"].startswith("view v, ")
    with pytest.raises(RowkindError) as caught:
        parse_expression("a +", line=7, column=20)
    assert (caught.value.params["line"], caught.value.params["column"]) == (7, 23)
    assert caught.value.params["pointer"] == "  7 | a +\n    |    ^"


def test_pointer() -> None:
    assert pointer("a\n\tbc d", 2, 5) == "  2 | \tbc d\n    | \t   ^"
    assert pointer("", 1, 1) == "  1 | \n    | ^"


def test_a_node_can_be_pointed_at() -> None:
    text = "SELECT a,\n  regoin + 1 FROM t"
    query = parse_query(text)
    place = position_of(query.expressions[1].this)
    assert place == (2, 3)
    error = Source(text, "x.sql").error_at("SQL_SYNTAX", *place, expected="a column", found="regoin")
    assert error.params["pointer"] == "  2 |   regoin + 1 FROM t\n    |   ^"


def test_nesting_has_a_limit_with_a_name() -> None:
    assert parse_expression("(" * 30 + "1" + ")" * 30)
    assert parse_expression(" OR ".join(f"a = {i}" for i in range(5000)))
    with pytest.raises(RowkindError) as caught:
        parse_expression("(" * 5000 + "1" + ")" * 5000)
    assert caught.value.condition == "TEXT_TOO_DEEP"


def test_variables() -> None:
    values = {"TOPIC": "orders", "n": "3"}
    assert (
        substitute("a ${TOPIC} ${n:-5} ${m:-5} ${e:-} $${TOPIC} $TOPIC {x}", values)
        == "a orders 3 5  ${TOPIC} $TOPIC {x}"
    )
    with pytest.raises(RowkindError) as caught:
        substitute("SELECT 1;\nSELECT '${TOPICS}'", values, "x.sql")
    error = caught.value
    assert error.condition == "UNKNOWN_VARIABLE"
    assert (error.params["line"], error.params["column"], error.params["file"]) == (2, 9, "x.sql")
    assert "TOPIC" in error.params["suggestion"]


def test_reserved_words_work_in_back_quotes() -> None:
    for word in sorted(RESERVED):
        assert parse_query(f"SELECT `{word}` AS `{word}` FROM `{word}` AS `{word}`")


_PIECES = (
    "SELECT FROM WHERE a b t ( ) , . * + - / = < > 'x' 1 2.5 AND OR NOT IN IS NULL BETWEEN LIKE CASE WHEN THEN",
    "ELSE END CAST AS INT JOIN ON LEFT UNION ALL GROUP BY ORDER LIMIT WITH VALUES ROW ARRAY [ ] INTERVAL DAY f COUNT",
    "DISTINCT OVER PARTITION CREATE TABLE INSERT INTO SET ; `q` /*c*/ /*+ */ -- ' ` DATE TUMBLE DESCRIPTOR => UNNEST",
)


def failure_of(script: str) -> RowkindError | None:
    try:
        parse_script(script)
    except RowkindError as error:
        return error
    return None


@given(st.lists(st.sampled_from(" ".join(_PIECES).split()), max_size=25))
def test_any_text_parses_or_fails_by_name(pieces: list[str]) -> None:
    script = " ".join(pieces)
    error = failure_of(script)
    assert error is None or error.params["line"] == 1
    assert error is None or 1 <= error.params["column"] <= len(script) + 1


@given(st.text(max_size=40))
def test_any_characters_parse_or_fail_by_name(text: str) -> None:
    error = failure_of(text)
    assert error is None or error.params["line"] <= text.count("\n") + 1
