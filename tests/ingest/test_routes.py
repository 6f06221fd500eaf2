"""Routes (spec 1.3) and where tables go (Y5, Y6, Y10, Y12, Y14)."""

from __future__ import annotations

from typing import Any

import pytest

from rowkind.errors import RowkindError
from rowkind.ingest.modes import RouteMode
from rowkind.ingest.planned import planned_tables, selected
from rowkind.ingest.routes import Route, routed
from rowkind.ingest.selectors import route_pattern
from rowkind.ingest.tables import TableId
from tests.ingest.jobs import ALIYUN, job, table

TARGETS = [
    # source-table, sink-table, replace-symbol, table, id
    ("shop.orders", "orders", None, "shop.orders", "orders"),
    ("shop.orders", "dwd.orders", None, "shop.orders", "dwd.orders"),
    ("shop.orders", "a.b.c", None, "shop.orders", "a.b.c"),
    (r"shop.\.*", "ods_<>", "<>", "shop.orders", "ods_orders"),
    (r"shop.\.*", "<>", "<>", "shop.orders", "orders"),
    (r"shop.\.*", "<>.<>", "<>", "shop.orders", "orders.orders"),
    (r"shop.\.*", "$1", "<>", "shop.orders", "$1"),
    (r"(\.*).(\.*)", "$1-$2", None, "shop.orders", "shop-orders"),
    (r"shop.orders_(\d+)", "orders", None, "shop.orders_7", "orders"),
    (r"shop.orders_(\d+)", "o$1", None, "shop.orders_7", "o7"),
    (r"shop.(o)rders_(\d+)", "$2$1", None, "shop.orders_7", "7o"),
    (r"shop.(o)rders", "$10", None, "shop.orders", "o0"),
    (r"shop.(?<rest>\.*)", "x-$${rest}", None, "shop.orders", "x-orders"),
    (r"shop.(a)?(\.*)", "$1$2", None, "shop.orders", "orders"),
    ("shop.orders", r"a\$1", None, "shop.orders", "a$1"),
    ("shop.orders,shop.items", "all", None, "shop.items", "all"),
    ("shop.a,shop.ab", "x", None, "shop.ab", "x"),
    ("shop.(a),shop.(b)", "t$1$2", None, "shop.b", "tb"),
    (r"\.*.\.*", "X", None, "shop.orders", "X"),
]


@pytest.mark.parametrize(("source", "target", "symbol", "name", "id"), TARGETS, ids=[f"{t[0]} {t[1]}" for t in TARGETS])
def test_targets(source: str, target: str, symbol: str | None, name: str, id: str) -> None:
    rule = {"source-table": source, "sink-table": target} | ({"replace-symbol": symbol} if symbol else {})
    made = job(route=[rule], sink_type="print")
    database, _, bare = name.partition(".")
    assert [found.text for found in routed(made.routes, RouteMode.ALL_MATCH, database, bare)] == [id]


REFUSED = [
    ("shop.orders", "a.b.c.d", None, "namespace.schema.table"),
    ("shop.orders", "a..b", None, "namespace.schema.table"),
    ("shop.orders", ".a", None, "namespace.schema.table"),
    ("shop.orders", "$1", None, "no $1"),
    ("shop.(o)rders", "$2", None, "no $2"),
    ("shop.orders", "a$", None, r"\$"),
    ("shop.orders", "$x", None, r"\$"),
    ("shop.orders", "a\\", None, "backslash"),
    ("shop.orders", "$${rest}", None, "'rest'"),
    ("shop.orders", "a.b.c.d", "<>", "namespace.schema.table"),
]


@pytest.mark.parametrize(("source", "target", "symbol", "words"), REFUSED)
def test_refused_targets(source: str, target: str, symbol: str | None, words: str) -> None:
    rule = {"source-table": source, "sink-table": target} | ({"replace-symbol": symbol} if symbol else {})
    with pytest.raises(RowkindError) as caught:
        job(route=[rule])
    assert caught.value.condition == "INGEST_ROUTE_TARGET"
    assert words in str(caught.value)
    assert caught.value.params["line"] == 13


def test_an_empty_symbol_is_refused() -> None:
    with pytest.raises(RowkindError) as caught:
        job(route=[{"source-table": "a.b", "sink-table": "c", "replace-symbol": ""}])
    assert caught.value.condition == "INGEST_OPTION_VALUE"


def test_a_target_that_only_a_table_shows_to_be_wrong() -> None:
    route = Route(route_pattern(r"shop.(\.*)"), "a.b.$1")
    with pytest.raises(RowkindError) as caught:
        route.of("shop", "x.y")
    assert caught.value.condition == "INGEST_ROUTE_TARGET"


RULES = tuple(
    Route(route_pattern(source), target)
    for source, target in ((r"shop.o\.*", "one"), (r"shop.\.*", "two"), ("a.b", "one"))
)


@pytest.mark.parametrize(
    ("mode", "name", "ids"),
    [
        (RouteMode.ALL_MATCH, "shop.orders", ["one", "two"]),
        (RouteMode.FIRST_MATCH, "shop.orders", ["one"]),
        (RouteMode.ALL_MATCH, "shop.items", ["two"]),
        (RouteMode.ALL_MATCH, "a.b", ["one"]),
        (RouteMode.ALL_MATCH, "c.d", ["c.d"]),
        (RouteMode.FIRST_MATCH, "c.d", ["c.d"]),
        (RouteMode.ALL_MATCH, "Shop.orders", ["Shop.orders"]),
    ],
)
def test_which_rules_apply(mode: RouteMode, name: str, ids: list[str]) -> None:
    assert [id.text for id in routed(RULES, mode, *name.split("."))] == ids


