"""Connecting: what a server is, what is wrong with it, and errors by name without secrets."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rowkind.broker.settings import free_port
from rowkind.connectors.mysql.connection import ServerAddress, connect, rows
from rowkind.connectors.mysql.facts import ServerFacts, check_server, server_facts
from rowkind.connectors.mysql.schemas import TableId, TableSchema, list_tables, read_schemas
from rowkind.errors import RowkindError
from tests.connectors.mysql.conftest import Database

SECRET = "s3cr€t'\"\\"


def condition(address: ServerAddress) -> str:
    with pytest.raises(RowkindError) as error:
        connect(address)
    assert SECRET not in str(error.value)
    assert SECRET not in repr(address)
    return error.value.condition


def test_wrong_passwords_and_hosts(db: Database) -> None:
    assert condition(replace(db.address, user="nobody", password=SECRET)) == "MYSQL_LOGIN"
    assert condition(replace(db.address, port=free_port(), password=SECRET)) == "MYSQL_UNREACHABLE"
    assert condition(replace(db.address, host="no.such.host.invalid", password=SECRET)) == "MYSQL_UNREACHABLE"


def test_a_password_of_any_characters_and_few_privileges(db: Database) -> None:
    user = f"u{db.name[-8:]}"
    account = f"'{user}'@'localhost'"
    db.run(f"CREATE USER {account}")
    with db.connection.cursor() as cursor:
        cursor.execute(f"SET PASSWORD FOR {account} = " + ("PASSWORD(%s)" if db.mariadb else "%s"), (SECRET,))
    try:
        limited = connect(replace(db.address, user=user, password=SECRET))
        facts = server_facts(limited)
        with pytest.raises(RowkindError) as error:
            check_server(facts)
        assert error.value.condition == "MYSQL_MISSING_GRANTS"
        assert "REPLICATION SLAVE, REPLICATION CLIENT" in str(error.value)
        with pytest.raises(RowkindError) as denied:
            rows(limited, f"SELECT * FROM {db.name}.t")
        assert denied.value.condition == "MYSQL_PRIVILEGE_MISSING"
        db.run(f"GRANT SELECT, REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO {account}")
        again = connect(replace(db.address, user=user, password=SECRET))
        check_server(server_facts(again))
        again.close()
        limited.close()
    finally:
        db.run(f"DROP USER {account}")


def test_settings_that_are_in_the_way(db: Database) -> None:
    """The server's own answers: a global setting is changed for the moment of asking."""
    for setting, value, name in (
        ("binlog_format", "STATEMENT", "MYSQL_BINLOG_FORMAT"),
        ("binlog_format", "MIXED", "MYSQL_BINLOG_FORMAT"),
        ("binlog_row_image", "MINIMAL", "MYSQL_ROW_IMAGE"),
    ):
        (right,) = rows(db.connection, f"SELECT @@GLOBAL.{setting}")[0]
        db.run(f"SET GLOBAL {setting} = '{value}'")
        try:
            with pytest.raises(RowkindError) as error:
                check_server(server_facts(db.connection))
        finally:
            db.run(f"SET GLOBAL {setting} = '{right}'")
        assert error.value.condition == name
        assert error.value.hint
        assert f"SET GLOBAL {setting}" in error.value.hint


def test_partial_json_is_refused(mysql: Database) -> None:
    mysql.run("SET GLOBAL binlog_row_value_options = 'PARTIAL_JSON'")
    try:
        with pytest.raises(RowkindError) as error:
            check_server(server_facts(mysql.connection))
    finally:
        mysql.run("SET GLOBAL binlog_row_value_options = ''")
    assert error.value.condition == "MYSQL_PARTIAL_JSON"


def test_facts(db: Database) -> None:
    facts: ServerFacts = db.facts
    assert facts.gtid
    assert facts.log_bin
    assert facts.release >= (8, 0, 15)
    assert facts.server_id == 1
    check_server(facts)
    for wrong, name in (({"version": "5.5.60"}, "MYSQL_TOO_OLD"), ({"log_bin": False}, "MYSQL_BINLOG_OFF")):
        with pytest.raises(RowkindError) as error:
            check_server(replace(facts, mariadb=False, **wrong))
        assert error.value.condition == name


def test_tables_and_schemas(db: Database) -> None:
    db.run(
        "CREATE TABLE b (x int, y char(3) character set latin1, z int, primary key (z, x))", "CREATE VIEW v AS SELECT 1"
    )
    db.run("CREATE TABLE `od``d ta.ble` (`c``1` enum('a''','b\\\\') primary key)")
    tables = list_tables(db.connection)
    own = [table for table in tables if table.database == db.name]
    assert own == [TableId(db.name, "b"), TableId(db.name, "od`d ta.ble")]
    assert not {"mysql", "sys", "information_schema"} & {table.database for table in tables}
    schemas = read_schemas(db.connection, [*own, TableId(db.name, "gone")])
    assert schemas[own[0]].primary_key == ("z", "x")
    assert [column.nullable for column in schemas[own[0]].columns] == [False, True, False]
    assert schemas[own[1]].columns[0].values == ("a'", "b\\")
    for schema in schemas.values():
        assert TableSchema.from_json(schema.to_json()) == schema
