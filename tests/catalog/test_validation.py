"""Every rule about a table's options, one test a rule (or a family of values of one rule)."""

from __future__ import annotations

import pytest

from rowkind.catalog.inserts import check_sink_parallelism, insert_columns
from rowkind.connectors.settings import Side
from rowkind.definitions import ComputedColumn, MetadataColumn, PhysicalColumn
from rowkind.errors import RowkindError
from rowkind.kinds import ChangelogMode
from rowkind.options.session_values import SessionOptions
from rowkind.types import BIGINT, BOOLEAN, BYTES, INT, STRING, array, map_of, row, timestamp, timestamp_ltz
from tests.catalog.tables import KEYED, REMOVED, append, condition, refused, resolve, sink, source, upsert

SOURCE, SINK = Side.SOURCE, Side.SINK


# V-01, V-02, V-08: keys and values


def test_unknown_option_suggests_the_nearest() -> None:
    name, error = refused(append({"scan.startup.mod": "x"}))
    assert name == "UNKNOWN_OPTION"
    assert "scan.startup.mode" in error.params["suggestion"]
    assert "scan.bounded.mode" in error.params["known"]


def test_unknown_option_lists_all_of_them() -> None:
    _, error = refused(upsert({"a": "1", "b": "2"}))
    assert error.params["options"] == "'a', 'b'"


@pytest.mark.parametrize("key", ["key.fields", "scan.startup.mode", "sink.partitioner", "sink.semantic"])
def test_option_of_the_other_connector_is_unknown_and_says_so(key: str) -> None:
    name, error = refused(upsert({key: "x"}))
    assert name == "UNKNOWN_OPTION"
    assert "'kafka' only" in error.params["suggestion"]


def test_buffering_is_unknown_to_kafka() -> None:
    name, error = refused(append({"sink.buffer-flush.max-rows": "1"}))
    assert name == "UNKNOWN_OPTION"
    assert "'upsert-kafka' only" in error.params["suggestion"]


def test_format_option_without_its_prefix_is_unknown_and_suggests_the_prefix() -> None:
    name, error = refused(upsert({"plain.strict": "true"}))
    assert name == "UNKNOWN_OPTION"
    assert "did you mean 'key.plain.strict'" in error.params["suggestion"]
    name, error = refused(append({"value.plain.strict": "true"}))
    assert name == "UNKNOWN_OPTION"
    assert "did you mean 'plain.strict'" in error.params["suggestion"]


def test_anything_goes_under_properties() -> None:
    assert source(append({"properties.Any.Thing": "1"})).properties["Any.Thing"] == "1"


def test_required_option() -> None:
    for table in (append, upsert):
        name, error = refused(table({"properties.bootstrap.servers": REMOVED}))
        assert name == "MISSING_OPTION"
        assert "properties.bootstrap.servers" in error.params["options"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("scan.startup.mode", "EARLIEST_OFFSET"),
        ("scan.bounded.mode", "earliest-offset"),
        ("scan.startup.timestamp-millis", "soon"),
        ("scan.topic-partition-discovery.interval", "5 parsecs"),
        ("sink.parallelism", "two"),
        ("sink.delivery-guarantee", "maybe"),
        ("value.fields-include", "SOME"),
        ("scan.max-rows-per-batch", "0"),
        ("sink.topic.partitions", "0"),
        ("plain.strict", "yes"),
    ],
)
def test_value_that_cannot_be_read(key: str, value: str) -> None:
    name, error = refused(append({key: value}))
    assert (name, error.params["option"], error.params["value"]) == ("INVALID_OPTION_VALUE", key, value)


def test_a_secret_is_not_quoted_in_the_error() -> None:
    name, error = refused(append({"plain.password": "hunter2"}))
    assert name == "INVALID_OPTION_VALUE"
    assert "hunter2" not in str(error)


def test_connector_is_needed_and_known() -> None:
    assert condition(append({"connector": REMOVED})) == "CONNECTOR_MISSING"
    name, error = refused(append({"connector": "upsert-kafk"}))
    assert name == "UNKNOWN_CONNECTOR"
    assert "upsert-kafka" in error.params["suggestion"]


# Decision on keys in other case


def test_keys_in_other_case_are_accepted_with_a_warning() -> None:
    definition = upsert(
        {"connector": REMOVED, "CONNECTOR": "upsert-kafka", "key.format": REMOVED, "KEY.FORMAT": "plain"}
    )
    table, warnings = resolve(definition, SessionOptions(), SINK)
    assert table.connector == "upsert-kafka"
    assert [w.split("'")[3] for w in warnings] == ["CONNECTOR", "KEY.FORMAT"]


