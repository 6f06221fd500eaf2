"""Transforms (spec 1.4, Y15, Y16): from a rule and a table to a SELECT."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from rowkind.errors import RowkindError
from rowkind.ingest.transforms import Transform, transformed
from rowkind.sql import parse_query, render
from tests.ingest.jobs import job, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ORDERS = table("shop.orders", "id BIGINT NOT NULL, version STRING, amount DECIMAL(10, 2), active BOOLEAN", "id")
PAIRS = table("shop.pairs", "a INT NOT NULL, b INT NOT NULL, c STRING", "b", "a")


def applied(of: Any = ORDERS, *rules: dict[str, str], **given: Any) -> Transform:
    made = job(transform=[{"source-table": r"shop.\.*"} | rule for rule in rules], sink_type="print", **given)
    return transformed(made.transforms, of, made.source.metadata, made.pipeline.trim_keys)


ALL = "`id` AS `id`, `version` AS `version`, `amount` AS `amount`, `active` AS `active`"
SELECTED = [
    # projection, filter, select list, condition
    (None, None, ALL, None),
    ("*", None, ALL, None),
    (r"\*", None, ALL, None),
    ("orders.*", None, ALL, None),
    ("id, amount", None, "id AS `id`, amount AS `amount`", None),
    ("amount AS total, id", None, "amount AS `total`, id AS `id`", None),
    (r"\*, amount * 2 AS twice", None, f"{ALL}, amount * 2 AS `twice`", None),
    ("amount * 2 AS twice, *", None, f"amount * 2 AS `twice`, {ALL}", None),
    (
        r"\*, CONCAT('v', version) AS version",
        None,
        "`id` AS `id`, CONCAT('v', version) AS `version`, `amount` AS `amount`, `active` AS `active`",
        None,
    ),
    ("id, 1 AS x, 2 AS x", None, "id AS `id`, 2 AS `x`", None),
    (r"id, '\*' AS x", None, r"id AS `id`, '\*' AS `x`", None),
    ("*", "amount > 10", ALL, "amount > 10"),
    (r"\*, amount * 2 AS twice", "twice > 10", f"{ALL}, amount * 2 AS `twice`", "(amount * 2) > 10"),
    ("id", "amount > 10 AND NOT active", "id AS `id`", "amount > 10 AND NOT active"),
    (
        r"\*, UPPER(version) AS version",
        "version LIKE 'V%'",
        "`id` AS `id`, UPPER(version) AS `version`, `amount` AS `amount`, `active` AS `active`",
        "(UPPER(version)) LIKE 'V%'",
    ),
    (
        "id, __schema_name__ || '.' || __table_name__ AS origin, __namespace_name__ AS ns",
        "__table_name__ = 'orders'",
        "id AS `id`, 'shop' || '.' || 'orders' AS `origin`, CAST(NULL AS STRING) AS `ns`",
        "'orders' = 'orders'",
    ),
    ("id, __table_name__", None, "id AS `id`, 'orders' AS `__table_name__`", None),
    (
        "id, CASE WHEN active THEN 'y' ELSE 'n' END AS a, CAST(amount AS INT) AS i",
        "version IS NOT NULL AND id BETWEEN 1 AND 5",
        "id AS `id`, CASE WHEN active THEN 'y' ELSE 'n' END AS `a`, CAST(amount AS INT) AS `i`",
        "NOT version IS NULL AND id BETWEEN 1 AND 5",
    ),
]


@pytest.mark.parametrize(
    ("projection", "filter", "items", "condition"), SELECTED, ids=[f"{s[0]} {s[1]}" for s in SELECTED]
)
def test_select(projection: str | None, filter: str | None, items: str, condition: str | None) -> None:
    rule = {k: v for k, v in (("projection", projection), ("filter", filter)) if v is not None}
    found = applied(ORDERS, rule)
    assert found.text == f"SELECT {items} FROM `orders`" + (f" WHERE {condition}" if condition else "")
    assert render(parse_query(found.text)) == found.text
    assert found.primary_key == ("id",)


def test_a_table_that_no_rule_is_for() -> None:
    found = transformed((), ORDERS)
    assert (found.text, found.primary_key, found.soft_delete) == (f"SELECT {ALL} FROM `orders`", ("id",), False)


def test_the_first_rule_that_matches_counts() -> None:
    """Y16: the second is not tried, even for rows that the first one's filter leaves out."""
    rules = ({"source-table": "shop.other", "filter": "FALSE"}, {"filter": "active"}, {"filter": "NOT active"})
    assert applied(ORDERS, *rules).text.endswith("WHERE active")
    assert applied(ORDERS, {"source-table": "SHOP.ORDERS", "filter": "active"}).condition is not None


