# ruff: noqa: E501 - a case is a line
"""Every type: what the server is given, and the JSON that snapshot and binlog both make of it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import pytest

from rowkind.connectors.mysql.changes import TableChanges
from rowkind.connectors.mysql.schemas import TableSchema
from rowkind.connectors.mysql.types import Reading, fields
from rowkind.kinds import RowKind
from tests.connectors.mysql.conftest import Database
from tests.connectors.mysql.reading import changes, end, images, json_texts, schema_of, snapshot


@dataclass(frozen=True)
class Case:
    """A column, and its values as SQL with the JSON expected for each."""

    type: str
    values: dict[str, str]
    only: str = ""
    """mysql or mariadb, where the other does not have the type."""


CASES = [
    Case("tinyint", {"-128": "-128", "127": "127"}),
    Case("tinyint unsigned", {"255": "255", "0": "0"}),
    Case("tinyint(1)", {"1": "true", "0": "false", "2": "false", "-1": "false"}),
    Case("bool", {"true": "true"}),
    Case("smallint", {"-32768": "-32768"}),
    Case("smallint unsigned", {"65535": "65535"}),
    Case("mediumint", {"-8388608": "-8388608", "8388607": "8388607"}),
    Case("mediumint unsigned", {"16777215": "16777215"}),
    Case("int", {"-2147483648": "-2147483648"}),
    Case("int unsigned zerofill", {"4294967295": "4294967295", "42": "42"}),
    Case("bigint", {"-9223372036854775808": "-9223372036854775808"}),
    Case("bigint unsigned", {"18446744073709551615": "18446744073709551615", "9223372036854775808": "9223372036854775808"}),
    Case("float", {"123.102": "123.102", "3.14": "3.14", "1e-30": "1.0E-30", "16777217": "1.6777216E7"}),
    Case("float(7,3)", {"1.1": "1.1", "1234.567": "1234.567"}),
    Case("double", {"0.1": "0.1", "1e300": "1.0E300", "-2.5": "-2.5"}),
    Case("double(10,2)", {"1.1": "1.1", "12345678.91": "1.234567891E7"}),
    Case("decimal(10,2)", {"'-1.50'": "-1.50", "'0'": "0.00", "'99999999.99'": "99999999.99", "'-0.01'": "-0.01"}),
    Case("decimal(38,10)", {"'-1234567890123456789012345678.0123456789'": "-1234567890123456789012345678.0123456789"}),
    Case("decimal(20,0)", {"'-12345678901234567890'": "-12345678901234567890"}),
    Case("decimal(65,30)", {"'-12345678901234567890.5'": '"-12345678901234567890.500000000000000000000000000000"'}),
    Case("date", {"'2020-07-17'": '"2020-07-17"', "'0000-00-00'": "null", "'2020-00-10'": "null", "'9999-12-31'": '"9999-12-31"', "'1000-01-01'": '"1000-01-01"'}),
    Case("datetime", {"'2020-07-17 18:00:22'": '"2020-07-17 18:00:22"', "'0000-00-00 00:00:00'": "null"}),
    Case("datetime(1)", {"'2020-07-17 18:00:22.1'": '"2020-07-17 18:00:22.1"'}),
    Case("datetime(3)", {"'2020-07-17 18:00:22.123'": '"2020-07-17 18:00:22.123"', "'2020-07-17 18:00:22.120'": '"2020-07-17 18:00:22.12"'}),
    Case("datetime(6)", {"'1600-02-29 18:00:22.123456'": '"1600-02-29 18:00:22.123456"'}),
    Case("timestamp(3) null", {"'2020-07-17 18:00:22.123'": '"2020-07-17 18:00:22.123Z"', "'0000-00-00 00:00:00'": "null"}),
    Case("timestamp(6) null", {"'2038-01-19 03:14:07.999999'": '"2038-01-19 03:14:07.999999Z"'}),
    Case("time", {"'18:00:22'": '"18:00:22"', "'838:59:59'": '"838:59:59"', "'-01:00:00'": '"-01:00:00"', "'-838:59:59'": '"-838:59:59"'}),
    Case("time(3)", {"'18:00:22.123'": '"18:00:22.123"', "'-00:00:00.001'": '"-00:00:00.001"', "'-100:00:01.5'": '"-100:00:01.500"'}),
    Case("time(6)", {"'-01:02:03.000004'": '"-01:02:03.000004"', "'00:00:00'": '"00:00:00.000000"'}),
    Case("year", {"2021": "2021", "1901": "1901", "0": "0"}),
    Case("char(5)", {"'ab  '": '"ab"', "'日本語'": '"日本語"', "''": '""'}),
    Case("char(255)", {"repeat('日', 255)": json.dumps("日" * 255, ensure_ascii=False)}),
    Case("varchar(300)", {"'ab  '": '"ab  "', "repeat('x', 300)": json.dumps("x" * 300), "'q\"\\n'": r'"q\"\n"'}),
    Case("varchar(10) character set latin1", {"'äß€'": '"äß€"', "x'81'": '"\x81"'}),
    Case("varchar(10) character set gbk", {"'中文a'": '"中文a"'}),
    Case("varchar(10) character set utf16", {"'a日😀'": r'"a日\uD83D\uDE00"'}),
    Case("varchar(10) character set ucs2", {"'a日'": '"a日"'}),
    Case("varchar(10) character set utf32", {"'a日😀'": r'"a日\uD83D\uDE00"'}),
    Case("char(10) character set utf16", {"'a  '": '"a"'}),
    Case("varchar(10) character set sjis", {"'日本ｱ'": '"日本ｱ"'}),
    Case("varchar(10) character set big5", {"'中文'": '"中文"'}),
    Case("varchar(10) character set euckr", {"'한국'": '"한국"'}),
    Case("varchar(10) character set koi8r", {"'Привет'": '"Привет"'}),
    Case("varchar(10) character set utf8", {"'日'": '"日"'}),
    Case("text", {"repeat('ü', 30000)": json.dumps("ü" * 30000, ensure_ascii=False)}),
    Case("text character set latin1", {"'ü'": '"ü"'}),
    Case("tinytext", {"'x'": '"x"'}),
    Case("longtext", {"'x'": '"x"'}),
    Case("binary(3)", {"x'0100'": '"AQAA"', "x'000000'": '"AAAA"', "x'010203'": '"AQID"'}),
    Case("varbinary(300)", {"x'0100'": '"AQA="', "''": '""', "x'ff'": '"/w=="'}),
    Case("varchar(5) character set binary", {"x'0102'": '"AQI="'}),
    Case("blob", {"x'00ff'": '"AP8="'}),
    Case("longblob", {"x'00ff'": '"AP8="'}),
    Case("bit(1)", {"1": "true", "0": "false"}),
    Case("bit(10)", {"513": '"AQI="', "0": '"AAA="'}),
    Case("bit(64)", {"72623859790382856": '"CAcGBQQDAgE="'}),
    Case("enum('a','it''s','ü','b\\\\c')", {"'it''s'": '"it\'s"', "'ü'": '"ü"', "'b\\\\c'": r'"b\\c"', "''": '""'}),
    Case("enum('ä','b') character set latin1", {"'ä'": '"ä"'}),
    Case("set('x','y','z')", {"'z,x'": '"x,z"', "''": '""'}),
    Case("point", {"point(1, 1)": r'"{\"coordinates\":[1,1],\"type\":\"Point\",\"srid\":0}"'}),
    Case("linestring", {"linestring(point(3,0), point(3,3), point(3.5,5))": r'"{\"coordinates\":[[3,0],[3,3],[3.5,5]],\"type\":\"LineString\",\"srid\":0}"'}),
    Case("geometry", {
        "st_geomfromtext('POLYGON((1 1,2 1,2 2,1 2,1 1))')": r'"{\"coordinates\":[[[1,1],[2,1],[2,2],[1,2],[1,1]]],\"type\":\"Polygon\",\"srid\":0}"',
        "st_geomfromtext('MULTIPOINT(1 1,2 2)')": r'"{\"coordinates\":[[1,1],[2,2]],\"type\":\"MultiPoint\",\"srid\":0}"',
        "st_geomfromtext('GEOMETRYCOLLECTION(POINT(10 10),LINESTRING(15 15,20 20))')": r'"{\"geometries\":[{\"type\":\"Point\",\"coordinates\":[10,10]},{\"type\":\"LineString\",\"coordinates\":[[15,15],[20,20]]}],\"type\":\"GeometryCollection\",\"srid\":0}"',
    }),
    Case("int default 5", {"default": "5"}),
    Case("int generated always as (id + 1) virtual", {"default": "2"}),
    Case("int generated always as (id + 1) stored", {"default": "2"}),
    Case("uuid", {"'123e4567-e89b-12d3-a456-426655440000'": '"123e4567-e89b-12d3-a456-426655440000"', "'00000000-0000-0000-0000-000000000000'": '"00000000-0000-0000-0000-000000000000"', "'ffffffff-ffff-ffff-ffff-ffffffffff00'": '"ffffffff-ffff-ffff-ffff-ffffffffff00"'}, "mariadb"),
    Case("inet4", {"'192.168.0.1'": '"192.168.0.1"', "'10.0.0.0'": '"10.0.0.0"'}, "mariadb"),
    Case("inet6", {"'2001:db8::1'": '"2001:db8::1"', "'::'": '"::"', "'::ffff:1.2.3.4'": '"::ffff:1.2.3.4"', "'2001:db8::'": '"2001:db8::"', "'1:0:2:0:3:0:4:5'": '"1::2:0:3:0:4:5"', "'1:0:0:2:0:0:0:3'": '"1:0:0:2::3"', "'::1.2.3.4'": '"::1.2.3.4"', "'::1'": '"::1"'}, "mariadb"),
    Case("int invisible", {"7": "7"}, "mariadb"),
    Case("varchar(3000) compressed", {"'x'": '"x"', "repeat('ab', 1000)": json.dumps("ab" * 1000)}, "mariadb"),
    Case("text compressed", {"repeat('ü', 1000)": json.dumps("ü" * 1000, ensure_ascii=False)}, "mariadb"),
    Case("json", {"'{\"a\":1}'": r'"{\"a\":1}"'}, "mariadb"),
    Case("json", {
        """'{"b": [1, 2.5, "x\\\\n"], "a": null}'""": r'"{\"a\": null, \"b\": [1, 2.5, \"x\\n\"]}"',
        "'[]'": '"[]"', "'true'": '"true"', "'\"s\"'": r'"\"s\""',
        "'[1.0, 1e15, 1e16, 1e100, 1e-15, 1e-16, -0.1, 123456789012345678901234]'": '"[1.0, 1e15, 1e16, 1e100, 0.000000000000001, 1e-16, -0.1, 1.2345678901234567e23]"',
        "'[18446744073709551615, -9223372036854775808, 40000, -40000, 3000000000]'": '"[18446744073709551615, -9223372036854775808, 40000, -40000, 3000000000]"',
        "json_array(cast('2020-01-02' as date), cast('-10:00:00.5' as time(6)), cast('2020-01-02 03:04:05' as datetime), 1.50, x'0102', b'1')": r'"[\"2020-01-02\", \"-10:00:00.500000\", \"2020-01-02 03:04:05.000000\", 1.50, \"base64:type15:AQI=\", \"base64:type15:AQ==\"]"',
    }, "mysql"),
]  # fmt: skip


def here(db: Database) -> list[Case]:
    return [case for case in CASES if case.only in ("", "mariadb" if db.mariadb else "mysql")]


def without_collations(schema: TableSchema) -> TableSchema:
    """The default collation of a character set is the server's secret."""
    columns = (
        replace(c, collation=None, charset=c.charset and c.charset.replace("utf8mb3", "utf8")) for c in schema.columns
    )
    return replace(schema, columns=tuple(columns), collation=None)


