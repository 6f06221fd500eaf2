"""DDL: after each statement the schema that was followed is the one that the server declares."""

from __future__ import annotations

import pytest

from rowkind.connectors.mysql.changes import TableChanges
from rowkind.connectors.mysql.history import SchemaHistory, TableDdl
from rowkind.connectors.mysql.positions import BinlogPosition
from rowkind.connectors.mysql.schemas import ColumnSchema, TableId, TableSchema, read_schemas
from rowkind.demo_servers.database import DatabaseServer
from rowkind.demo_servers.database_programs import Flavor
from rowkind.errors import RowkindError
from tests.connectors.mysql.conftest import Database, opened
from tests.connectors.mysql.reading import end, pieces, schema_of
from tests.connectors.mysql.test_types import without_collations

HERE = BinlogPosition("binlog.000001", 100)
STATEMENTS = [
    "ALTER TABLE t ADD COLUMN a varchar(10) NOT NULL DEFAULT 'x,y' COMMENT 'it''s' AFTER id",
    "ALTER TABLE t ADD b decimal(8) unsigned FIRST, ADD INDEX i (a), "
    "ADD (c datetime(3) DEFAULT CURRENT_TIMESTAMP(3), d text)",
    "/* a remark */ ALTER TABLE `t` CHANGE COLUMN `a` `a b` char(20) CHARACTER SET latin1 AFTER c",
    "ALTER TABLE t MODIFY d mediumblob NOT NULL FIRST, ALGORITHM=COPY, LOCK=SHARED",
    "ALTER TABLE t DROP COLUMN b, DROP INDEX i",
    "ALTER TABLE t ADD e enum('a','b)','c,d') CHARACTER SET utf8mb4, ADD f float(7,2), ADD g bit, ADD h bool",
    "ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (h, id)",
    "ALTER TABLE t ADD COLUMN i int GENERATED ALWAYS AS (id * 2) STORED, ENGINE=InnoDB, COMMENT = 'x'",
    "ALTER TABLE t CONVERT TO CHARACTER SET latin1",
    "ALTER TABLE t ADD j varchar(5), ALTER COLUMN f SET DEFAULT 1, ADD CONSTRAINT u UNIQUE (j)",
    "CREATE INDEX k ON t (f)",
    "ALTER TABLE t RENAME TO t2",
    "RENAME TABLE t2 TO t",
    "ALTER TABLE t ADD k national varchar(7), ADD l double precision, ADD m integer(5) zerofill, ADD n char byte",
]


def test_the_followed_schema_is_the_servers(db: Database) -> None:
    db.run("CREATE TABLE t (id int NOT NULL, v int, PRIMARY KEY (id)) CHARACTER SET utf8mb4")
    known = SchemaHistory(
        {(s := schema_of(db, "t")).id: s}, lambda table: table.database == db.name, mariadb=db.mariadb
    )
    for statement in STATEMENTS:
        start = end(db)
        db.run(statement)
        found = [part for piece in pieces(db, start, end(db), known) for part in piece.parts]
        assert len(found) == (0 if "INDEX k" in statement else 1), statement
        name = "t2" if "TO t2" in statement else "t"
        followed = known.captured()[TableId(db.name, name)]
        assert without_collations(followed) == without_collations(schema_of(db, name)), statement
    again = SchemaHistory.from_json(known.to_json(), lambda table: table.database == db.name)
    assert again.captured() == known.captured()


def test_rows_are_read_with_the_schema_of_their_time(db: Database) -> None:
    db.run("CREATE TABLE t (id int primary key, v int)")
    old, start = schema_of(db, "t"), end(db)
    db.run("INSERT INTO t VALUES (1, 1)", "ALTER TABLE t ADD w varchar(3) FIRST", "INSERT INTO t VALUES ('x', 2, 2)")
    db.run("TRUNCATE TABLE t", "ALTER TABLE t DROP v", "INSERT INTO t VALUES ('y', 3)", "DROP TABLE t")
    db.run("CREATE TABLE t (other bigint primary key)", "INSERT INTO t VALUES (5)")
    parts = [part for piece in pieces(db, start, end(db), SchemaHistory({old.id: old})) for part in piece.parts]
    seen = [part.rows.to_pylist() if isinstance(part, TableChanges) else part.kind for part in parts]
    assert seen == [
        [{"id": 1, "v": 1}], "alter", [{"w": "x", "id": 2, "v": 2}], "truncate", "alter", [{"w": "y", "id": 3}],
        "drop", "create", [{"other": 5}],
    ]  # fmt: skip


