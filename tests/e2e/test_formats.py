"""Formats at work: Avro with a registry, changelogs of other tools, written and read back by jobs on real Kafka."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import fastavro
import httpx
import pytest

from rowkind.errors import RowkindError
from tests.e2e.lab import Lab
from tests.kafka_client import TopicFactory

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

# -- Avro ------------------------------------------------------------------------------------------------------------

REGISTERED = """
    CREATE TABLE {table} ({columns}, PRIMARY KEY (id) NOT ENFORCED) WITH (
        'connector' = 'upsert-kafka', 'topic' = '{topic}', {kafka}, {end}
        'key.format' = 'avro-confluent', 'key.avro-confluent.url' = '{registry}',
        'value.format' = 'avro-confluent', 'value.avro-confluent.url' = '{registry}');
"""
ENDS = "'scan.bounded.mode' = 'latest-offset',"


def by_registry(registry: str, payload: bytes | None) -> Any:
    """A message as fastavro reads it, with the schema that the registry has for its id."""
    if payload is None:
        return None
    assert payload[0] == 0
    answer = httpx.get(f"{registry}/schemas/ids/{int.from_bytes(payload[1:5])}")
    schema = fastavro.parse_schema(json.loads(answer.json()["schema"]))
    return fastavro.schemaless_reader(BytesIO(payload[5:]), schema, None)


def test_an_avro_confluent_table_is_written_read_back_and_evolved(
    lab: Lab, topic: TopicFactory, schema_registry: str
) -> None:
    names = {"topic": topic(partitions=2, **{"cleanup.policy": "compact"}), "registry": schema_registry}
    first = "id BIGINT, name STRING, price DECIMAL(6, 2)"
    lab.finish(
        REGISTERED + "INSERT INTO old_shop VALUES (1, 'saw', 9.5), (2, 'nail', CAST(NULL AS DECIMAL(6, 2)));",
        table="old_shop", columns=first, end="", **names,
    )  # fmt: skip
    written = [
        (by_registry(schema_registry, r.key), by_registry(schema_registry, r.value))
        for r in lab.records(names["topic"])
    ]
    assert sorted((key["id"], value["id"], value["name"], str(value["price"])) for key, value in written) == [
        (1, 1, "saw", "9.50"), (2, 2, "nail", "None"),
    ]  # fmt: skip

    second = f"{first}, stock INT"
    lab.finish(
        REGISTERED + "INSERT INTO shop VALUES (2, 'nail', 0.1, 400), (3, 'tape', 2, 7);",
        table="shop", columns=second, end="", **names,
    )  # fmt: skip
    lab.finish(REGISTERED + "SELECT id, name, CAST(price AS STRING), stock FROM now_shop;",
               table="now_shop", columns=second, end=ENDS, **names)  # fmt: skip
    final = {row[0]: row for kind, row in lab.shown if kind in ("+I", "+U")}
    assert final == {1: (1, "saw", "9.50", None), 2: (2, "nail", "0.10", 400), 3: (3, "tape", "2.00", 7)}
    # The table of yesterday still reads what is written today.
    lab.shown.clear()
    lab.finish(REGISTERED + "SELECT id, name FROM then_shop;", table="then_shop", columns=first, end=ENDS, **names)
    assert {row for kind, row in lab.shown if kind in ("+I", "+U")} == {(1, "saw"), (2, "nail"), (3, "tape")}


PAGEVIEWS = """
    CREATE TABLE pageviews (
        user_id BIGINT, page_id BIGINT, viewtime TIMESTAMP, user_region STRING,
        WATERMARK FOR viewtime AS viewtime - INTERVAL '2' SECOND
    ) WITH ('connector' = 'kafka', 'topic' = '{views}', {kafka}, {json});
    CREATE TABLE pageviews_per_region (user_region STRING, pv BIGINT, uv BIGINT, PRIMARY KEY (user_region) NOT ENFORCED)
        WITH ('connector' = 'upsert-kafka', 'topic' = '{regions}', {kafka},
            'key.format' = 'avro', 'value.format' = 'avro');
    INSERT INTO pageviews_per_region
        SELECT user_region, COUNT(*), COUNT(DISTINCT user_id) FROM pageviews GROUP BY user_region;