def test_every_type_from_snapshot_and_binlog(db: Database) -> None:
    """Each case is a table of its own, with a NULL besides its values, and an update that moves the rows again."""
    start = end(db)
    cases = here(db)
    schemas = {}
    for number, case in enumerate(cases):
        table = f"c{number}"
        db.run(f"CREATE TABLE {table} (id int primary key, v {case.type}, w int)")
        rows = [f"({id}, {value}, 0)" for id, value in enumerate(case.values, 1)]
        if "generated" not in case.type:
            rows.append(f"({len(rows) + 1}, NULL, 0)")
        db.run(f"INSERT INTO {table} (id, v, w) VALUES {', '.join(rows)}", f"UPDATE {table} SET w = 1")
        schemas[table] = schema_of(db, table)
    parts = changes(db, start, *schemas.values())
    by_table: dict[str, list[TableChanges]] = {table: [] for table in schemas}
    for part in parts:
        if isinstance(part, TableChanges):
            by_table[part.schema.id.table].append(part)
        else:
            # what the statement says is what the server then declares
            assert part.after
            assert without_collations(part.after) == without_collations(schemas[part.table.table])
    for number, case in enumerate(cases):
        table = f"c{number}"
        schema = schemas[table]
        expected = list(case.values.values()) + ([] if "generated" in case.type else ["null"])
        lines = [f'{{"id":{id},"v":{text},"w":1}}' for id, text in enumerate(expected, 1)]
        assert json_texts(schema, snapshot(db, schema)) == lines, case
        assert json_texts(schema, images(by_table[table], RowKind.UPDATE_AFTER)) == lines, case
        before = [line.replace('"w":1', '"w":0') for line in lines]
        assert json_texts(schema, images(by_table[table], RowKind.UPDATE_BEFORE)) == before, case
        assert json_texts(schema, images(by_table[table], RowKind.INSERT)) == before, case