def test_new_tables_like_others_and_dropped_databases(db: Database) -> None:
    known = SchemaHistory({}, lambda table: table.database == db.name, mariadb=db.mariadb)
    start = end(db)
    db.run(
        "CREATE TABLE a (id int primary key, v char(3))",
        "CREATE TABLE b LIKE a",
        "CREATE TABLE IF NOT EXISTS c (x int)",
    )
    db.run("CREATE TEMPORARY TABLE z (x int)", "CREATE VIEW w AS SELECT * FROM a", "DROP VIEW w")
    pieces(db, start, end(db), known)
    declared = read_schemas(db.connection, [TableId(db.name, name) for name in "abc"])
    assert {t: without_collations(s) for t, s in known.captured().items()} == {
        t: without_collations(s) for t, s in declared.items()
    }
    dropped = known.apply("", f"DROP DATABASE IF EXISTS `{db.name}`", HERE)
    assert sorted(change.table.table for change in dropped) == ["a", "b", "c"]
    assert known.captured() == {}


def small() -> SchemaHistory:
    table = TableId("db", "t")
    schema = TableSchema(table, (ColumnSchema("id", "int", nullable=False),), ("id",))
    return SchemaHistory({table: schema})


def test_unparsable_statements() -> None:
    known = small()
    with pytest.raises(RowkindError) as error:
        known.apply("db", "ALTER TABLE t ADD COLUMN (broken", HERE)
    assert error.value.condition == "MYSQL_DDL_UNPARSED"
    assert "binlog.000001:100" in str(error.value)
    assert known.apply("db", "CREATE TABLE other AS SELECT 1", HERE) == []
    assert len(known.notes) == 1


def test_a_rename_in_and_out() -> None:
    known = small()
    (change,) = known.apply("db", "RENAME TABLE t TO elsewhere.t", HERE)
    assert isinstance(change, TableDdl)
    assert (change.kind, change.after) == ("rename", None)
    with pytest.raises(RowkindError):
        known.apply("db", "RENAME TABLE unknown TO t", HERE)
    (back,) = known.apply("db", "RENAME TABLE elsewhere.t TO t", HERE)
    assert back.after
    assert back.after.id == TableId("db", "t")


@pytest.mark.parametrize(
    "statement",
    [
        "GRANT ALL ON *.* TO x",
        "CREATE USER x",
        "DROP TRIGGER t",
        "CREATE PROCEDURE t() BEGIN END",
        "CREATE VIEW t AS SELECT 1",
    ],
)
def test_statements_about_other_things(statement: str) -> None:
    assert small().apply("db", statement, HERE) == []


def test_names_that_the_server_folds() -> None:
    """lower_case_table_names=1: statements are in the log as they were written, names of tables are in lower case."""
    table = TableSchema(TableId("shop", "orders"), (ColumnSchema("id", "int"),), ("id",))
    known = SchemaHistory({table.id: table}, lambda id: id.database == "shop", folds=True)
    (change,) = known.apply("SHOP", "ALTER TABLE Orders ADD COLUMN Item varchar(9)", HERE)
    assert change.after is not None
    assert [column.name for column in change.after.columns] == ["id", "Item"]
    assert known.concerns("other", "INSERT INTO Shop.ORDERS VALUES (1)")
    known = SchemaHistory.from_json(known.to_json(), lambda id: id.database == "shop")
    (change,) = known.apply("x", "RENAME TABLE Shop.Orders TO SHOP.Sold", HERE)
    assert change.after is not None
    assert change.after.id == TableId("shop", "sold")
    (change,) = known.apply("x", "DROP DATABASE Shop", HERE)
    assert change.kind == "drop"


@pytest.mark.database
def test_a_server_that_folds_names() -> None:
    with DatabaseServer.start(Flavor.MARIADB, {"lower-case-table-names": "1"}) as server:
        for db in opened(server):
            db.run("CREATE TABLE Orders (id int primary key)")
            schema, start = schema_of(db, "orders"), end(db)
            db.run(f"ALTER TABLE {db.name.upper()}.ORDERS ADD Item varchar(9)", "INSERT INTO oRders VALUES (1, 'x')")
            known = SchemaHistory({schema.id: schema}, mariadb=True, folds=db.facts.folds)
            parts = [part for piece in pieces(db, start, end(db), known) for part in piece.parts]
            assert isinstance(parts[0], TableDdl)
            assert isinstance(parts[1], TableChanges)
            assert parts[1].rows.to_pylist() == [{"id": 1, "Item": "x"}]
