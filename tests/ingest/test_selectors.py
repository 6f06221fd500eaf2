"""Both pattern languages of job files (spec 1.6, Y19)."""

from __future__ import annotations

import re

import pytest

from rowkind.ingest.selectors import doubtful, route_pattern, selectors

TABLES = ("shop.orders", "shop.orders_1", "shop.orders_12", "Shop.Orders", "shop2.orders", "a.b", "ab.cd", "web.x")

MATCHED = [
    # text, tables of a selector, tables of a route pattern
    ("shop.orders", "shop.orders Shop.Orders", "shop.orders"),
    ("shop.orders,a.b", "shop.orders Shop.Orders a.b", "shop.orders a.b"),
    (" shop.orders , , a.b , ", "shop.orders Shop.Orders a.b", "shop.orders a.b"),
    (r"shop.\.*", "shop.orders shop.orders_1 shop.orders_12 Shop.Orders", "shop.orders shop.orders_1 shop.orders_12"),
    (r"\.*.orders", "shop.orders Shop.Orders shop2.orders", "shop.orders shop2.orders"),
    (r"\.*.\.*", " ".join(TABLES), " ".join(TABLES)),
    (r"shop.orders_\d{1}", "shop.orders_1", "shop.orders_1"),
    (r"shop.orders_\d{1\,2}", "shop.orders_1 shop.orders_12", "shop.orders_1 shop.orders_12"),
    (r"shop[0-9]?.(orders|items)", "shop.orders Shop.Orders shop2.orders", "shop.orders shop2.orders"),
    (r"(a|web).\.+", "a.b web.x", "a.b web.x"),
    (r"shop.order", "", ""),
    (r"shop.orders_[[:]", None, None),
    (r"\w\.cd", None, ""),
    (r"a.b\.", "", ""),
    (r"(?i)SHOP.orders", "shop.orders Shop.Orders", "shop.orders Shop.Orders"),
]


def found(matches: object, names: tuple[str, ...] = TABLES) -> str:
    return " ".join(name for name in names if matches(*name.split(".")))  # type: ignore[operator]


@pytest.mark.parametrize(("text", "selected", "routed"), MATCHED, ids=[m[0] for m in MATCHED])
def test_matches(text: str, selected: str | None, routed: str | None) -> None:
    for parse, expected in ((selectors, selected), (route_pattern, routed)):
        if expected is None:
            with pytest.raises(ValueError, match=r"class|parts|names no database"):
                parse(text)
        else:
            assert found(parse(text).matches) == expected


REFUSED = [
    # text, words about a selector, words about a route pattern
    ("", "no table", "no table"),
    (" , ", "no table", "no table"),
    ("*", r"write '\.*.\.*'", r"write '\.*.\.*'"),
    ("shop.*", r"write 'shop.\.*'", r"write 'shop.\.*'"),
    ("*.orders", r"write '\.*.orders'", r"write '\.*.orders'"),
    ("orders", "write 'database.orders'", "write 'database.orders'"),
    (r"\.*", r"'\.*.\.*'", r"write '\.*.\.*'"),
    ("shop.", "empty part", "empty part"),
    (".orders", "empty part", "empty part"),
    ("a.b.c", "three parts", None),
    ("a.b.c.d", "4 parts", None),
    ("shop.orders{1,3}", r"'\,'", r"'\,'"),
    ("shop.(orders", "regular expression", "regular expression"),
    ("shop.orders\\", "backslash", "backslash"),
    (r"shop.[a&&b]", "intersection", "intersection"),
]


@pytest.mark.parametrize(("text", "selector", "route"), REFUSED, ids=[r[0] for r in REFUSED])
def test_refused_with_the_right_form(text: str, selector: str, route: str | None) -> None:
    for parse, words in ((selectors, selector), (route_pattern, route)):
        if words is None:
            continue
        with pytest.raises(ValueError, match=re.escape(words)):
            parse(text)


def test_classes_that_are_rarely_meant() -> None:
    assert list(doubtful("[app|web].orders,x.[a-z]")) == [
        "'[app|web]' matches one character; an alternative is written '(app|web)'"
    ]
