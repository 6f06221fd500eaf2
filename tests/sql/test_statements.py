from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import pytest
from sqlglot import exp

from rowkind import types as t
from rowkind.definitions import ComputedColumn, MetadataColumn, PhysicalColumn, Watermark
from rowkind.sql import parse_script
from rowkind.sql.statements import (
    CreateTable,
    CreateView,
    Describe,
    Drop,
    Explain,
    Insert,
    Like,
    Merge,
    Reset,
    Select,
    Set,
    ShowCreate,
    ShowTables,
    Statement,
    StatementSet,
)

SCRIPT = (Path(__file__).parent / "fixtures" / "statements.sql").read_text("utf-8")


@pytest.fixture(scope="module")
def statements() -> list[Statement]:
    return parse_script(SCRIPT, "statements.sql")


T = TypeVar("T", bound=Statement)


def of(kind: type[T], statements: list[Statement]) -> list[T]:
    return [s for s in statements if isinstance(s, kind)]


def test_every_form_is_there(statements: list[Statement]) -> None:
    kinds = [type(s).__name__ for s in statements]
    assert kinds == (
        ["Set"] * 3 + ["Reset"] * 2 + ["CreateTable"] * 4 + ["CreateView"] * 2 + ["Insert"] * 4 + ["StatementSet"] * 2
        + ["Explain"] * 4 + ["Describe"] * 2 + ["ShowTables"] * 2 + ["ShowCreate"] * 2 + ["Select"] * 3 + ["Drop"] * 4
    )  # fmt: skip


def test_text_and_place_are_those_of_the_script(statements: list[Statement]) -> None:
    lines = SCRIPT.split("\n")
    for statement in statements:
        assert lines[statement.line - 1][statement.column - 1 :].startswith(statement.text.split("\n")[0])
        assert not statement.text.endswith(";") or isinstance(statement, StatementSet)


def test_set_and_reset(statements: list[Statement]) -> None:
    assert [(s.key, s.value) for s in of(Set, statements)] == [
        ("table.dml-sync", "true"),
        ("execution.checkpointing.interval", "10 s"),
        (None, None),
    ]
    assert [s.key for s in of(Reset, statements)] == ["table.dml-sync", None]


def test_columns_of_a_table(statements: list[Statement]) -> None:
    create: CreateTable = of(CreateTable, statements)[0]
    table = create.definition
    item = t.row(t.Field("name", t.STRING, "its name"), ("price", t.decimal(10, 2)))
    assert table.columns == (
        PhysicalColumn("id", t.BIGINT.not_null(), "the key"),
        PhysicalColumn("amount", t.decimal(10, 2)),
        PhysicalColumn("tags", t.array(t.STRING.not_null()).not_null()),
        PhysicalColumn("item", item),
        MetadataColumn("event_ts", t.timestamp(3), "timestamp", False, "when"),
        MetadataColumn("offset", t.BIGINT, "offset", True),
        MetadataColumn("partition", t.INT.not_null(), "partition", True),
        ComputedColumn("double_amount", "amount * 2", "twice"),
        ComputedColumn("proctime", "PROCTIME()"),
    )
    assert create.if_not_exists
    assert table.name == "orders"
    assert table.primary_key == ("id", "amount")
    assert table.constraint == "pk"
    assert table.watermark == Watermark("event_ts", "event_ts - INTERVAL '5' SECOND")
    assert table.comment == "all orders"
    assert dict(table.options) == {"connector": "upsert-kafka", "topic": "orders;more", "quote": "it's"}
    assert table.line == create.line


def test_expressions_remember_where_they_stand(statements: list[Statement]) -> None:
    table = of(CreateTable, statements)[0].definition
    lines = SCRIPT.split("\n")
    for computed in table.computed:
        assert lines[computed.line - 1][computed.column - 1 :].startswith(computed.expression)
    mark = table.watermark
    assert mark is not None
    assert lines[mark.expression_line - 1][mark.expression_column - 1 :].startswith(mark.expression)
    view = of(CreateView, statements)[0].definition
    assert lines[view.query_line - 1][view.query_column - 1 :].startswith(view.query)