@pytest.mark.parametrize(
    ("rule", "metadata", "needs"),
    [
        ({"filter": "__data_event_type__ <> '-D'"}, None, {"__data_event_type__"}),
        ({"projection": r"\*, __data_event_type__ AS kind"}, None, {"__data_event_type__"}),
        ({"projection": r"\*, op_ts AS changed"}, "op_ts", {"op_ts"}),
        ({"projection": r"\*"}, "op_ts", set()),
    ],
)
def test_columns_that_the_scan_has_to_give(rule: dict[str, str], metadata: str | None, needs: set[str]) -> None:
    found = applied(ORDERS, rule, source={"metadata.list": metadata})
    assert found.needs == needs
    assert [name for name, _ in found.items][:4] == ["id", "version", "amount", "active"]


def test_a_column_of_the_table_goes_before_metadata() -> None:
    own = table("shop.own", "id INT, op_ts STRING", "id")
    assert applied(own, {"projection": "id, op_ts"}, source={"metadata.list": "op_ts"}).needs == set()


KEYS = [
    # table, rule, pipeline, key or condition
    (PAIRS, {}, False, ("b", "a")),
    (PAIRS, {"projection": "a, b"}, False, ("b", "a")),
    (PAIRS, {"projection": "a, c"}, False, "INGEST_KEY_TRIMMED"),
    (PAIRS, {"projection": "a, c"}, True, ("a",)),
    (PAIRS, {"projection": "c"}, True, ()),
    (PAIRS, {"projection": "c", "primary-keys": "c"}, False, "INGEST_KEY_TRIMMED"),
    (PAIRS, {"projection": "c", "primary-keys": "c"}, True, ("c",)),
    (PAIRS, {"projection": "a AS x, b"}, False, "INGEST_KEY_TRIMMED"),
    (PAIRS, {"primary-keys": "c, a"}, False, ("c", "a")),
    (PAIRS, {"primary-keys": "d"}, False, "INGEST_TRANSFORM_COLUMN"),
    (PAIRS, {"projection": r"\*, __table_name__ AS t", "primary-keys": "t,b,a"}, False, ("t", "b", "a")),
    (PAIRS, {"projection": r"\*, a + 1 AS a"}, False, ("b", "a")),
    (PAIRS, {"projection": r"\*, UUID() AS u", "primary-keys": "u"}, False, "INGEST_KEY_VARIES"),
    (PAIRS, {"projection": r"\*, NOW() AS a"}, False, "INGEST_KEY_VARIES"),
    (PAIRS, {"projection": r"\*, UNIX_TIMESTAMP() AS a"}, False, "INGEST_KEY_VARIES"),
    (PAIRS, {"projection": r"\*, __data_event_type__ AS a"}, False, "INGEST_KEY_VARIES"),
]


@pytest.mark.parametrize(("of", "rule", "trim", "expected"), KEYS, ids=[str(k[1]) + str(k[2]) for k in KEYS])
def test_keys(of: Any, rule: dict[str, str], trim: bool, expected: tuple[str, ...] | str) -> None:
    pipeline = {"transform.allow.trimming.pk-columns": "true"} if trim else None
    if isinstance(expected, str):
        with pytest.raises(RowkindError) as caught:
            applied(of, rule, pipeline=pipeline)
        assert caught.value.condition == expected
    else:
        assert applied(of, rule, pipeline=pipeline).primary_key == expected


def test_a_key_that_lost_a_column_is_named() -> None:
    found = applied(PAIRS, {"projection": "a, c"}, pipeline={"transform.allow.trimming.pk-columns": "true"})
    assert "lacks b" in found.notes[0]