"""
REGION = {"name": "user_region", "type": "string"}
KEY = {"type": "record", "name": "k", "fields": [REGION]}
VALUE = {
    "type": "record", "name": "v",
    "fields": [REGION, {"name": "pv", "type": ["null", "long"]}, {"name": "uv", "type": ["null", "long"]}],
}  # fmt: skip


def test_views_and_visitors_by_region_as_avro(lab: Lab, topic: TopicFactory) -> None:
    views, regions = topic(partitions=2), topic(partitions=1, **{"cleanup.policy": "compact"})
    lab.put(views, {"user_id": 9, "user_region": "before the job"})
    job = lab.job(PAGEVIEWS, views=views, regions=regions)
    lab.until(lambda: job.progress.batches, job)

    def table() -> dict[str, tuple[int, int]]:
        found = {}
        for record in lab.records(regions):
            key: Any = fastavro.schemaless_reader(BytesIO(record.key or b""), KEY, None)
            value: Any = fastavro.schemaless_reader(BytesIO(record.value or b""), VALUE, None)
            assert key["user_region"] == value["user_region"]
            found[key["user_region"]] = (value["pv"], value["uv"])
        return found

    lab.put(views, *({"user_id": i % 3, "page_id": i, "viewtime": "2025-11-02 10:00:00.5",
                      "user_region": "Asia" if i % 2 else "Europe"} for i in range(10)))  # fmt: skip
    lab.until(lambda: table() == {"Asia": (5, 3), "Europe": (5, 3)}, job)
    lab.put(
        views, {"user_id": 1, "user_region": "Asia"}, {"user_id": 77, "user_region": "Asia"}, {"user_region": "Mars"}
    )
    lab.until(lambda: table() == {"Asia": (7, 4), "Europe": (5, 3), "Mars": (1, 0)}, job)
    job.stop()
    job.wait()


# -- changelogs in ---------------------------------------------------------------------------------------------------

ORDERS = """
    CREATE TABLE orders (id BIGINT, customer STRING, amount DECIMAL(10, 2){more})
        WITH ('connector' = 'kafka', 'topic' = '{orders}', {kafka}, {once}, 'format' = '{format}');
"""
TOTALS = """
    CREATE TABLE totals (customer STRING, orders BIGINT, amount DECIMAL(38, 2), PRIMARY KEY (customer) NOT ENFORCED)
        WITH ('connector' = 'upsert-kafka', 'topic' = '{totals}', {kafka}, {keyed});
    INSERT INTO totals SELECT customer, COUNT(*), SUM(amount) FROM orders GROUP BY customer;
