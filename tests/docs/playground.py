"""Runs what a page shows, on the run's Kafka and Spark: topics get names of their own, the broker its address."""

from __future__ import annotations

import contextlib
import io
import re
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING
from uuid import uuid4

from rowkind.broker.process import wait_until
from rowkind.cli.console import Console
from rowkind.runtime.driver.job import Job, Status
from rowkind.runtime.driver.session import Answer, Selection, Session
from rowkind.sql import parse_script, substitute
from rowkind.sql import statements as s
from tests.kafka_client import KafkaClient

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHOWN_BROKER = "localhost:9092"
SECONDS = 300


@dataclass
class Playground:
    """One page's world."""

    client: KafkaClient
    suffix: str = field(default_factory=lambda: uuid4().hex[:8])

    def localised(self, text: str) -> str:
        """The text with this run's broker, and topics that nobody else uses."""
        text = re.sub(r"('(?:[a-z.-]*\.)?topic' = ')([^']+)'", self._renamed, text)
        return text.replace(SHOWN_BROKER, self.client.bootstrap)

    def _renamed(self, match: re.Match[str]) -> str:
        return match[1] + ";".join(f"{topic}-{self.suffix}" for topic in match[2].split(";")) + "'"

    def written(self, job: Job) -> int:
        """How many messages there are for a job to read, in those of its topics that exist."""
        there = self.client.admin.list_topics(timeout=60).topics
        topics = {topic for table in job.plan.tables for topic in table.parts if topic in there}
        return sum(end for topic in topics for end in self.client.end_offsets(topic).values())

    def create_topics(self, script: str) -> None:
        """The topics of a script, for somebody who fills them before they are written."""
        for statement in parse_script(substitute(script, {})):
            if isinstance(statement, s.CreateTable):
                options = statement.definition.options
                for topic in filter(None, options.get("topic", "").split(";")):
                    if topic not in self.client.admin.list_topics(timeout=60).topics:
                        policy = "compact" if options.get("connector") == "upsert-kafka" else "delete"
                        self.client.create_topic(topic, **{"cleanup.policy": policy})


class PageSession:
    """One session in which the sql blocks of a page run one after the other."""

    def __init__(self, spark: SparkSession, playground: Playground) -> None:
        self.playground = playground
        self._console = Console()
        self._session = Session(spark, notify=lambda _: None, show=self._rows, as_text=True)

    def run(self, text: str) -> list[str]:
        """Run a block and wait for what it has to do; the lines that `rowkind run` would have shown."""
        script = self.playground.localised(text)
        self._catch_up()
        with contextlib.redirect_stdout(io.StringIO()) as shown:
            for answer in self._session.execute(script):
                self._console = Console()
                self._finish(answer)
                self._console.answer(answer)
        return shown.getvalue().replace(f"-{self.playground.suffix}", "").splitlines()

    @property
    def jobs(self) -> list[Job]:
        return self._session.jobs

    def close(self) -> None:
        self._session.stop()

    def _rows(self, titles: tuple[str, ...], rows: list[tuple[str, tuple[object, ...]]]) -> None:
        self._console.rows(titles, rows)

    def _finish(self, answer: Answer) -> None:
        """A bounded job to its end; of one that has none, the first batch."""
        job = answer.job if isinstance(answer, Selection) else answer
        if isinstance(job, Job):
            assert wait_until(lambda: job.status is not Status.RUNNING or self._works(job), SECONDS), job.name
            job.wait(0)

    def _catch_up(self) -> None:
        """Jobs of earlier blocks that run on have read what was written since."""
        for job in self._session.jobs:
            if job.status is Status.RUNNING:
                assert wait_until(partial(_has_read, job, self.playground.written(job)), SECONDS), job.name

    @staticmethod
    def _works(job: Job) -> bool:
        return not job.plan.bounded and job.progress.batches > 0


def _has_read(job: Job, messages: int) -> bool:
    return job.progress.rows_in >= messages