def test_zero_dates_are_counted(db: Database) -> None:
    start = end(db)
    db.run("CREATE TABLE t (id int primary key, d date NOT NULL, m datetime(2), s timestamp NULL)")
    db.run("INSERT INTO t VALUES (1, 0, 0, 0), (2, '2020-01-01', NULL, NULL), (3, '2020-01-00', 0, '2020-01-01')")
    schema = schema_of(db, "t")
    _, part = changes(db, start, schema)
    assert isinstance(part, TableChanges)
    assert part.zero_dates == 5
    assert part.rows.to_pylist() == snapshot(db, schema).to_pylist()


def test_tinyint_may_stay_a_number(mariadb: Database) -> None:
    mariadb.run("CREATE TABLE t (id int primary key, v tinyint(1), b bit(1))", "INSERT INTO t VALUES (1, 2, 1)")
    schema, reading = schema_of(mariadb, "t"), Reading(tinyint1_as_boolean=False)
    assert [str(field.type) for field in fields(schema, reading)] == ["INT NOT NULL", "TINYINT", "BOOLEAN"]
    assert snapshot(mariadb, schema, reading=reading).to_pylist() == [{"id": 1, "v": 2, "b": True}]


@pytest.mark.parametrize("zone", ["+00:00", "-07:30"])
def test_the_time_zone_of_a_writer_changes_nothing(db: Database, zone: str) -> None:
    start = end(db)
    db.run("CREATE TABLE t (id int primary key, d datetime, s timestamp NULL)", f"SET time_zone = '{zone}'")
    db.run("INSERT INTO t VALUES (1, '2020-01-01 10:00:00', '2020-01-01 10:00:00')", "SET time_zone = '+00:00'")
    schema = schema_of(db, "t")
    seen = {"+00:00": "10:00:00", "-07:30": "17:30:00"}[zone]
    expected = [f'{{"id":1,"d":"2020-01-01 10:00:00","s":"2020-01-01 {seen}Z"}}']
    assert json_texts(schema, snapshot(db, schema)) == expected
    assert json_texts(schema, images(changes(db, start, schema), RowKind.INSERT)) == expected