"""


def order(id: int, customer: str, amount: float) -> dict[str, Any]:
    return {"id": id, "customer": customer, "amount": amount}


def debezium(op: str, before: Any, after: Any) -> dict[str, Any]:
    source = {"db": "shop", "table": "orders", "ts_ms": 1700000000123, "snapshot": "false"}
    return {"before": before, "after": after, "op": op, "source": source, "ts_ms": 1700000000456}


CHANGES = [
    debezium("r", None, order(1, "ada", 10)),
    debezium("c", None, order(2, "ada", 5.5)),
    debezium("c", None, order(3, "bob", 7)),
    debezium("c", None, order(4, "cy", 1)),
    debezium("u", order(2, "ada", 5.5), order(2, "ada", 6)),
    debezium("u", order(3, "bob", 7), order(3, "ada", 7)),
    debezium("d", order(1, "ada", 10), None),
    None,
    debezium("d", order(4, "cy", 1), None),
]


def current(lab: Lab, topic: str) -> dict[Any, Any]:
    """The table that an upsert topic holds."""
    found: dict[Any, Any] = {}
    for key, value in lab.pairs(topic):
        found.pop(key["customer"], None)
        if value is not None:
            found[key["customer"]] = (value["orders"], value["amount"])
    return found


@pytest.mark.parametrize("rows", [100_000, 3], ids=["in one batch", "three rows a batch"])
def test_a_changelog_of_debezium_becomes_an_upsert_table(lab: Lab, topic: TopicFactory, rows: int) -> None:
    orders, totals = topic(), topic(partitions=1, **{"cleanup.policy": "compact"})
    lab.client.produce(orders, [(None, None if event is None else json.dumps(event)) for event in CHANGES])
    table = ORDERS.replace("{once}", "{once}, 'scan.max-rows-per-batch' = '{rows}'")
    lab.finish(table + TOTALS, orders=orders, totals=totals, format="debezium-json", more="", rows=str(rows))
    assert current(lab, totals) == {"ada": (2, 13)}


def test_changes_are_shown_with_their_metadata(lab: Lab, topic: TopicFactory) -> None:
    orders = topic()
    lab.put(orders, *CHANGES[4:6])
    more = """, origin STRING METADATA FROM 'value.source.table' VIRTUAL,
        happened TIMESTAMP_LTZ(3) METADATA FROM 'value.source.timestamp' VIRTUAL"""
    utc, query = (
        "SET 'table.local-time-zone' = 'UTC';",
        "SELECT id, customer, origin, CAST(happened AS STRING) FROM orders;",
    )
    lab.finish(utc + ORDERS + query, orders=orders, format="debezium-json", more=more)
    rest = ("orders", "2023-11-14 22:13:20.123")
    assert lab.shown == [
        ("-U", (2, "ada", *rest)), ("+U", (2, "ada", *rest)), ("-U", (3, "bob", *rest)), ("+U", (3, "ada", *rest)),
    ]  # fmt: skip


MORE_TOOLS: dict[str, list[Any]] = {
    "canal-json": [
        {"data": [order(1, "ada", 10), order(2, "bob", 5)], "type": "INSERT"},
        {"data": None, "type": "CREATE", "isDdl": True},
        {"data": [order(2, "ada", 6)], "old": [{"customer": "bob", "amount": 5}], "type": "UPDATE"},
        {"data": [order(1, "ada", 10)], "type": "DELETE"},
    ],
    "maxwell-json": [
        {"data": order(1, "ada", 10), "type": "insert"},
        {"data": order(2, "bob", 5), "type": "insert"},
        {"data": order(2, "ada", 6), "old": {"customer": "bob", "amount": 5}, "type": "update"},
        {"data": order(1, "ada", 10), "type": "delete"},
    ],
    "ogg-json": [
        {"after": order(1, "ada", 10), "op_type": "I"},
        {"after": order(2, "bob", 5), "op_type": "I"},
        {"before": order(2, "bob", 5), "after": order(2, "ada", 6), "op_type": "U"},
        {"before": order(1, "ada", 10), "op_type": "D"},
    ],
}


def test_changelogs_of_other_tools(lab: Lab, topic: TopicFactory) -> None:
    totals, script, branches = topic(partitions=1, **{"cleanup.policy": "compact"}), "", []
    for format, messages in MORE_TOOLS.items():
        table, orders = format.partition("-")[0], topic()
        lab.put(orders, *messages)
        script += (
            ORDERS.replace("TABLE orders", f"TABLE {table}").replace("{orders}", orders).replace("{format}", format)
        )
        branches.append(f"SELECT '{table} ' || customer AS customer, amount FROM {table}")
    query = TOTALS.replace("FROM orders", f"FROM ({' UNION ALL '.join(branches)})")
    lab.finish(script + query, totals=totals, more="")
    assert current(lab, totals) == {"canal ada": (1, 6), "maxwell ada": (1, 6), "ogg ada": (1, 6)}


COPY = """
    CREATE TABLE copy (id BIGINT, customer STRING, amount DECIMAL(10, 2), PRIMARY KEY (id) NOT ENFORCED)
        WITH ('connector' = 'upsert-kafka', 'topic' = '{copy}', {kafka}, {keyed});
    INSERT INTO copy SELECT * FROM orders;
