"""What a resolved table holds."""

from __future__ import annotations

import pickle
from datetime import timedelta

import pytest

from rowkind.connectors.kafka.source_options import STARTUP_MODE, BoundedMode, OnDataLoss, StartupMode
from rowkind.connectors.kafka.startup import Bounded, Startup
from rowkind.connectors.kafka.table_options import VALUE_FIELDS_INCLUDE, FieldsInclude
from rowkind.connectors.kafka.table_settings import TopicCreation
from rowkind.connectors.settings import Guarantee, Side
from rowkind.definitions import ComputedColumn, MetadataColumn, PhysicalColumn
from rowkind.kinds import ChangelogMode
from rowkind.options.session_values import SessionOptions
from rowkind.types import BIGINT, INT, STRING, Field, timestamp_ltz
from tests.catalog.tables import REMOVED, append, resolve, sink, source, upsert

AT = MetadataColumn("at", timestamp_ltz(3), "timestamp")


def names(fields: tuple[Field, ...]) -> list[str]:
    return [f.name for f in fields]


def test_append_table() -> None:
    table = source(append())
    assert (table.connector, table.changelog, table.upsert) == ("kafka", ChangelogMode.INSERT_ONLY, False)
    assert (table.topics, table.topic_pattern) == (("t",), None)
    assert table.properties == {"bootstrap.servers": "localhost:9092"}
    assert (table.key_format, table.key_columns) == (None, ())
    assert names(table.value_columns) == ["id", "name", "city"]
    assert table.reading.discovery_interval == timedelta(minutes=5)
    assert table.reading.on_data_loss is OnDataLoss.FAIL


def test_upsert_key_follows_the_constraint_and_is_not_null() -> None:
    table = sink(upsert(primary_key=("name", "id")))
    assert table.upsert
    assert table.key_columns == (Field("name", STRING.not_null()), Field("id", BIGINT.not_null()))
    assert table.value_columns == (
        Field("id", BIGINT.not_null()),
        Field("name", STRING.not_null()),
        Field("city", STRING),
    )


def test_key_fields_follow_the_list_and_except_key_leaves_them_out_of_the_value() -> None:
    changes = {"key.format": "plain", "key.fields": "city; id", "value.fields-include": "except_key"}
    table = source(append(changes))
    assert names(table.key_columns) == ["city", "id"]
    assert names(table.value_columns) == ["name"]


def test_prefix_is_cut_inside_the_key_only() -> None:
    more = (PhysicalColumn("k_id", INT), PhysicalColumn("k_other", INT))
    changes = {"key.fields-prefix": "k_", "value.fields-include": "EXCEPT_KEY"}
    table = sink(upsert(changes, *more, primary_key=("k_id",)))
    assert names(table.key_columns) == ["k_id"]
    assert names(table.key_payload) == ["id"]
    assert names(table.value_columns) == ["id", "name", "city", "k_other"]


def test_stored_columns_are_in_table_order() -> None:
    virtual = MetadataColumn("part", INT, "partition", virtual=True)
    definition = append({}, AT, ComputedColumn("c", "id + 1"), virtual, PhysicalColumn("last", INT))
    assert names(source(definition).stored_columns) == ["id", "name", "city", "at", "part", "last"]
    assert names(sink(definition).stored_columns) == ["id", "name", "city", "at", "last"]


def test_metadata_carries_declared_and_message_type() -> None:
    read, written = source(append({}, AT)).metadata[0], sink(append({}, AT)).metadata[0]
    assert (read.name, read.key, read.type) == ("at", "timestamp", timestamp_ltz(3))
    assert read.message_type == timestamp_ltz(3).not_null()
    assert written.message_type == timestamp_ltz(3)


def test_topic_lists_and_patterns() -> None:
    assert source(append({"topic": "a; b;'c;d'"})).topics == ("a", "b", "c;d")
    assert source(append({"topic": "[a, b]"})).topics == ("a", "b")
    pattern = source(append({"topic": REMOVED, "topic-pattern": "t-\\d+"})).topic_pattern
    assert pattern is not None
    assert pattern.fullmatch("t-12")
    assert not pattern.fullmatch("t-12x")


def test_start_modes() -> None:
    assert source(append({"scan.startup.mode": "LATEST-offset"})).reading.startup == Startup(StartupMode.LATEST)
    at = {"scan.startup.mode": "timestamp", "scan.startup.timestamp-millis": "1700000000000"}
    assert source(append(at)).reading.startup == Startup(StartupMode.TIMESTAMP, timestamp=1_700_000_000_000)
    offsets = {
        "scan.startup.mode": "specific-offsets",
        "scan.startup.specific-offsets": "partition:0,offset:42;partition:1,offset:300",
    }
    assert source(append(offsets)).reading.startup == Startup(StartupMode.SPECIFIC, offsets={0: 42, 1: 300})
    assert source(upsert()).reading.startup == Startup(StartupMode.EARLIEST)


