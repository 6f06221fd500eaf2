"""Creating, dropping and showing tables and views."""

from __future__ import annotations

import pytest

from rowkind.catalog.catalog import Catalog
from rowkind.catalog.definition_rules import check_event_time
from rowkind.catalog.inserts import with_hints
from rowkind.catalog.show import Description, describe, describe_fields, show_create_table, show_create_view
from rowkind.definitions import (
    ComputedColumn,
    MetadataColumn,
    PhysicalColumn,
    TableDefinition,
    ViewDefinition,
    Watermark,
)
from rowkind.errors import RowkindError
from rowkind.sql import parse_script
from rowkind.sql.statements import CreateTable, CreateView
from rowkind.types import BIGINT, INT, STRING, Field, row, timestamp, timestamp_ltz
from tests.catalog.tables import append

ORDERS = TableDefinition(
    "orders",
    (
        PhysicalColumn("id", BIGINT, comment="the order's id"),
        PhysicalColumn("it`s", row(("a", INT), ("b", STRING.not_null()))),
        PhysicalColumn("ts", timestamp(3)),
        ComputedColumn("twice", "`id` * 2"),
        MetadataColumn("offset", BIGINT.not_null(), "offset", virtual=True),
        MetadataColumn("at", timestamp_ltz(3), "timestamp"),
    ),
    {"connector": "kafka", "topic": "it's", "properties.sasl.jaas.config": "password"},
    primary_key=("id",),
    constraint="pk",
    watermark=Watermark("ts", "`ts` - INTERVAL '5' SECOND"),
    comment="all orders",
)


def condition(make: object) -> str:
    with pytest.raises(RowkindError) as caught:
        make()  # type: ignore[operator]
    return caught.value.condition


def create(*columns: object, primary_key: tuple[str, ...] = (), watermark: Watermark | None = None) -> None:
    Catalog().create_table(TableDefinition("t", columns, primary_key=primary_key, watermark=watermark))  # type: ignore[arg-type]


def test_create_find_drop() -> None:
    catalog = Catalog()
    assert catalog.create_table(ORDERS)
    assert catalog.create_view(ViewDefinition("v", "SELECT 1"))
    assert catalog.names() == ["orders", "v"]
    assert catalog.names(views_only=True) == ["v"]
    assert catalog.get("orders") is ORDERS
    assert catalog.drop("orders")
    assert catalog.find("orders") is None


def test_names_are_taken_once() -> None:
    catalog = Catalog()
    catalog.create_table(ORDERS)
    assert condition(lambda: catalog.create_table(ORDERS)) == "NAME_TAKEN"
    assert condition(lambda: catalog.create_view(ViewDefinition("orders", "SELECT 1"))) == "NAME_TAKEN"
    assert catalog.create_table(ORDERS, if_not_exists=True) is False
    assert catalog.create_view(ViewDefinition("orders", "SELECT 1"), if_not_exists=True) is False
    assert catalog.get("orders") is ORDERS


def test_names_are_case_sensitive_and_the_nearest_is_suggested() -> None:
    catalog = Catalog()
    catalog.create_table(ORDERS)
    with pytest.raises(RowkindError) as caught:
        catalog.get("Orders")
    assert caught.value.condition == "NO_SUCH_TABLE"
    assert "'orders'" in caught.value.params["suggestion"]


def test_drop_asks_for_the_right_kind() -> None:
    catalog = Catalog()
    catalog.create_table(ORDERS)
    catalog.create_view(ViewDefinition("v", "SELECT 1"))
    assert condition(lambda: catalog.drop("v")) == "NOT_A_TABLE"
    assert condition(lambda: catalog.drop("orders", view=True)) == "NOT_A_VIEW"
    assert condition(lambda: catalog.drop("nothing")) == "NO_SUCH_TABLE"
    assert catalog.drop("nothing", if_exists=True) is False
    assert catalog.drop("v", view=True)


def test_columns_are_distinct_but_case_sensitive() -> None:
    twice = (PhysicalColumn("a", INT), ComputedColumn("a", "1"))
    assert condition(lambda: create(*twice)) == "COLUMN_DEFINED_TWICE"
    create(PhysicalColumn("id", INT), PhysicalColumn("ID", INT))


def test_primary_key_columns() -> None:
    columns = (PhysicalColumn("a", INT), ComputedColumn("c", "1"), MetadataColumn("m", STRING, "topic"))
    assert condition(lambda: create(*columns, primary_key=("b",))) == "PRIMARY_KEY_COLUMN_MISSING"
    assert condition(lambda: create(*columns, primary_key=("c",))) == "PRIMARY_KEY_NOT_PHYSICAL"
    assert condition(lambda: create(*columns, primary_key=("m",))) == "PRIMARY_KEY_NOT_PHYSICAL"
    assert condition(lambda: create(*columns, primary_key=("a", "a"))) == "PRIMARY_KEY_COLUMN_TWICE"