def test_format_options_in_other_case_are_accepted() -> None:
    assert source(append({"Plain.STRICT": "true"})).value_format.options["strict"] is True


def test_one_option_in_two_cases() -> None:
    assert condition(append({"TOPIC": "x"})) == "OPTION_GIVEN_TWICE"


# V-03 to V-06: topics


def test_topic_is_needed() -> None:
    assert condition(append({"topic": REMOVED})) == "TOPIC_MISSING"
    assert condition(upsert({"topic": REMOVED})) == "TOPIC_MISSING"
    assert condition(append({"topic": " ; "})) == "TOPIC_MISSING"


def test_topic_and_pattern() -> None:
    assert condition(append({"topic-pattern": "t.*"})) == "TOPIC_AND_PATTERN"
    assert condition(upsert({"topic-pattern": "t.*"})) == "TOPIC_AND_PATTERN"


def test_pattern_that_python_cannot_express() -> None:
    name, error = refused(append({"topic": REMOVED, "topic-pattern": "[a-z&&[^b]]+"}))
    assert name == "INVALID_TOPIC_PATTERN"
    assert "intersection" in error.params["reason"]


@pytest.mark.parametrize("topics", [{"topic": "a;b"}, {"topic": REMOVED, "topic-pattern": "a.*"}])
def test_sink_with_several_topics_needs_a_topic_column(topics: dict[str, str | None]) -> None:
    assert condition(append(topics), SINK) == "TOPIC_COLUMN_MISSING"
    virtual = MetadataColumn("topic", STRING, "topic", virtual=True)
    assert condition(append(topics, virtual), SINK) == "TOPIC_COLUMN_MISSING"
    assert source(append(topics)).name == "a"
    assert sink(append(topics, MetadataColumn("to", STRING, "topic"))).metadata[0].key == "topic"


# V-07, V-14, V-15, decision on `format`


def test_format_is_needed() -> None:
    name, error = refused(append({"format": REMOVED}))
    assert (name, error.params["option"]) == ("FORMAT_MISSING", "format")
    name, error = refused(upsert({"key.format": REMOVED, "value.format": REMOVED}))
    assert (name, error.params["option"]) == ("FORMAT_MISSING", "key.format")
    name, error = refused(upsert({"value.format": REMOVED}))
    assert (name, error.params["option"]) == ("FORMAT_MISSING", "value.format")


def test_unknown_format() -> None:
    assert condition(append({"format": "plian"})) == "UNKNOWN_FORMAT"


def test_format_and_value_format_are_the_same() -> None:
    assert source(append({"format": REMOVED, "value.format": "plain", "value.plain.strict": "true"})).value_format
    assert sink(upsert({"value.format": REMOVED, "format": "plain", "plain.strict": "true"})).value_format
    assert condition(append({"value.format": "plain"})) == "FORMAT_GIVEN_TWICE"
    assert condition(upsert({"format": "plain"})) == "FORMAT_GIVEN_TWICE"


def test_key_format_must_be_insert_only() -> None:
    name, error = refused(append({"key.format": "changes", "key.fields": "id"}))
    assert (name, error.params["mode"]) == ("KEY_FORMAT_NOT_INSERT_ONLY", "retract")


@pytest.mark.parametrize("place", ["key", "value"])
def test_upsert_formats_must_be_insert_only(place: str) -> None:
    name, error = refused(upsert({f"{place}.format": "changes"}))
    assert (name, error.params["place"]) == ("UPSERT_FORMAT_NOT_INSERT_ONLY", place)
    assert error.hint is not None
    assert "INSERT" in error.hint


def test_a_format_has_its_own_say() -> None:
    assert condition(append({}, PhysicalColumn("refused", INT))) == "UNKNOWN_FORMAT"


# V-09 to V-13: keys


def test_key_fields_need_a_format() -> None:
    assert condition(append({"key.fields": "id"})) == "KEY_FIELDS_WITHOUT_FORMAT"


@pytest.mark.parametrize("fields", [REMOVED, "", " ; "])
def test_key_format_needs_fields(fields: str | None) -> None:
    assert condition(append({"key.format": "plain", "key.fields": fields})) == "KEY_FORMAT_WITHOUT_FIELDS"


@pytest.mark.parametrize("field", ["nmae", "twice", "at"])
def test_key_fields_are_physical(field: str) -> None:
    more = (ComputedColumn("twice", "id * 2"), MetadataColumn("at", timestamp_ltz(3), "timestamp"))
    name, error = refused(append({"key.format": "plain", "key.fields": f"id;{field}"}, *more))
    assert (name, error.params["field"]) == ("KEY_FIELD_NOT_PHYSICAL", field)
    if field == "nmae":
        assert "'name'" in error.params["suggestion"]


