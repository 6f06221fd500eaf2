"""Options that change nothing where they stand are named in a warning, and no others are."""

from __future__ import annotations

import pytest

from rowkind.connectors.settings import Side
from rowkind.definitions import TableDefinition
from rowkind.options.session_values import SessionOptions
from tests.catalog.tables import KEYED, REMOVED, append, resolve, upsert

SOURCE, SINK = Side.SOURCE, Side.SINK
EXACTLY_ONCE = {"sink.delivery-guarantee": "exactly-once", "sink.transactional-id-prefix": "p"}
BOUNDED = {"scan.bounded.mode": "latest-offset"}
OFFSETS = "partition:0,offset:1"


def idle(definition: TableDefinition, side: Side) -> list[str]:
    """The options that the warnings name as without effect."""
    _, warnings = resolve(definition, SessionOptions(), side)
    return [w.partition(": ")[2].partition(" has no effect: ")[0] for w in warnings if "has no effect" in w]


@pytest.mark.parametrize(
    ("definition", "side", "named"),
    [
        (append({"scan.startup.timestamp-millis": "1"}), SOURCE, "'scan.startup.timestamp-millis'"),
        (append({"scan.startup.specific-offsets": OFFSETS}), SOURCE, "'scan.startup.specific-offsets'"),
        (append({"scan.bounded.timestamp-millis": "1"}), SOURCE, "'scan.bounded.timestamp-millis'"),
        (upsert({"scan.bounded.specific-offsets": OFFSETS, **BOUNDED}), SOURCE, "'scan.bounded.specific-offsets'"),
        (append({"properties.auto.offset.reset": "latest"}), SOURCE, "'properties.auto.offset.reset'"),
        (upsert({"properties.auto.offset.reset": "latest"}), SOURCE, "'properties.auto.offset.reset'"),
        (
            append({"scan.topic-partition-discovery.interval": "1 s", **BOUNDED}),
            SOURCE,
            "'scan.topic-partition-discovery.interval'",
        ),
        (upsert({"scan.on-missing-topic": "wait", **BOUNDED}), SOURCE, "'scan.on-missing-topic'"),
        (
            append({"topic": REMOVED, "topic-pattern": "t.*", "scan.on-missing-topic": "fail"}),
            SOURCE,
            "'scan.on-missing-topic'",
        ),
        (append({"scan.watermark.idle-timeout": "1 s"}), SOURCE, "'scan.watermark.idle-timeout'"),
        (append({"sink.transactional-id-prefix": "p"}), SINK, "'sink.transactional-id-prefix'"),
        (upsert({"sink.transaction-naming-strategy": "POOLING"}), SINK, "'sink.transaction-naming-strategy'"),
        (append({"value.fields-include": "EXCEPT_KEY"}), SINK, "'value.fields-include' = 'EXCEPT_KEY'"),
        (append({"value.fields-include": "except_key"}), SOURCE, "'value.fields-include' = 'EXCEPT_KEY'"),
    ],
)
def test_an_option_that_changes_nothing_is_named(definition: TableDefinition, side: Side, named: str) -> None:
    assert idle(definition, side) == [named]


@pytest.mark.parametrize(
    ("definition", "side"),
    [
        (append(), SOURCE),
        (append(), SINK),
        (upsert(), SOURCE),
        (upsert(), SINK),
        (append({"scan.startup.mode": "timestamp", "scan.startup.timestamp-millis": "1"}), SOURCE),
        (append({"scan.bounded.mode": "specific-offsets", "scan.bounded.specific-offsets": OFFSETS}), SOURCE),
        (append({"scan.startup.mode": REMOVED, "properties.auto.offset.reset": "earliest"}), SOURCE),
        (append({"scan.topic-partition-discovery.interval": "1 s", "scan.on-missing-topic": "fail"}), SOURCE),
        (append({**KEYED, "value.fields-include": "EXCEPT_KEY", "value.format": "plain", "format": REMOVED}), SINK),
        (upsert({"value.fields-include": "EXCEPT_KEY"}), SINK),
        (append(EXACTLY_ONCE), SINK),
        # Options of the other side belong to other statements.
        (append({"sink.transactional-id-prefix": "p"}), SOURCE),
        (append({"scan.startup.timestamp-millis": "1"}), SINK),
    ],
)
def test_an_option_that_counts_is_not(definition: TableDefinition, side: Side) -> None:
    assert idle(definition, side) == []