def test_watermark_column() -> None:
    columns = (
        PhysicalColumn("a", INT),
        PhysicalColumn("r", row(("ts", timestamp(3)), ("n", INT))),
        ComputedColumn("c", "TO_TIMESTAMP_LTZ(a, 3)"),
        MetadataColumn("m", timestamp_ltz(3), "timestamp"),
    )
    for name in ("x", "r.x", "a.x"):
        assert condition(lambda n=name: create(*columns, watermark=Watermark(n, n))) in (
            "WATERMARK_COLUMN_MISSING",
            "WATERMARK_COLUMN_TYPE",
        )
    for name in ("a", "r", "r.n"):
        assert condition(lambda n=name: create(*columns, watermark=Watermark(n, n))) == "WATERMARK_COLUMN_TYPE"
    for name in ("c", "m", "r.ts"):
        create(*columns, watermark=Watermark(name, name))


@pytest.mark.parametrize("precision", range(7))
def test_event_time_has_any_precision_that_spark_holds(precision: int) -> None:
    create(PhysicalColumn("ts", timestamp(precision)), watermark=Watermark("ts", "ts"))
    create(PhysicalColumn("ts", timestamp_ltz(precision)), watermark=Watermark("ts", "ts"))


def test_event_time_of_nanoseconds_is_refused() -> None:
    table = TableDefinition("t", (ComputedColumn("ts", "f()"),), watermark=Watermark("ts", "ts"))
    assert condition(lambda: check_event_time(table, timestamp(9))) == "WATERMARK_COLUMN_TYPE"


def test_show_create_table_masks_secrets_and_quotes() -> None:
    assert (
        show_create_table(ORDERS)
        == """\
CREATE TABLE `orders` (
  `id` BIGINT COMMENT 'the order''s id',
  `it``s` ROW<`a` INT, `b` STRING NOT NULL>,
  `ts` TIMESTAMP(3),
  `twice` AS `id` * 2,
  `offset` BIGINT NOT NULL METADATA VIRTUAL,
  `at` TIMESTAMP_LTZ(3) METADATA FROM 'timestamp',
  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND,
  CONSTRAINT `pk` PRIMARY KEY (`id`) NOT ENFORCED
)
COMMENT 'all orders'
WITH (
  'connector' = 'kafka',
  'topic' = 'it''s',
  'properties.sasl.jaas.config' = '****'
)"""
    )


def test_show_create_table_makes_the_same_table_again() -> None:
    text = show_create_table(ORDERS)
    (statement,) = parse_script(text)
    assert isinstance(statement, CreateTable)
    assert show_create_table(statement.definition) == text


def test_show_create_view_makes_the_same_view_again() -> None:
    view = ViewDefinition("v", "SELECT a, b FROM t", columns=("x", "y"), comment="it's", temporary=True)
    text = show_create_view(view)
    (statement,) = parse_script(text)
    assert isinstance(statement, CreateView)
    assert show_create_view(statement.definition) == text


def test_describe() -> None:
    assert describe(ORDERS, {"twice": BIGINT}) == [
        Description("id", "BIGINT", False, key="PRI(id)", comment="the order's id"),
        Description("it`s", "ROW<`a` INT, `b` STRING NOT NULL>", True),
        Description("ts", "TIMESTAMP(3) *ROWTIME*", True, watermark="`ts` - INTERVAL '5' SECOND"),
        Description("twice", "BIGINT", True, extras="AS `id` * 2"),
        Description("offset", "BIGINT", False, extras="METADATA VIRTUAL"),
        Description("at", "TIMESTAMP_LTZ(3)", True, extras="METADATA FROM 'timestamp'"),
    ]


def test_describe_a_view() -> None:
    assert describe_fields([Field("a", INT.not_null())]) == [Description("a", "INT", False)]


def test_hints_replace_options_but_not_the_connector() -> None:
    hinted = with_hints(append(), {"TOPIC": "other", "scan.parallelism": "2"})
    assert {k.lower(): v for k, v in hinted.options.items()}["topic"] == "other"
    assert "topic" not in hinted.options
    assert condition(lambda: with_hints(append(), {"connector": "upsert-kafka"})) == "HINT_CHANGES_CONNECTOR"
    assert with_hints(append(), {"connector": "kafka"}).options["connector"] == "kafka"


def test_describe_marks_processing_time() -> None:
    table = TableDefinition("t", (ComputedColumn("now", "PROCTIME()"),))
    (line,) = describe(table, {"now": timestamp_ltz(3).not_null()})
    assert (line.type, line.null) == ("TIMESTAMP_LTZ(3) *PROCTIME*", False)