def test_key_fields_are_distinct() -> None:
    assert condition(append({"key.format": "plain", "key.fields": "id;id"})) == "KEY_FIELD_TWICE"


def test_key_fields_carry_the_prefix() -> None:
    prefix = {"key.fields-prefix": "k_", "value.fields-include": "EXCEPT_KEY"}
    name, error = refused(append({**KEYED, **prefix}))
    assert (name, error.params["field"]) == ("KEY_FIELD_WITHOUT_PREFIX", "id")
    assert condition(upsert(prefix)) == "KEY_FIELD_WITHOUT_PREFIX"


def test_prefix_needs_except_key() -> None:
    assert condition(append({**KEYED, "key.fields-prefix": "i"})) == "KEY_PREFIX_WITH_ALL"
    assert condition(upsert({"key.fields-prefix": "i", "value.fields-include": "all"})) == "KEY_PREFIX_WITH_ALL"
    assert source(append({**KEYED, "key.fields-prefix": ""})).key_payload[0].name == "id"


# V-16, V-17: primary key


def test_upsert_needs_a_primary_key() -> None:
    assert condition(upsert(primary_key=())) == "PRIMARY_KEY_REQUIRED"


def test_append_refuses_a_primary_key_unless_the_format_is_cdc() -> None:
    assert condition(append(primary_key=("id",))) == "PRIMARY_KEY_NOT_ALLOWED"
    assert source(append({"format": "changes"}, primary_key=("id",))).primary_key == ("id",)


# V-31 to V-34: metadata columns


def test_unknown_metadata() -> None:
    name, error = refused(append({}, MetadataColumn("ts", timestamp_ltz(3), "timestmp")), SOURCE)
    assert name == "UNKNOWN_METADATA"
    assert "'timestamp'" in error.params["suggestion"]


def test_format_metadata_is_for_kafka_only() -> None:
    column = MetadataColumn("db", STRING, "value.database", virtual=True)
    table = source(append({"format": "changes"}, column))
    assert (table.metadata[0].key, table.metadata[0].format_key) == ("value.database", "database")
    assert condition(append({}, column), SOURCE) == "UNKNOWN_METADATA"
    assert condition(upsert({}, column), SOURCE) == "UNKNOWN_METADATA"


@pytest.mark.parametrize("key", ["partition", "offset", "leader-epoch", "timestamp-type", "topic", "value.database"])
def test_metadata_that_cannot_be_written(key: str) -> None:
    types = {"partition": INT, "offset": BIGINT, "leader-epoch": INT}
    column = MetadataColumn("m", types.get(key, STRING), key)
    assert condition(append({"format": "changes"}, column), SINK) == "METADATA_NOT_WRITABLE"
    virtual = MetadataColumn("m", types.get(key, STRING), key, virtual=True)
    assert sink(append({"format": "changes"}, virtual)).metadata == ()


@pytest.mark.parametrize(
    ("key", "type"),
    [
        ("partition", timestamp(3)),
        ("timestamp", BOOLEAN),
        ("headers", array(BYTES)),
        ("header-list", map_of(STRING, BYTES)),
        ("topic", array(STRING)),
    ],
)
def test_metadata_types_must_be_castable(key: str, type: object) -> None:
    column = MetadataColumn("m", type, key, virtual=True)  # type: ignore[arg-type]
    assert condition(append({}, column), SOURCE) == "METADATA_TYPE"


def test_written_metadata_types_must_be_castable() -> None:
    assert condition(append({}, MetadataColumn("m", BIGINT, "timestamp")), SINK) == "METADATA_TYPE"
    assert condition(append({}, MetadataColumn("m", STRING, "headers")), SINK) == "METADATA_TYPE"


@pytest.mark.parametrize(("key", "type"), [("partition", BIGINT), ("partition", STRING), ("timestamp", timestamp(3))])
def test_metadata_may_be_declared_in_castable_types(key: str, type: object) -> None:
    table = source(append({}, MetadataColumn("m", type, key)))  # type: ignore[arg-type]
    assert table.metadata[0].type == type
    assert table.metadata[0].message_type != type


def test_headers_are_written_by_one_column() -> None:
    headers = MetadataColumn("h", map_of(STRING, BYTES), "headers")
    listed = MetadataColumn("l", array(row(("key", STRING), ("value", BYTES))), "header-list")
    assert condition(append({}, headers, listed), SINK) == "HEADERS_WRITTEN_TWICE"
    assert len(source(append({}, headers, listed)).metadata) == 2


