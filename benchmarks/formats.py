"""Rows a second and core of each format, both ways. Prints one JSON line a measurement.

python benchmarks/formats.py [format …]
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, ClassVar

import pyarrow as pa

from rowkind import types as t
from rowkind.formats.contract import FormatChoice, FormatContext
from rowkind.formats.registry import format_named
from rowkind.formats.row_schema import decoded_schema
from rowkind.types import Field

ROWS = 100_000
ROUNDS = 5
START = 1_735_689_600_000_000
"""2025-01-01, in microseconds."""

PAGEVIEWS = (
    Field("user_id", t.BIGINT),
    Field("page_id", t.BIGINT),
    Field("viewtime", t.timestamp(3)),
    Field("user_region", t.STRING),
)
ORDERS = (
    Field("order_id", t.BIGINT),
    Field("customer_id", t.INT),
    Field("product", t.STRING),
    Field("quantity", t.INT),
    Field("price", t.decimal(10, 2)),
    Field("discount", t.DOUBLE),
    Field("paid", t.BOOLEAN),
    Field("order_date", t.DATE),
    Field("created", t.timestamp(3)),
    Field("status", t.STRING),
)
NESTED = (
    Field("id", t.BIGINT),
    Field("tags", t.array(t.STRING)),
    Field("where", t.row(("lat", t.DOUBLE), ("lon", t.DOUBLE), ("city", t.STRING))),
)


def pageviews(chance: random.Random) -> tuple[Any, ...]:
    regions = ("Europe", "Asia", "America", "Africa")
    return chance.randrange(10**6), chance.randrange(10**5), _instant(chance), chance.choice(regions)


def orders(chance: random.Random) -> tuple[Any, ...]:
    return (
        chance.randrange(10**9),
        chance.randrange(10**6),
        f"product {chance.randrange(1000)}",
        chance.randrange(1, 20),
        Decimal(chance.randrange(1, 10**6)).scaleb(-2),
        chance.random(),
        chance.random() < 0.5,
        20_000 + chance.randrange(365),
        _instant(chance),
        chance.choice(("NEW", "PAID", "SHIPPED", "RETURNED")),
    )


def nested(chance: random.Random) -> tuple[Any, ...]:
    place = {"lat": chance.uniform(-90, 90), "lon": chance.uniform(-180, 180), "city": f"city {chance.randrange(500)}"}
    return chance.randrange(10**9), [f"tag {chance.randrange(50)}" for _ in range(chance.randrange(4))], place


def _instant(chance: random.Random) -> int:
    return START + chance.randrange(86_400_000) * 1000


TABLES: dict[str, tuple[tuple[Field, ...], Callable[[random.Random], tuple[Any, ...]]]] = {
    "4 columns": (PAGEVIEWS, pageviews),
    "10 columns": (ORDERS, orders),
    "nested": (NESTED, nested),
    "1 column": ((Field("value", t.BIGINT),), lambda chance: (chance.randrange(10**9),)),
}
FORMATS: dict[str, tuple[str, ...]] = {
    "json": ("4 columns", "10 columns", "nested"),
    "csv": ("4 columns", "10 columns", "nested"),
    "raw": ("1 column",),
    "avro": ("4 columns", "10 columns", "nested"),
    "avro-confluent": ("10 columns",),
    "debezium-json": ("4 columns", "10 columns"),
    "canal-json": ("10 columns",),
    "maxwell-json": ("10 columns",),
    "ogg-json": ("10 columns",),
}
"""The tables each format is measured with."""


def options(format: str) -> dict[str, str]:
    """What the format cannot do without: a registry that gives every schema the id 1, and knows the last one."""
    if format != "avro-confluent":
        return {}
    server = ThreadingHTTPServer(("127.0.0.1", 0), OneSchema)
    Thread(target=server.serve_forever, daemon=True).start()
    return {"url": f"http://127.0.0.1:{server.server_port}"}


class OneSchema(BaseHTTPRequestHandler):
    """Answers registrations and questions as a schema registry does."""

    schema: ClassVar[str] = ""

    def do_POST(self) -> None:
        OneSchema.schema = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["schema"]
        self._answer({"id": 1})

    def do_GET(self) -> None:
        self._answer({"schema": OneSchema.schema})

    def _answer(self, answer: dict[str, Any]) -> None:
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


def best(work: Callable[[], Any]) -> float:
    """Seconds of processor time of the fastest round."""
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def measure(format: str, table: str) -> None:
    columns, row = TABLES[table]
    chance, schema = random.Random(1), decoded_schema(columns)
    rows = [row(chance) for _ in range(ROWS)]
    batch = pa.RecordBatch.from_arrays(
        [pa.array([r[i] for r in rows], f.type) for i, f in enumerate(schema)], schema=schema
    )
    implementation, choice = (
        format_named(format),
        FormatChoice(format, options(format), FormatContext("bench", topic="b")),
    )
    encoder, decoder = implementation.encoder(columns, choice), implementation.decoder(columns, (), choice)
    payloads = encoder.encode(batch)
    decoded = decoder.decode(payloads)
    assert decoded.rows.equals(batch), f"{format}: {table} did not come back as it was"
    for way, work in (("decode", lambda: decoder.decode(payloads)), ("encode", lambda: encoder.encode(batch))):
        report = {
            "benchmark": "formats",
            "format": format,
            "table": table,
            "way": way,
            "bytes_a_row": round(payloads.nbytes / ROWS),
            "rows_a_second_and_core": round(ROWS / best(work)),
        }
        print(json.dumps(report), flush=True)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("formats", nargs="*", default=list(FORMATS))
    for name in arguments.parse_args().formats:
        for chosen in FORMATS[name]:
            measure(name, chosen)