def test_other_tables(statements: list[Statement]) -> None:
    _, users, copy, plain = of(CreateTable, statements)
    assert users.definition.temporary
    assert users.definition.primary_key == ("id",)
    assert copy.like == Like(
        "orders", ((Merge.INCLUDING, "ALL"), (Merge.EXCLUDING, "CONSTRAINTS"), (Merge.OVERWRITING, "OPTIONS"))
    )
    assert plain.like == Like("orders")
    assert plain.definition.columns == ()


def test_views(statements: list[Statement]) -> None:
    first, second = of(CreateView, statements)
    assert first.definition.query == "SELECT id, amount FROM orders WHERE amount > 100"
    assert first.definition.columns == ("i", "a")
    assert first.definition.comment == "many"
    assert second.if_not_exists
    assert second.definition.temporary


def test_inserts(statements: list[Statement]) -> None:
    copy, users, conflict, execute = of(Insert, statements)
    assert (copy.table, copy.columns, copy.on_conflict) == ("copy", None, None)
    assert users.columns == ("id", "name")
    assert users.query.key == "values"
    assert conflict.on_conflict == "DEDUPLICATE"
    assert conflict.options == {"sink.parallelism": "2"}
    assert execute.table == "users"
    assert execute.text.startswith("EXECUTE INSERT")


def test_statement_sets(statements: list[Statement]) -> None:
    for found in of(StatementSet, statements):
        assert [i.table for i in found.inserts] == ["a", "b"]
    assert [i.on_conflict for s in of(StatementSet, statements) for i in s.inserts] == [None, "NOTHING", None, "ERROR"]


def test_the_rest(statements: list[Statement]) -> None:
    explains: list[Explain] = of(Explain, statements)
    assert [type(e.target) for e in explains] == [Select, Insert, Select, StatementSet]
    assert explains[2].details == ("ESTIMATED_COST", "CHANGELOG_MODE", "JSON_EXECUTION_PLAN")
    assert [d.name for d in of(Describe, statements)] == ["orders", "v"]
    assert [s.views_only for s in of(ShowTables, statements)] == [False, True]
    assert [(s.view, s.name) for s in of(ShowCreate, statements)] == [(False, "orders"), (True, "v")]
    assert [(d.view, d.name, d.if_exists, d.temporary) for d in of(Drop, statements)] == [
        (False, "orders", True, False),
        (False, "users", False, True),
        (True, "v", False, False),
        (True, "v", True, True),
    ]


@pytest.mark.parametrize("text", ["", " \n", ";;", "-- nothing", "/* nothing */ ;", "\ufeff"])
def test_nothing_to_do(text: str) -> None:
    assert parse_script(text) == []


def test_names_are_case_sensitive_and_quotes_double() -> None:
    (create,) = parse_script("create table `a``b` (id int, ID int, `Id` string) with ('k' = 'a\\n''b--c/*d*/;')")
    assert isinstance(create, CreateTable)
    assert create.definition.name == "a`b"
    assert [c.name for c in create.definition.columns] == ["id", "ID", "Id"]
    assert create.definition.options == {"k": "a\\n'b--c/*d*/;"}


def test_windows_line_ends_and_tabs() -> None:
    script = "SET 'a' = 'b';\r\n\tSELECT a,\r\n\t\tb FROM t;\r\n"
    _, select = parse_script(script)
    assert (select.line, select.column) == (2, 2)
    assert isinstance(select, Select)
    column = select.query.expressions[1]
    assert (column.this.meta["line"], column.this.meta["col"]) == (3, 3)


def test_positions_are_relative_to_the_script() -> None:
    script = "SET 'x' = 'y';\n\nINSERT INTO t\n  SELECT `a`, f(bb) FROM s WHERE ccc > 1;"
    insert = parse_script(script)[1]
    assert isinstance(insert, Insert)
    for name in ("a", "bb", "s", "ccc"):
        node = next(i for i in insert.query.find_all(exp.Identifier) if i.name == name)
        start, end = node.meta["start"], node.meta["end"]
        assert script[start : end + 1].strip("`") == name
        assert script.split("\n")[node.meta["line"] - 1][node.meta["col"] - 1 :].startswith(script[start : end + 1])
