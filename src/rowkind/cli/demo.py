"""`rowkind demo`: the first example on a Kafka and a Spark of its own, with its result changing before your eyes."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table

from rowkind.cli.latest import LatestByKey
from rowkind.cli.stage import kafka_and_spark, perform, read_back, timed

if TYPE_CHECKING:
    from rowkind.runtime.driver.batch_runner import Row
    from rowkind.runtime.driver.job import Job

SOURCE, SINK = "pageviews", "pageviews_per_region"
Views = list[tuple[int, str]]
"""Who looked from where: the user and the region."""

READ_BACK = f"""\
SELECT user_region, pv, uv
FROM {SINK} /*+ OPTIONS('scan.bounded.mode' = 'latest-offset') */;"""


def waves() -> Iterator[tuple[str, Views]]:
    """What happens on the site, in four steps."""
    yield "Five page views.", [(1, "north"), (2, "north"), (3, "south"), (4, "south"), (5, "west")]
    yield "Users 1 and 3 look again: more views, no new visitor.", [(1, "north"), (3, "south"), (3, "south")]
    yield "Two views from a new region.", [(6, "east"), (7, "east")]
    chance = random.Random(7)
    many = [(chance.randrange(1000), chance.choice(["north", "south", "west"])) for _ in range(10_000)]
    yield "Ten thousand more, from 1,000 users in three regions.", many


def demo() -> None:
    """Start a local Kafka, run the first example on local Spark, show the result changing, clean up.

    Nothing has to run before, and nothing is left behind.
    """
    from rowkind.broker import require_java

    require_java()
    screen = Console(highlight=False)
    script = resources.files("rowkind.examples").joinpath("pageviews.sql").read_text("utf-8")
    screen.print("[bold]The script[/] (examples/pageviews.sql)\n")
    screen.print(Syntax(script.strip(), "sql", theme="ansi_light", background_color="default"))
    screen.print()
    perform(screen, "Kafka and Spark", lambda folder: _play(screen, script, folder))


def _play(screen: Console, script: str, folder: Path) -> None:
    rows: list[Row] = []
    with kafka_and_spark(screen, folder, rows) as (bootstrap, session, _):
        _create_source(bootstrap)
        with timed(screen, "Starting the job"):
            job: Job = session.sql(script, {"brokers": bootstrap})  # type: ignore[assignment]
        screen.print(f"\nBelow is topic {SINK} as a plain Kafka consumer sees it:\nthe latest value of each key.")
        with LatestByKey(bootstrap, SINK) as latest:
            _show_waves(screen, bootstrap, job, latest)
        job.stop()
        job.wait()
        screen.print(f"\n[bold]The topic as a table again[/]\n{READ_BACK}")
        session.sql(READ_BACK).wait()
        screen.print(read_back(rows, "user_region", "pv", "uv"))
        screen.print("\nStopping …")


def _show_waves(screen: Console, bootstrap: str, job: Job, latest: LatestByKey) -> None:
    views = 0
    for title, wave in waves():
        before = dict(latest.rows)
        views += len(wave)
        screen.print(f"\n[bold]{title}[/]")
        _feed(bootstrap, wave)
        _until(latest, job, views)
        screen.print(_changes(before, latest.rows))
    screen.print(f"\n{views:,} page views made {latest.messages} messages for {len(latest.rows)} keys.")


def _until(latest: LatestByKey, job: Job, views: int) -> None:
    """Until the result accounts for every view; a job that fails meanwhile says why."""
    while sum(row["pv"] for row in latest.rows.values()) < views:
        latest.read()
        job.wait(0)


def _changes(before: dict[str, Any], after: dict[str, Any]) -> Table:
    table = Table("user_region", "pv", "uv", "")
    for region, row in sorted(after.items()):
        old = before.get(region)
        note = "new" if old is None else "" if old == row else f"was {old['pv']}, {old['uv']}"
        table.add_row(region, str(row["pv"]), str(row["uv"]), note, style="bold green" if note else "dim")
    return table


def _create_source(bootstrap: str) -> None:
    from confluent_kafka.admin import AdminClient, NewTopic

    admin = AdminClient({"bootstrap.servers": bootstrap})
    for created in admin.create_topics([NewTopic(SOURCE, num_partitions=2, replication_factor=1)]).values():
        created.result(60)


def _feed(bootstrap: str, views: Views) -> None:
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 5})
    for user, region in views:
        view = {"user_id": user, "page_id": user % 17, "viewtime": "2026-01-01 12:00:00.000", "user_region": region}
        producer.produce(SOURCE, json.dumps(view))
    producer.flush(60)
