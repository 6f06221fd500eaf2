"""Every script of `examples/`, run as it is: small messages in, and what another client then finds in its topic."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fastavro
import pytest

from rowkind.broker.process import wait_until
from tests.docs.playground import PageSession, Playground
from tests.e2e import test_made_rows as made_rows
from tests.e2e.lab import SECONDS
from tests.kafka_client import KafkaClient, Record

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

FOLDER = Path(__file__).parents[2] / "examples"
Pair = tuple[Any, Any]


@dataclass(frozen=True)
class Example:
    """Messages for the topics that a script reads, and those that its topic then holds, the last of each key or all."""

    given: dict[str, Sequence[Pair]]
    target: str
    found: Sequence[Any]
    keyed: bool = False
    form: Any = json.loads


def events(*values: Any) -> list[Pair]:
    return [(None, value) for value in values]


def by(key: str, *rows: dict[str, Any]) -> list[Pair]:
    return [({key: row[key]}, row) for row in rows]


def avro(schema: Any) -> Any:
    parsed = fastavro.parse_schema(schema)
    return lambda payload: fastavro.schemaless_reader(io.BytesIO(payload), parsed, None)


def avro_bytes(schema: Any, row: Any) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), row)
    return out.getvalue()


def nullable(name: str, type: str) -> dict[str, Any]:
    return {"name": name, "type": ["null", type], "default": None}


def record(*fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "record", "name": "record", "fields": list(fields)}


READING = record({"name": "device", "type": "long"}, nullable("celsius", "double"))
REGION = record({"name": "user_region", "type": "string"}, nullable("pv", "long"), nullable("uv", "long"))


def view(user: int, region: str) -> dict[str, Any]:
    return {"user_id": user, "page_id": 1, "viewtime": "2026-01-01 00:00:00", "user_region": region}


def change(op: str, before: Any, after: Any) -> dict[str, Any]:
    return {"op": op, "before": before, "after": after}


ADA, BO, MOVED = (
    {"id": i, "name": n, "city": c} for i, n, c in ((1, "Ada", "oslo"), (2, "Bo", "rome"), (1, "Ada", "rome"))
)

EXAMPLES = {
    "pageviews": Example(
        {"pageviews": events(view(1, "north"), view(1, "north"), view(2, "west"))},
        "pageviews_per_region",
        [{"user_region": "north", "pv": 2, "uv": 1}, {"user_region": "west", "pv": 1, "uv": 1}],
        keyed=True,
    ),
    "pageviews_avro": Example(
        {"pageviews": events(view(1, "north"), view(1, "north"), view(2, "west"))},
        "pageviews_per_region_avro",
        [{"user_region": "north", "pv": 2, "uv": 1}, {"user_region": "west", "pv": 1, "uv": 1}],
        keyed=True,
        form=avro(REGION),
    ),
    "event_metadata": Example(
        {"clicks": [Record(None, b'{"user_id":7,"item":"nut"}', timestamp=1_767_225_600_123)]},  # type: ignore[list-item]
        "click_report",
        [{"user_id": 7, "item": "nut", "event_ts": "2026-01-01 00:00:00.123", "place": "0:0", "seen": True}],
    ),
    "filter_orders": Example(
        {
            "orders": events(
                {"order_id": 1, "amount": 12.5, "order_time": "2026-01-01 00:00:00.5"},
                {"order_id": 2, "amount": 0, "order_time": "2026-01-01 00:00:01"},
            )
        },
        "paid_orders",
        [{"order_id": 1, "amount": 12.5, "order_time": "2026-01-01 00:00:00.5"}],
    ),
    "avro_source": Example(
        {"readings": events(*(avro_bytes(READING, {"device": d, "celsius": c}) for d, c in ((1, 20.5), (2, 41.5))))},
        "hot_readings",
        [{"device": 2, "celsius": 41.5}],
    ),
    "keyed_events": Example(
        {"actions": [({"user_id": 1}, {"action": "login"}), ({"user_id": 2}, {"action": "buy"})]},
        "logins",
        [{"action": "login"}],
    ),
    "exactly_once": Example(
        {"payments": events(*({"payment_id": i, "amount": 1.5} for i in range(3)))},
        "ledger",
        [{"payment_id": i, "amount": 1.5} for i in range(3)],
    ),
    "compacted_changelog": Example(
        {
            "orders_by_id": [
                *by(
                    "order_id",
                    *({"order_id": i, "customer": c, "amount": 2} for i, c in enumerate(["ada", "bo", "cy"])),
                ),
                *by("order_id", {"order_id": 1, "customer": "ada", "amount": 5}),
                ({"order_id": 2}, None),
            ]
        },
        "customer_totals",
        [{"customer": "ada", "orders": 2, "total": 7.0}],
        keyed=True,
    ),
    "one_entity": Example(
        {
            "profiles": by(
                "user_id", *({"user_id": i, "name": n, "city": "oslo"} for i, n in enumerate(["Ada", "Bo"]))
            ),
            "purchases": events(
                {"user_id": 0, "amount": 2.5}, {"user_id": 0, "amount": 1}, {"user_id": 9, "amount": 1}
            ),
        },
        "user_events",
        [
            {"user_id": 0, "name": "Ada", "city": "oslo", "purchases": 2, "spent": 3.5},
            {"user_id": 1, "name": "Bo", "city": "oslo", "purchases": 0, "spent": 0.0},
        ],
        keyed=True,
    ),
    "latest_per_key": Example(
        {
            "price_log": events(
                {"item": "nut", "price": 2, "since": "2026-01-02 00:00:00"},
                {"item": "nut", "price": 1, "since": "2026-01-01 00:00:00"},
            )
        },
        "prices",
        [{"item": "nut", "price": 2.0, "since": "2026-01-02 00:00:00"}],
        keyed=True,
    ),
    "top_three": Example(
        {
            "sales": events(
                *({"shop": "oslo", "item": i, "pieces": n} for i, n in zip("abcda", (1, 2, 3, 4, 9), strict=True))
            )
        },
        "best_sellers",
        [
            {"shop": "oslo", "place": p, "item": i, "pieces": n}
            for p, (i, n) in enumerate((("a", 10), ("d", 4), ("c", 3)), 1)
        ],
        keyed=True,
    ),
    "per_minute": Example(
        {
            "item_clicks": events(
                *({"item": "nut", "clicked": f"2026-01-01 00:0{m}"} for m in ("0:01", "0:59", "1:00", "2:06"))
            )
        },
        "clicks_per_minute",
        [
            {"window_start": "2026-01-01 00:00:00", "item": "nut", "clicks": 2},
            {"window_start": "2026-01-01 00:01:00", "item": "nut", "clicks": 1},
        ],
    ),
    "cdc_to_upsert": Example(
        {"people_changes": events(change("c", None, ADA), change("c", None, BO), change("u", ADA, MOVED))},
        "people_per_city",
        [{"city": "rome", "people": 2}],
        keyed=True,
    ),
}


@pytest.fixture
def page(spark: SparkSession, kafka_client: KafkaClient) -> Iterator[PageSession]:
    session = PageSession(spark, Playground(kafka_client))
    yield session
    session.close()


def test_every_script_has_its_test() -> None:
    assert {path.stem for path in FOLDER.glob("*.sql")} == EXAMPLES.keys() | {made_rows.EXAMPLE.stem}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_does_what_it_says(name: str, page: PageSession) -> None:
    example, playground = EXAMPLES[name], page.playground
    script = (FOLDER / f"{name}.sql").read_text()
    playground.create_topics(playground.localised(script))
    page.run(f"SET 'table.local-time-zone' = 'UTC'; {script}")
    (job,) = page.jobs
    for topic, pairs in example.given.items():
        playground.client.produce(f"{topic}-{playground.suffix}", [_message(pair) for pair in pairs])
    wanted = sorted(example.found, key=str)

    def arrived() -> bool:
        job.wait(0)  # a job that failed says why
        return found(example, playground) == wanted

    assert wait_until(arrived, SECONDS), f"{found(example, playground)}, not {wanted}"


def _message(pair: Any) -> Any:
    return pair if isinstance(pair, Record) else tuple(_payload(part) for part in pair)


def _payload(part: Any) -> Any:
    return part if part is None or isinstance(part, bytes) else json.dumps(part)


def found(example: Example, playground: Playground) -> list[Any]:
    """The values of the target topic: those that count, of a keyed one the last of each key that is not deleted."""
    records = playground.client.consume_all(f"{example.target}-{playground.suffix}")
    last = {record.key: record for record in records}
    kept = [r for r in records if not example.keyed or last[r.key] is r]
    return sorted((example.form(r.value) for r in kept if r.value is not None), key=str)