@pytest.mark.parametrize(
    ("rule", "condition", "words"),
    [
        ({"projection": "id, amuont"}, "INGEST_TRANSFORM_COLUMN", "'amount'"),
        ({"filter": "nothing = 1"}, "INGEST_TRANSFORM_COLUMN", "shop.orders"),
        ({"projection": "id, op_ts"}, "INGEST_TRANSFORM_COLUMN", "metadata.list: op_ts"),
        ({"projection": "id, items.*"}, "INGEST_TRANSFORM_COLUMN", "items.*"),
        ({"projection": "id, amount + 1"}, "INGEST_TRANSFORM", "AS name"),
        ({"projection": "id, SUM(amount) AS s"}, "INGEST_TRANSFORM", "more than one row"),
        ({"projection": "id, ROW_NUMBER() OVER (ORDER BY id) AS n"}, "INGEST_TRANSFORM", "more than one row"),
        ({"projection": "id, (SELECT 1) AS n"}, "INGEST_TRANSFORM", "subquery"),
        ({"filter": "id IN (SELECT 1)"}, "INGEST_TRANSFORM", "subquery"),
        ({"filter": "EXISTS (SELECT 1)"}, "INGEST_TRANSFORM", "subquery"),
        ({"projection": "id FROM orders"}, "INGEST_TRANSFORM", "list of expressions"),
        ({"projection": "DISTINCT id"}, "INGEST_TRANSFORM", "list of expressions"),
        ({"projection": "id UNION ALL SELECT 2"}, "INGEST_TRANSFORM", "list of expressions"),
        ({"projection": "id,"}, "SQL_SYNTAX", "projection"),
        ({"filter": "id = 1; DROP TABLE x"}, "SQL_SYNTAX", "filter"),
        ({"converter-after-transform": "HARD_DELETE"}, "INGEST_OPTION_VALUE", "SOFT_DELETE"),
        ({"filter": ""}, "INGEST_OPTION_VALUE", "empty"),
    ],
)
def test_refused(rule: dict[str, str], condition: str, words: str) -> None:
    with pytest.raises(RowkindError) as caught:
        applied(ORDERS, rule)
    assert caught.value.condition == condition
    assert words in str(caught.value)
    assert "job.yaml" in str(caught.value)


def test_soft_delete() -> None:
    assert applied(ORDERS, {"converter-after-transform": "SOFT_DELETE"}).soft_delete
    assert applied(ORDERS, {"converter-after-transform": "soft_delete"}).soft_delete
    assert not applied(ORDERS, {"filter": "active"}).soft_delete


@pytest.mark.spark
def test_a_transform_is_the_plan_of_its_select(spark: SparkSession) -> None:
    """The same nodes as SELECT projection FROM table WHERE filter, with types."""
    from rowkind.catalog.catalog import Catalog
    from rowkind.options.session_values import SessionOptions
    from rowkind.runtime.driver.planning import Planner
    from rowkind.runtime.driver.spark_analyzer import SparkAnalyzer
    from rowkind.sql import parse_script
    from rowkind.sql.errors import Source

    catalog = Catalog()
    columns = ", ".join(f"`{c.name}` {c.type}" for c in ORDERS.columns)
    options = "'connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'nowhere:1', 'format' = 'json'"
    (create,) = parse_script(f"CREATE TABLE orders ({columns}) WITH ({options})")
    catalog.create_table(create.definition)  # type: ignore[union-attr]
    found = applied(
        ORDERS,
        {
            "projection": r"\*, amount * 2 AS twice, UPPER(version) AS version, __table_name__ AS t",
            "filter": "twice > 10 AND version LIKE 'V%'",
        },
    )
    written = (
        "SELECT id, UPPER(version) AS version, amount, active, amount * 2 AS twice, 'orders' AS t FROM orders "
        "WHERE (amount * 2) > 10 AND (UPPER(version)) LIKE 'V%'"
    )
    plans = [
        Planner(catalog, SparkAnalyzer(spark), SessionOptions(), Source(text)).query(parse_query(text))
        for text in (found.text, written)
    ]
    assert [str(c.type) for c in plans[0].columns] == [str(c.type) for c in plans[1].columns]
    assert [c.name for c in plans[0].columns] == ["id", "version", "amount", "active", "twice", "t"]
    assert [type(node).__name__ for node in (plans[0], plans[0].inputs[0])] == ["Project", "Filter"]
