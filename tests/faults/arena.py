"""Where a fault happens: a broker of its own behind a proxy, one job under load, and a look at its output."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from uuid import uuid4

from rowkind.broker import Broker
from rowkind.broker.settings import CLIENT_LISTENER, HOST, free_port
from tests.cli.command import SECONDS, Command, started
from tests.faults.checks import INSERTS, NAMES, OUTPUTS, TABLES, Event, Message, Promise
from tests.faults.consumer import committed, observed
from tests.faults.proxy import Proxy
from tests.kafka_client import KafkaClient

FORMATS = "'key.format' = 'json', 'value.format' = 'json'"


@dataclass(frozen=True, slots=True)
class Site:
    """A broker that faults may be done to, and a second way to it that can be made slow or cut."""

    broker: Broker
    proxy: Proxy


@contextmanager
def site() -> Iterator[Site]:
    """A broker that tells clients on its second listener to come through the proxy."""
    ports = {name: free_port() for name in (CLIENT_LISTENER, "PROXIED", "CONTROLLER")}
    outside = free_port()
    config = {
        "auto.create.topics.enable": "false",
        "listeners": ",".join(f"{name}://{HOST}:{port}" for name, port in ports.items()),
        "advertised.listeners": f"{CLIENT_LISTENER}://{HOST}:{ports[CLIENT_LISTENER]},PROXIED://{HOST}:{outside}",
        "listener.security.protocol.map": ",".join(f"{name}:PLAINTEXT" for name in ports),
        "controller.quorum.voters": f"1@{HOST}:{ports['CONTROLLER']}",
    }
    with Broker.start(ports[CLIENT_LISTENER], config=config) as broker, Proxy(outside, ports["PROXIED"]) as proxy:
        yield Site(broker, proxy)


@dataclass
class Arena:
    """One job with all checks, under one scenario."""

    site: Site
    promise: Promise
    folder: Path
    proxied: bool = False
    batch: int = 1000
    run: str = field(default_factory=lambda: f"run-{uuid4().hex[:8]}")
    events: list[Event] = field(default_factory=list)
    """What has to come through."""
    loaded: int = 0
    runs: int = 0
    more: str = ""
    """Further options of the tables that are read."""
    seen: dict[str, tuple[dict[int, int], list[Message]]] = field(default_factory=dict)
    looked: tuple[int, dict[str, dict[int, int]]] | None = None
    found: list[str] = field(default_factory=list)
    master: str | None = None
    parallelism: int | None = None
    inserts: str = INSERTS
    flags: tuple[str, ...] = ()
    """Further arguments of the command."""

    def __post_init__(self) -> None:
        self.checkpoint = self.folder / "checkpoint"
        self.client.create_topic(self.source, 2)
        self.client.create_topic(f"{self.run}-names")
        self.client.produce(f"{self.run}-names", NAMES)
        for output in OUTPUTS:
            self.client.create_topic(self.topic(output.table), 2)

    @property
    def broker(self) -> Broker:
        return self.site.broker

    @cached_property
    def client(self) -> KafkaClient:
        """Around the proxy: the test itself always gets through."""
        return KafkaClient(self.broker.bootstrap)

    @property
    def source(self) -> str:
        return f"{self.run}-load"

    def topic(self, table: str) -> str:
        return f"{self.run}-{table}"

    def load(self, count: int) -> None:
        """So many more messages."""
        fresh = [Event(i) for i in range(self.loaded, self.loaded + count)]
        self.client.produce(self.source, [(e.key, e.value) for e in fresh])
        self.loaded += count
        self.events += fresh

    def script(self) -> Path:
        servers = self.site.proxy.address if self.proxied else self.broker.bootstrap
        reading = f"'scan.max-rows-per-batch' = '{self.batch}', 'properties.group.id' = '{self.run}'{self.more}"
        width = f", 'sink.parallelism' = '{self.parallelism}'" if self.parallelism else ""
        writing = {o.table: f"'sink.delivery-guarantee' = '{o.promised(self.promise)}'{width}" for o in OUTPUTS}
        names = {
            "kafka": f"'properties.bootstrap.servers' = '{servers}'",
            "reading": reading,
            "formats": FORMATS,
            "run": self.run,
            **writing,
        }
        text = TABLES.format(**names) + self.inserts
        path = self.folder / "job.sql"
        path.write_text(text)
        return path

    def start(self, **env: str) -> AbstractContextManager[Command]:
        """The job as a user starts it; the same command resumes it."""
        self.runs += 1
        master = ("--master", self.master) if self.master else ()
        arguments = ("run", str(self.script()), "--checkpoint", str(self.checkpoint), *master, *self.flags)
        return started(self.folder / f"run-{self.runs}", *arguments, env=env)

    def faults(self, independent: bool = False, promise: Promise | None = None) -> list[str]:
        """What is missing or wrong in the output now, by the job's promise or another one.

        While a job runs only completeness is asked for: nothing that is there twice goes away by waiting.
        """
        if independent:
            found = observed(self.broker.bootstrap, *(self.topic(o.table) for o in OUTPUTS))
            return self._faults({o.table: found[self.topic(o.table)] for o in OUTPUTS}, promise)
        ends = {o.table: self.client.end_offsets(self.topic(o.table), committed=True) for o in OUTPUTS}
        if (len(self.events), ends) != self.looked:  # nothing else can have changed
            self.looked = len(self.events), ends
            self.found = self._faults({table: self._seen(table, ends[table]) for table in ends}, Promise.AT_LEAST_ONCE)
        return self.found

    def _faults(self, messages: Mapping[str, list[Message]], promise: Promise | None = None) -> list[str]:
        return [fault for o in OUTPUTS for fault in o.faults(messages[o.table], self.events, promise or self.promise)]

    def _seen(self, table: str, ends: dict[int, int]) -> list[Message]:
        """The committed messages; read again only when there are more."""
        if self.seen.get(table, ({}, []))[0] != ends:
            self.seen[table] = ends, committed(self.broker.bootstrap, self.topic(table))
        return self.seen[table][1]

    def owner(self) -> str:
        """Which run the checkpoint belongs to."""
        return next(self.checkpoint.glob("*/owner")).read_text()

    def until_complete(self, job: Command) -> None:
        """Wait until the output has all of the load."""
        job.until(lambda: not self.faults())

    def until_written(self, job: Command) -> None:
        """Wait until the job has written something."""
        topic = self.topic(OUTPUTS[0].table)
        job.until(lambda: any(self.client.end_offsets(topic).values()))

    def finish(self, job: Command, promise: Promise | None = None) -> None:
        """All of the load comes through, the job stops when asked to, and an independent reader finds no fault."""
        self.complete(job)
        self.verify(promise)

    def complete(self, job: Command) -> None:
        """All of the load comes through, and the job stops when asked to."""
        self.until_complete(job)
        job.signal(15)
        assert job.wait() == 0, job.err

    def verify(self, promise: Promise | None = None) -> None:
        faults = self.faults(independent=True, promise=promise)
        assert not faults, "; ".join(faults)[:2000]

    def records_lost_before(self, ends: dict[int, int]) -> list[Event]:
        """Have the broker remove what is before these offsets, as retention does; says which events that were."""
        from confluent_kafka import TopicPartition

        gone = [r for r in self.client.consume_all(self.source) if r.offset < ends.get(r.partition, 0)]
        wanted = [TopicPartition(self.source, p, end) for p, end in ends.items()]
        for answer in self.client.admin.delete_records(wanted).values():
            answer.result(SECONDS)
        return [Event(json.loads(r.value or b"")["id"]) for r in gone]

    def forget(self, lost: Sequence[Event]) -> None:
        """These events will never come through, and the test knows."""
        gone = set(lost)
        self.events = [e for e in self.events if e not in gone]
