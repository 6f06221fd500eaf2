"""Rules about options of reading and of writing, one test a rule (or a family of values of one rule)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from rowkind.connectors.settings import Side
from tests.catalog.tables import KEYED, REMOVED, append, condition, sink, source, upsert

SOURCE, SINK = Side.SOURCE, Side.SINK


class NotAPartitioner:
    pass


# V-18, V-24, V-25, V-28, V-38: writing


@pytest.mark.parametrize("table", [append, upsert])
def test_exactly_once_needs_a_prefix(table: object) -> None:
    assert condition(table({"sink.delivery-guarantee": "exactly-once"}), SINK) == "TRANSACTIONAL_ID_PREFIX_MISSING"  # type: ignore[operator]


def test_the_deprecated_guarantee_needs_a_prefix_too() -> None:
    assert condition(append({"sink.semantic": "EXACTLY_ONCE"}), SINK) == "TRANSACTIONAL_ID_PREFIX_MISSING"


def test_prefix_length_is_counted_in_bytes() -> None:
    long = {"sink.delivery-guarantee": "exactly-once", "sink.transactional-id-prefix": "ü" * 32_001}
    assert condition(append(long), SINK) == "TRANSACTIONAL_ID_PREFIX_TOO_LONG"


def test_round_robin_refuses_a_key() -> None:
    assert condition(append({**KEYED, "sink.partitioner": "round-robin"}), SINK) == "ROUND_ROBIN_WITH_KEY"
    assert sink(append({"sink.partitioner": "round-robin"})).writing.partitioner == "round-robin"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (" ", "PARTITIONER_EMPTY"),
        ("no.such.Thing", "PARTITIONER_NOT_FOUND"),
        (f"{__name__}:NotAPartitioner", "PARTITIONER_WRONG_KIND"),
    ],
)
def test_partitioner(name: str, expected: str) -> None:
    assert condition(append({"sink.partitioner": name}), SINK) == expected


@pytest.mark.parametrize("option", [{"max-rows": "10"}, {"interval": "1s"}, {"max-rows": "10", "interval": "0"}])
def test_buffer_options_come_together(option: dict[str, str]) -> None:
    given = {f"sink.buffer-flush.{k}": v for k, v in option.items()}
    assert condition(upsert(given), SINK) == "BUFFER_OPTIONS_INCOMPLETE"


def test_buffer_options_are_taken() -> None:
    taken = sink(upsert({"sink.buffer-flush.max-rows": "100", "sink.buffer-flush.interval": "2 s"})).writing
    assert (taken.buffer_max_rows, taken.buffer_interval) == (100, timedelta(seconds=2))


def test_buffer_options_at_or_below_zero_are_off() -> None:
    given = {"sink.buffer-flush.max-rows": "0", "sink.buffer-flush.interval": "0"}
    assert sink(upsert(given)).writing.buffer_max_rows == 0


@pytest.mark.parametrize("value", ["0", "-1"])
def test_parallelism_is_positive(value: str) -> None:
    assert condition(append({"sink.parallelism": value}), SINK) == "INVALID_PARALLELISM"
    assert condition(upsert({"scan.parallelism": value}), SOURCE) == "INVALID_PARALLELISM"


# V-19 to V-23, V-26, V-27, V-29, V-30: reading


@pytest.mark.parametrize("mode", ["timestamp", "specific-offsets"])
def test_startup_mode_needs_its_option(mode: str) -> None:
    assert condition(append({"scan.startup.mode": mode}), SOURCE) == "STARTUP_OPTION_MISSING"


@pytest.mark.parametrize("mode", ["timestamp", "specific-offsets"])
def test_bounded_mode_needs_its_option(mode: str) -> None:
    assert condition(append({"scan.bounded.mode": mode}), SOURCE) == "BOUNDED_OPTION_MISSING"
    assert condition(upsert({"scan.bounded.mode": mode}), SOURCE) == "BOUNDED_OPTION_MISSING"


@pytest.mark.parametrize("topics", [{"topic": "a;b"}, {"topic": REMOVED, "topic-pattern": "a.*"}])
@pytest.mark.parametrize("end", ["startup", "bounded"])
def test_specific_offsets_need_one_topic(topics: dict[str, str | None], end: str) -> None:
    offsets = {f"scan.{end}.mode": "specific-offsets", f"scan.{end}.specific-offsets": "partition:0,offset:1"}
    assert condition(append({**topics, **offsets}), SOURCE) == "SPECIFIC_OFFSETS_NEED_ONE_TOPIC"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "partition:0",
        "offset:1,partition:0",
        "partition:a,offset:1",
        "partition:0, offset:1",
        "partition:0,offset:1;;partition:1,offset:2",
        "partition:0,offset:1;partition:0,offset:2",
        "p:0,offset:1",
    ],
)
def test_specific_offsets_grammar(text: str) -> None:
    start = {"scan.startup.mode": "specific-offsets", "scan.startup.specific-offsets": text}
    assert condition(append(start), SOURCE) == "INVALID_SPECIFIC_OFFSETS"
    stop = {"scan.bounded.mode": "specific-offsets", "scan.bounded.specific-offsets": text}
    assert condition(upsert(stop), SOURCE) == "INVALID_SPECIFIC_OFFSETS"


def test_group_offsets_need_a_group() -> None:
    assert condition(append({"scan.startup.mode": "group-offsets"}), SOURCE) == "GROUP_ID_MISSING"
    assert condition(append({"scan.bounded.mode": "group-offsets"}), SOURCE) == "GROUP_ID_MISSING"
    assert condition(upsert({"scan.bounded.mode": "group-offsets"}), SOURCE) == "GROUP_ID_MISSING"


def test_no_mode_and_no_group_with_reset_none_fails() -> None:
    changes = {"scan.startup.mode": REMOVED, "properties.auto.offset.reset": "none"}
    assert condition(append(changes), SOURCE) == "GROUP_ID_MISSING"


def test_offset_reset_matters_for_group_offsets_only() -> None:
    reset = {"properties.auto.offset.reset": "newest", "properties.group.id": "g"}
    assert condition(append({**reset, "scan.startup.mode": "group-offsets"}), SOURCE) == "INVALID_OFFSET_RESET"
    assert condition(append({**reset, "scan.startup.mode": REMOVED}), SOURCE) == "INVALID_OFFSET_RESET"
    assert source(append(reset)).group_id == "g"


@pytest.mark.parametrize("group", ["group", "max-drift", "update-interval"])
def test_alignment_options_come_together(group: str) -> None:
    given = {f"scan.watermark.alignment.{group}": "1s"}
    assert condition(append(given), SOURCE) == "ALIGNMENT_INCOMPLETE"
    assert condition(upsert(given), SOURCE) == "ALIGNMENT_INCOMPLETE"


@pytest.mark.parametrize("key", ["enable.auto.commit", "commit.offsets.on.checkpoint"])
def test_commits_need_a_group(key: str) -> None:
    assert condition(append({f"properties.{key}": "true"}), SOURCE) == "COMMIT_WITHOUT_GROUP"
    assert condition(upsert({f"properties.{key}": "TRUE"}), SOURCE) == "COMMIT_WITHOUT_GROUP"
    assert source(append({f"properties.{key}": "true", "properties.group.id": "g"})).group_id == "g"
    assert source(append({f"properties.{key}": "false"})).group_id is None


@pytest.mark.parametrize("key", ["key.serializer", "value.serializer", "key.deserializer", "value.deserializer"])
def test_serializers_handle_bytes(key: str) -> None:
    text = f"org.apache.kafka.common.serialization.String{key.partition('.')[2].capitalize()}"
    assert condition(append({f"properties.{key}": text})) == "SERIALIZER_NOT_BYTES"
    assert condition(append({f"properties.{key}": "no.such.Class"})) == "SERIALIZER_NOT_BYTES"
