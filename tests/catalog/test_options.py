"""How option texts are read, and that each option is declared once."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest

from rowkind.catalog.document import PAGES
from rowkind.connectors.registry import BUILT_IN, connector_named
from rowkind.formats import registry
from rowkind.formats.registry import format_named
from rowkind.options.declarations import boolean, duration, integer, positive, strings
from rowkind.options.secrets import is_secret, masked
from tests.catalog.conftest import ChangeFormat, PlainFormat

CONNECTORS = [connector_named(name, "t") for name in BUILT_IN]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a;b", ("a", "b")),
        ("a; b ", ("a", "b")),
        ("a", ("a",)),
        ("", ()),
        ("'a;b';c", ("a;b", "c")),
        ('"a;b" ; c', ("a;b", "c")),
        ("'it''s'", ("it's",)),
        ("[a, 'b;c']", ("a", "b;c")),
        ("a;b;", ("a", "b")),
        ("[1, 2024-01-01, null]", ("1", "2024-01-01", "null")),
        ("[a", ("[a",)),
    ],
)
def test_lists(text: str, value: tuple[str, ...]) -> None:
    assert strings(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("100 ms", timedelta(milliseconds=100)),
        ("1s", timedelta(seconds=1)),
        ("5 min", timedelta(minutes=5)),
        ("2 D", timedelta(days=2)),
        ("250", timedelta(milliseconds=250)),
        ("-1", timedelta(milliseconds=-1)),
        ("0", timedelta(0)),
    ],
)
def test_durations(text: str, value: timedelta) -> None:
    assert duration(text) == value


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (duration, "s"),
        (duration, "1 week"),
        (boolean, "yes"),
        (integer, "1.5"),
        (positive, "0"),
        (strings, "[a: {]"),
        (strings, "[[a]]"),
    ],
)
def test_bad_texts(parse: object, text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        parse(text)  # type: ignore[operator]


def test_every_option_is_declared_once_per_connector() -> None:
    for connector in CONNECTORS:
        declared = [o.name for o in connector.options.all]
        assert len(declared) == len(set(declared))


def test_every_option_has_a_lower_case_name_and_a_description() -> None:
    for connector in CONNECTORS:
        for option in connector.options.all:
            assert option.name == option.name.lower()
            assert option.description.endswith((".", ")"))


@pytest.mark.parametrize(
    "key",
    [
        "properties.sasl.jaas.config",
        "properties.ssl.keystore.password",
        "properties.ssl.keystore.key",
        "value.avro-confluent.basic-auth.user-info",
        "avro-confluent.bearer-auth.token",
        "properties.rdkafka.ssl.key.pem",
    ],
)
def test_secrets_are_masked(key: str) -> None:
    assert is_secret(key)
    assert masked({key: "x", "topic": "t"}) == {key: "****", "topic": "t"}


@pytest.mark.parametrize("key", ["key.format", "topic", "properties.group.id", "sink.transactional-id-prefix"])
def test_ordinary_options_are_shown(key: str) -> None:
    assert not is_secret(key)


@pytest.mark.parametrize("path", PAGES, ids=str)
def test_generated_pages_are_current(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If this fails: run `python -m rowkind.catalog.document` in the root of the repository."""
    for format in (PlainFormat, ChangeFormat):
        monkeypatch.delitem(registry.BUILT_IN, format.name)
    assert path.read_text("utf-8") == PAGES[path]()


def test_no_option_of_a_table_or_a_format_is_for_later() -> None:
    tables = [o for c in CONNECTORS for o in c.options.all]
    formats = [
        o
        for name in registry.BUILT_IN
        if name not in (PlainFormat.name, ChangeFormat.name)
        for o in format_named(name).options
    ]
    assert len(tables) > 60
    assert len(formats) > 60
    assert [o.name for o in (*tables, *formats) if not o.supported or o.later] == []