def test_without_mode_and_group_the_read_starts_now_and_says_so() -> None:
    table, warnings = resolve(append({"scan.startup.mode": REMOVED}), SessionOptions(), Side.SOURCE)
    assert table.reading.startup.mode is StartupMode.LATEST
    assert len(warnings) == 1
    assert "earliest-offset" in warnings[0]
    early = {"scan.startup.mode": REMOVED, "properties.auto.offset.reset": "earliest"}
    assert resolve(append(early), SessionOptions(), Side.SOURCE)[0].reading.startup.mode is StartupMode.EARLIEST


def test_group_offsets_need_one_word_to_be_supported() -> None:
    object.__setattr__(STARTUP_MODE, "later", ())
    try:
        changes = {
            "scan.startup.mode": REMOVED,
            "properties.group.id": "g",
            "properties.auto.offset.reset": "earliest",
        }
        assert source(append(changes)).reading.startup == Startup(StartupMode.GROUP, reset="earliest")
    finally:
        object.__setattr__(STARTUP_MODE, "later", (StartupMode.GROUP,))


def test_bounded_table_looks_for_no_new_partitions() -> None:
    table = source(upsert({"scan.bounded.mode": "latest-offset"}))
    assert table.reading.bounded == Bounded(BoundedMode.LATEST)
    assert table.bounded
    assert table.reading.discovery_interval is None


@pytest.mark.parametrize(("text", "interval"), [("0", None), ("-1", None), ("10 s", timedelta(seconds=10))])
def test_discovery_interval(text: str, interval: timedelta | None) -> None:
    assert source(append({"scan.topic-partition-discovery.interval": text})).reading.discovery_interval == interval


def test_sink_settings() -> None:
    given = {"sink.parallelism": "3", "sink.delivery-guarantee": "NONE", "sink.partitioner": "fixed"}
    settings = sink(append(given)).writing
    assert (settings.parallelism, settings.guarantee, settings.partitioner) == (3, Guarantee.NONE, "fixed")


def test_the_deprecated_guarantee_wins_with_a_warning() -> None:
    changes = {"sink.semantic": "none", "sink.delivery-guarantee": "at-least-once"}
    table, warnings = resolve(append(changes), SessionOptions(), Side.SINK)
    assert table.writing.guarantee is Guarantee.NONE
    assert len(warnings) == 1
    assert "deprecated" in warnings[0]
    assert sink(append({"sink.semantic": "AT_LEAST_ONCE"})).writing.guarantee is Guarantee.AT_LEAST_ONCE


def test_topic_creation() -> None:
    changes = {
        "sink.topic.partitions": "6",
        "sink.topic.replication-factor": "3",
        "sink.topic.config.retention.ms": "1",
    }
    assert sink(append(changes)).writing.topic_creation == TopicCreation(6, 3, {"retention.ms": "1"})
    compacted = {"cleanup.policy": "compact", "retention.ms": "1"}
    assert sink(upsert(changes)).writing.topic_creation == TopicCreation(6, 3, compacted)
    own = sink(upsert({"sink.topic.config.cleanup.policy": "compact,delete"})).writing.topic_creation
    assert own.config == {"cleanup.policy": "compact,delete"}


def test_format_choices_carry_values_and_place() -> None:
    table = sink(upsert({"key.plain.strict": "true"}))
    assert table.key_format is not None
    assert table.key_format.options == {"strict": True, "password": None, "subject": None}
    assert (table.key_format.context.key, table.key_format.context.topic) == (True, "t")
    assert table.value_format.options["strict"] is False
    assert (table.value_format.context.key, table.value_format.context.sink) == (False, True)


def test_a_format_named_by_format_has_bare_keys_and_older_names() -> None:
    assert source(append({"plain.be-strict": "true"})).value_format.options["strict"] is True


def test_no_default_subject_with_several_topics() -> None:
    assert source(append({"topic": "a;b"})).value_format.context.topic is None


@pytest.mark.parametrize("definition", [append({"topic": REMOVED, "topic-pattern": "t.*"}, AT), upsert({}, AT)])
def test_a_resolved_table_can_be_pickled(definition: object) -> None:
    table = source(definition)  # type: ignore[arg-type]
    assert pickle.loads(pickle.dumps(table)) == table


def test_secrets_are_not_in_the_repr() -> None:
    table = source(append({"properties.sasl.jaas.config": 'Module required password="hunter2";'}))
    assert "hunter2" not in repr(table)


def test_fields_include_is_read_without_regard_to_case() -> None:
    assert VALUE_FIELDS_INCLUDE.parse("except_key") is FieldsInclude.EXCEPT_KEY