def test_two_rules_with_one_target_write_a_row_once() -> None:
    twice = (RULES[0], Route(route_pattern("shop.orders"), "one"))
    assert [id.text for id in routed(twice, RouteMode.ALL_MATCH, "shop", "orders")] == ["one"]


@pytest.mark.parametrize(
    ("text", "headers"),
    [
        ("orders", (b"", b"", b"orders")),
        ("shop.orders", (b"", b"shop", b"orders")),
        ("n.shop.örders", (b"n", b"shop", "örders".encode())),
    ],
)
def test_headers_of_an_id(text: str, headers: tuple[bytes, ...]) -> None:
    names = ("namespace", "schemaName", "tableName")
    assert TableId.of(text).headers == tuple(zip(names, headers, strict=True))


ORDERS = table("shop.orders", "id BIGINT, note STRING", "id")
ITEMS = table("shop.items", "id INT, price DECIMAL(10, 2)", "id")
LOG = table("shop.log", "line STRING")


def topics(tables: list[Any], **given: Any) -> dict[str, list[str]]:
    planned = planned_tables(job(**given), tables)
    return {topic: [p.table.id for p in found] for topic, found in planned.topics.items()}


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({}, {"shop.orders": ["shop.orders"], "shop.items": ["shop.items"]}),
        (
            {"route": [{"source-table": "shop.orders", "sink-table": "o"}]},
            {"o": ["shop.orders"], "shop.items": ["shop.items"]},
        ),
        (
            {"route": [{"source-table": r"shop.\.*", "sink-table": "all"}]},
            {"all": ["shop.orders", "shop.items"]},
        ),
        ({"sink": {"topic": "all"}}, {"all": ["shop.orders", "shop.items"]}),
        (
            {"sink": {"topic": "all"}, "route": [{"source-table": r"shop.\.*", "sink-table": "x"}]},
            {"all": ["shop.orders", "shop.items"]},
        ),
    ],
)
def test_topics(given: dict[str, Any], found: dict[str, list[str]]) -> None:
    assert topics([ORDERS, ITEMS], **given) == found


def test_a_warning_when_keys_may_collide() -> None:
    """Y10: tables whose keys look the same; keys of other columns never meet."""
    other = table("shop.other", "code STRING, id INT", "code")
    notes = planned_tables(job(sink={"topic": "all"}), [ORDERS, ITEMS, other]).notes
    assert len(notes) == 1
    assert "Topic all gets the rows of shop.orders, shop.items: those with the same (id)" in notes[0]
    assert planned_tables(job(), [ORDERS, ITEMS, other]).notes == ()


def test_a_table_without_a_key() -> None:
    """Y6."""
    with pytest.raises(RowkindError) as caught:
        topics([ORDERS, LOG])
    assert caught.value.condition == "INGEST_TABLE_WITHOUT_KEY"
    assert caught.value.params["table"] == "shop.log"
    skipping = {"sink": {"sink.tables-without-key": "skip"}}
    assert topics([ORDERS, LOG], **skipping) == {"shop.orders": ["shop.orders"]}
    assert "shop.log" in planned_tables(job(**skipping), [LOG]).notes[0]
    keyed = {"transform": [{"source-table": "shop.log", "primary-keys": "line"}]}
    assert topics([LOG], **keyed) == {"shop.log": ["shop.log"]}
    with pytest.raises(RowkindError):
        topics([LOG], sink_type="print")


@pytest.mark.parametrize(
    ("name", "given", "condition"),
    [
        ("shop.größe", {}, "INGEST_TOPIC_NAME"),
        ("shop.a$b", {}, "INGEST_TOPIC_NAME"),
        ("shop." + "x" * 250, {}, "INGEST_TOPIC_NAME"),
        ("shop.orders", {"sink": ALIYUN}, "INGEST_ALIYUN_TOPIC_NAME"),
        (
            "shop.x",
            {"sink": ALIYUN, "route": [{"source-table": r"shop.\.*", "sink-table": "<>", "replace-symbol": "<>"}]},
            "INGEST_ALIYUN_TOPIC_NAME",
        ),
    ],
)
def test_names_that_are_no_topics(name: str, given: dict[str, Any], condition: str) -> None:
    with pytest.raises(RowkindError) as caught:
        topics([table(name, "id INT", "id")], **given)
    assert caught.value.condition == condition
    assert "route" in str(caught.value)


SERVER = [("shop", "orders"), ("shop", "items"), ("mysql", "user"), ("sys", "x"), ("Information_Schema", "tables")]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"tables": r"\.*.\.*"}, [("shop", "orders"), ("shop", "items")]),
        ({"tables": "SHOP.orders"}, [("shop", "orders")]),
        ({"tables": r"shop.\.*", "tables.exclude": "shop.i\\.*"}, [("shop", "orders")]),
        ({"tables": "SHOP.orders,shop.items", "scan.binlog.newly-added-table.enabled": "true"}, [("shop", "items")]),
    ],
)
def test_tables_of_the_server(given: dict[str, str], found: list[tuple[str, str]]) -> None:
    assert selected(job(source=given), SERVER) == found


@pytest.mark.parametrize(
    ("given", "option"),
    [
        ({"tables": "shop.order"}, "tables"),
        ({"tables": "mysql.user"}, "tables"),
        ({"tables": r"shop.\.*", "tables.exclude": r"shop.\.*"}, "tables.exclude"),
    ],
)
def test_no_table_is_left(given: dict[str, str], option: str) -> None:
    with pytest.raises(RowkindError) as caught:
        selected(job(source=given), SERVER)
    assert (caught.value.condition, caught.value.params["option"]) == ("INGEST_NO_TABLES", option)