"""


def test_a_pipe_into_an_upsert_table_writes_no_tombstone_between_old_and_new(lab: Lab, topic: TopicFactory) -> None:
    orders, copy = topic(), topic(partitions=1, **{"cleanup.policy": "compact"})
    lab.put(orders, CHANGES[1], CHANGES[4], CHANGES[6])
    job = lab.finish(
        ORDERS + COPY, orders=orders, copy=copy, format="debezium-json", more=", PRIMARY KEY (id) NOT ENFORCED"
    )
    assert lab.pairs(copy) == [
        ({"id": 2}, order(2, "ada", 5.5)), ({"id": 2}, order(2, "ada", 6)), ({"id": 1}, None),
    ]  # fmt: skip
    assert job.progress.counts["orders.old-rows-left-out"] == 1


def test_repeated_events_are_counted_once(lab: Lab, topic: TopicFactory) -> None:
    orders, totals = topic(), topic(partitions=1, **{"cleanup.policy": "compact"})
    repeated = [*CHANGES[:4], *CHANGES[1:5], *CHANGES[4:7], *CHANGES[4:7]]
    lab.client.produce(orders, [(None, None if event is None else json.dumps(event)) for event in repeated])
    table = ORDERS.replace("{once}", "{once}, 'scan.max-rows-per-batch' = '4'")
    lab.finish(
        "SET 'table.exec.source.cdc-events-duplicate' = 'true';" + table + TOTALS,
        orders=orders, totals=totals, format="debezium-json", more=", PRIMARY KEY (id) NOT ENFORCED",
    )  # fmt: skip
    assert current(lab, totals) == {"ada": (2, 13), "cy": (1, 1)}


# -- changelogs out --------------------------------------------------------------------------------------------------

WRITTEN = {
    "debezium-json": lambda m: ("+" if m["op"] == "c" else "-", m["after"] or m["before"]),
    "ogg-json": lambda m: ("+" if m["op_type"] == "I" else "-", m["after"] or m["before"]),
    "canal-json": lambda m: ("+" if m["type"] == "INSERT" else "-", m["data"][0]),
    "maxwell-json": lambda m: ("+" if m["type"] == "insert" else "-", m["data"]),
}


def test_an_updating_query_is_written_as_a_changelog_and_read_back(lab: Lab, topic: TopicFactory) -> None:
    clicks, topics = topic(), {format: topic() for format in WRITTEN}
    lab.put(clicks, {"page": "a"}, {"page": "b"}, {"page": "a"})
    script = """
        CREATE TABLE clicks (page STRING) WITH ('connector' = 'kafka', 'topic' = '{clicks}', {kafka}, {json}, {once},
            'scan.max-rows-per-batch' = '2');
        CREATE VIEW counted AS SELECT page, COUNT(*) AS n FROM clicks GROUP BY page;
    """
    for format, name in topics.items():
        script += f"""
            CREATE TABLE `{format}` (page STRING, n BIGINT)
                WITH ('connector' = 'kafka', 'topic' = '{name}', {{kafka}}, 'format' = '{format}', {{once}});
        """
    inserts = " ".join(f"INSERT INTO `{format}` SELECT * FROM counted;" for format in topics)
    lab.finish(f"{script} EXECUTE STATEMENT SET BEGIN {inserts} END;", clicks=clicks)
    for format, name in topics.items():
        written = [WRITTEN[format](message) for message in lab.values(name)]
        assert written.index(("-", {"page": "a", "n": 1})) < written.index(("+", {"page": "a", "n": 2})), format
        assert sorted(written, key=str) == [
            ("+", {"page": "a", "n": 1}), ("+", {"page": "a", "n": 2}), ("+", {"page": "b", "n": 1}),
            ("-", {"page": "a", "n": 1}),
        ]  # fmt: skip
    branches = " UNION ALL ".join(f"SELECT n FROM `{format}`" for format in topics)
    lab.finish(f"SELECT SUM(n), COUNT(*) FROM ({branches});")
    assert lab.shown[-1][1] == (12, 8)


def test_a_cdc_format_has_no_place_in_an_upsert_table(lab: Lab) -> None:
    table = """
        CREATE TABLE t (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'topic' = 't',
            {kafka}, 'key.format' = '{key}', 'value.format' = '{value}');
        SELECT * FROM t;
    """
    for place, formats in (("key", ("debezium-json", "json")), ("value", ("json", "debezium-json"))):
        with pytest.raises(RowkindError) as failed:
            lab.start(table.replace("TABLE t", f"TABLE {place}_t").replace("FROM t", f"FROM {place}_t"),
                      key=formats[0], value=formats[1])  # fmt: skip
        assert (failed.value.condition, failed.value.params["place"]) == ("UPSERT_FORMAT_NOT_INSERT_ONLY", place)