def test_insert_cannot_name_virtual_or_computed_columns() -> None:
    more = (ComputedColumn("twice", "id * 2"), MetadataColumn("at", INT, "partition", virtual=True))
    table = sink(append({}, *more, MetadataColumn("ts", timestamp_ltz(3), "timestamp")))
    assert [f.name for f in insert_columns(table)] == ["id", "name", "city", "ts"]
    assert [f.name for f in insert_columns(table, ["ts", "id"])] == ["ts", "id"]
    for name in ("twice", "at"):
        with pytest.raises(RowkindError) as caught:
            insert_columns(table, ["id", name])
        assert caught.value.condition == "COLUMN_NOT_WRITABLE"
    with pytest.raises(RowkindError) as caught:
        insert_columns(table, ["nam"])
    assert caught.value.condition == "NO_SUCH_COLUMN"


# V-35 to V-37: together with session and query


def test_batch_mode_reads_bounded_insert_only_tables() -> None:
    session, _ = SessionOptions().set("execution.runtime-mode", "batch")
    end = {"scan.bounded.mode": "latest-offset"}
    assert condition(upsert(end), SOURCE, session=session) == "BATCH_NEEDS_INSERT_ONLY"
    assert condition(append({**end, "format": "changes"}), SOURCE, session=session) == "BATCH_NEEDS_INSERT_ONLY"
    assert condition(append(), SOURCE, session=session) == "BATCH_NEEDS_BOUNDED"
    assert source(append(end), session).bounded
    assert sink(upsert(), session).upsert


def test_cdc_duplicates_need_a_primary_key() -> None:
    session = SessionOptions({"table.exec.source.cdc-events-duplicate": "true"})
    cdc = {"format": "changes"}
    assert condition(append(cdc), SOURCE, session=session) == "CDC_DUPLICATES_NEED_PRIMARY_KEY"
    assert source(append(cdc, primary_key=("id",)), session).changelog is ChangelogMode.RETRACT
    assert source(append(), session).changelog is ChangelogMode.INSERT_ONLY


def test_changes_are_not_spread_without_a_primary_key() -> None:
    cdc = sink(append({"format": "changes", "sink.parallelism": "2"}))
    with pytest.raises(RowkindError) as caught:
        check_sink_parallelism(cdc, ChangelogMode.RETRACT, 4)
    assert caught.value.condition == "PARALLELISM_NEEDS_PRIMARY_KEY"
    with pytest.raises(RowkindError):
        check_sink_parallelism(cdc, ChangelogMode.RETRACT, None)
    check_sink_parallelism(cdc, ChangelogMode.RETRACT, 2)
    check_sink_parallelism(sink(append({"format": "changes", "sink.parallelism": "1"})), ChangelogMode.RETRACT, None)
    check_sink_parallelism(cdc, ChangelogMode.INSERT_ONLY, 4)
    check_sink_parallelism(sink(upsert({"sink.parallelism": "2"})), ChangelogMode.UPSERT, 4)
    check_sink_parallelism(sink(append({"format": "changes"})), ChangelogMode.RETRACT, 4)


# Order


def test_a_sink_looks_at_its_topic_before_its_formats() -> None:
    broken = append({"topic": REMOVED, "format": REMOVED, "unknown": "1"})
    assert condition(broken, SINK) == "TOPIC_MISSING"
    assert condition(broken, SOURCE) == "FORMAT_MISSING"


def test_formats_are_found_before_keys_are_checked() -> None:
    assert condition(upsert({"key.format": REMOVED, "properties.bootstrap.servers": REMOVED})) == "FORMAT_MISSING"
    assert condition(append({"format": REMOVED, "unknown": "1"})) == "FORMAT_MISSING"


def test_dead_letters_and_their_topic_come_together() -> None:
    assert condition(append({"scan.on-error": "dead-letter"}), SOURCE) == "DEAD_LETTER_INCOMPLETE"
    assert condition(append({"scan.dead-letter.topic": "d"}), SOURCE) == "DEAD_LETTER_INCOMPLETE"
    table = source(append({"scan.on-error": "dead-letter", "scan.dead-letter.topic": "d"}))
    assert table.reading.dead_letter_topic == "d"


# What is declared for later


LATER = [
    (append, SOURCE, {"plain.subject": "s"}),
]


@pytest.mark.parametrize(("table", "side", "changes"), LATER)
def test_what_is_not_yet_supported_is_refused(table: object, side: Side, changes: dict[str, str | None]) -> None:
    assert condition(table(changes), side) == "NOT_YET_SUPPORTED"  # type: ignore[operator]


def test_defaults_of_unsupported_options_are_accepted_and_the_other_side_does_not_care() -> None:
    assert source(append({"scan.on-error": "fail", "scan.watermark.emit.strategy": "on-periodic"})).name == "a"
    assert source(append({"sink.delivery-guarantee": "exactly-once"})).name == "a"
    assert sink(append({"scan.startup.mode": "group-offsets"})).name == "a"
