"""CREATE TABLE … LIKE."""

from __future__ import annotations

import pytest

from rowkind.catalog.catalog import Catalog
from rowkind.definitions import (
    Column,
    ComputedColumn,
    MetadataColumn,
    PhysicalColumn,
    TableDefinition,
    ViewDefinition,
    Watermark,
)
from rowkind.errors import RowkindError
from rowkind.sql.statements import Like, Merge
from rowkind.types import BIGINT, INT, STRING, timestamp, timestamp_ltz

SOURCE = TableDefinition(
    "base",
    (
        PhysicalColumn("id", BIGINT),
        PhysicalColumn("ts", timestamp(3)),
        ComputedColumn("double_id", "id * 2"),
        MetadataColumn("at", timestamp_ltz(3), "timestamp"),
    ),
    {"connector": "kafka", "topic": "a", "format": "json"},
    primary_key=("id",),
    constraint="pk",
    watermark=Watermark("ts", "ts"),
)
INCLUDING, EXCLUDING, OVERWRITING = Merge.INCLUDING, Merge.EXCLUDING, Merge.OVERWRITING


def like(
    *choices: tuple[Merge, str],
    columns: tuple[Column, ...] = (),
    options: dict[str, str] | None = None,
    primary_key: tuple[str, ...] = (),
    watermark: Watermark | None = None,
) -> TableDefinition:
    catalog = Catalog()
    catalog.create_table(SOURCE)
    new = TableDefinition("new", columns, options or {}, primary_key=primary_key, watermark=watermark)
    catalog.create_table(new, like=Like("base", choices))
    return catalog.table("new", "the test")


def refused(*choices: tuple[Merge, str], **kwargs: object) -> str:
    with pytest.raises(RowkindError) as caught:
        like(*choices, **kwargs)  # type: ignore[arg-type]
    return caught.value.condition


def names(table: TableDefinition) -> list[str]:
    return [c.name for c in table.columns]


def test_everything_is_taken_over_by_default() -> None:
    table = like(columns=(PhysicalColumn("more", INT),), options={"topic": "b"})
    assert names(table) == ["id", "ts", "double_id", "at", "more"]
    assert table.options == {"connector": "kafka", "topic": "b", "format": "json"}
    assert (table.primary_key, table.constraint, table.watermark) == (("id",), "pk", SOURCE.watermark)


def test_excluding_all_keeps_physical_columns_only() -> None:
    table = like((EXCLUDING, "ALL"), options={"connector": "upsert-kafka"})
    assert names(table) == ["id", "ts"]
    assert table.options == {"connector": "upsert-kafka"}
    assert (table.primary_key, table.watermark) == ((), None)


def test_a_named_feature_goes_before_all() -> None:
    table = like((EXCLUDING, "ALL"), (INCLUDING, "CONSTRAINTS"))
    assert table.primary_key == ("id",)
    assert table.options == {}


@pytest.mark.parametrize(("feature", "left"), [("GENERATED", "at"), ("METADATA", "double_id")])
def test_excluding_columns(feature: str, left: str) -> None:
    assert names(like((EXCLUDING, feature))) == ["id", "ts", left]


def test_including_options_refuses_a_key_twice() -> None:
    assert refused((INCLUDING, "OPTIONS"), options={"topic": "b"}) == "LIKE_OPTION"
    assert refused((INCLUDING, "ALL"), options={"topic": "b"}) == "LIKE_OPTION"
    assert like((INCLUDING, "OPTIONS"), options={"new": "b"}).options["new"] == "b"


def test_overwriting_columns_keeps_their_place() -> None:
    computed = like((OVERWRITING, "GENERATED"), columns=(ComputedColumn("double_id", "id + id"),))
    assert computed.columns[2] == ComputedColumn("double_id", "id + id")
    read = like((OVERWRITING, "METADATA"), columns=(MetadataColumn("at", STRING, "topic", virtual=True),))
    assert read.columns[3] == MetadataColumn("at", STRING, "topic", virtual=True)


@pytest.mark.parametrize(
    "column",
    [
        PhysicalColumn("id", INT),
        PhysicalColumn("at", INT),
        ComputedColumn("id", "1"),
        ComputedColumn("double_id", "1"),
        MetadataColumn("at", STRING, "topic"),
    ],
)
def test_columns_are_not_overwritten_by_default(column: Column) -> None:
    assert refused(columns=(column,)) == "LIKE_COLUMN"


def test_a_column_is_overwritten_by_its_own_kind_only() -> None:
    assert refused((OVERWRITING, "GENERATED"), columns=(ComputedColumn("at", "1"),)) == "LIKE_COLUMN"
    assert refused((OVERWRITING, "GENERATED"), columns=(PhysicalColumn("double_id", INT),)) == "LIKE_COLUMN"


def test_one_primary_key() -> None:
    assert refused(primary_key=("ts",)) == "LIKE_PRIMARY_KEY"
    assert like((EXCLUDING, "CONSTRAINTS"), primary_key=("ts",)).primary_key == ("ts",)


def test_one_watermark() -> None:
    own = Watermark("ts", "ts - INTERVAL '1' SECOND")
    assert refused(watermark=own) == "LIKE_WATERMARK"
    assert like((OVERWRITING, "WATERMARKS"), watermark=own).watermark == own
    assert like((EXCLUDING, "WATERMARKS")).watermark is None


@pytest.mark.parametrize("feature", ["ALL", "CONSTRAINTS", "PARTITIONS", "DISTRIBUTION"])
def test_some_features_cannot_be_overwritten(feature: str) -> None:
    assert refused((OVERWRITING, feature)) == "LIKE_CHOICE"


def test_each_feature_once() -> None:
    assert refused((INCLUDING, "OPTIONS"), (EXCLUDING, "OPTIONS")) == "LIKE_CHOICE_TWICE"


def test_the_source_is_a_table_that_exists() -> None:
    catalog = Catalog()
    catalog.create_view(ViewDefinition("v", "SELECT 1"))
    for source, condition in (("v", "NOT_A_TABLE"), ("nothing", "NO_SUCH_TABLE")):
        with pytest.raises(RowkindError) as caught:
            catalog.create_table(TableDefinition("new", ()), like=Like(source))
        assert caught.value.condition == condition


def test_the_merged_definition_is_checked() -> None:
    watermark = Watermark("at", "at")
    assert refused((EXCLUDING, "METADATA"), (OVERWRITING, "WATERMARKS"), watermark=watermark) == (
        "WATERMARK_COLUMN_MISSING"
    )
