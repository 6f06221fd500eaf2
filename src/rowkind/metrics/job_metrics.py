"""The values of a job's metrics. The job's thread tells what happens; any thread asks."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rowkind.metrics import declarations as d
from rowkind.metrics.declarations import Metric, Scope
from rowkind.metrics.rates import Rate
from rowkind.metrics.traffic import Lane, Side, StateSize, Traffic
from rowkind.version import version

_COUNTED = {count: metric for metric in d.METRICS for count in metric.counts}


class Sample(NamedTuple):
    """One value, with its labels in the order of the metric's scope; the job is the same for all of a job."""

    metric: Metric
    labels: tuple[str, ...]
    value: float


@dataclass(frozen=True, slots=True)
class BatchReport:
    """What a batch has done. Told once, when it is committed: a batch that is run again counts once."""

    traffic: Mapping[Lane, Traffic] = field(default_factory=dict)
    written: int = 0
    """When its results were written, in epoch milliseconds."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Named counts of workers, each after the name of its table or operator: `orders.offsets-lost`."""
    pending: Mapping[Lane, int] = field(default_factory=dict)
    """Messages that are left for later batches."""
    states: Mapping[str, StateSize] = field(default_factory=dict)
    """By the name of the operator; those that are not here have not changed."""
    watermarks: Mapping[Lane, int] = field(default_factory=dict)
    """In epoch milliseconds."""
    phases: Mapping[str, float] = field(default_factory=dict)
    """Milliseconds."""
    manifest_bytes: int = 0


class _Counted:
    """Records and bytes of a lane, and their means."""

    def __init__(self, now: float) -> None:
        self.records = self.bytes = 0
        self._record_rate, self._byte_rate = Rate(now), Rate(now)

    def add(self, traffic: Traffic, now: float) -> None:
        self.records += traffic.records
        self.bytes += traffic.bytes
        self._record_rate.add(traffic.records, now)
        self._byte_rate.add(traffic.bytes, now)

    def rates(self, now: float) -> tuple[float, float]:
        return self._record_rate.per_second(now), self._byte_rate.per_second(now)


class _Source(_Counted):
    def __init__(self, now: float) -> None:
        super().__init__(now)
        self.last_row = now
        self.pending: int | None = None
        self.watermark: int | None = None
        self.emit_lag: int | None = None
        self.fetch_lag: int | None = None

    def read(self, traffic: Traffic, written: int, now: float) -> None:
        self.add(traffic, now)
        if traffic.records:
            self.last_row = now
        if traffic.event_time is not None and traffic.fetched is not None:
            self.emit_lag = written - traffic.event_time
            self.fetch_lag = traffic.fetched - traffic.event_time

    def values(self, now: float, reads: bool) -> Iterator[tuple[Metric, float | None]]:
        records, bytes = self.rates(now)
        yield d.RECORDS_IN, self.records
        yield d.RECORDS_IN_RATE, records
        yield d.BYTES_IN, self.bytes
        yield d.BYTES_IN_RATE, bytes
        yield d.EMIT_LAG, self.emit_lag
        yield d.FETCH_LAG, self.fetch_lag
        yield d.IDLE, 0 if reads else int((now - self.last_row) * 1000)
        yield d.PENDING, self.pending
        yield d.WATERMARK, self.watermark


class _Sink(_Counted):
    def __init__(self, now: float) -> None:
        super().__init__(now)
        self.send_time: float | None = None

    def wrote(self, traffic: Traffic, now: float) -> None:
        self.add(traffic, now)
        if traffic.send_time is not None:
            self.send_time = traffic.send_time

    def values(self, now: float) -> Iterator[tuple[Metric, float | None]]:
        records, bytes = self.rates(now)
        yield d.RECORDS_OUT, self.records
        yield d.RECORDS_OUT_RATE, records
        yield d.BYTES_OUT, self.bytes
        yield d.BYTES_OUT_RATE, bytes
        yield d.SEND_TIME, self.send_time


class JobMetrics:
    """One for each job, for as long as it runs; counters begin at 0 with it.

    >>> metrics = JobMetrics("copy", [Lane(Side.READ, "orders", "orders-v1")])
    >>> metrics.as_dict()["source"]["orders"]["orders-v1"]["numRecordsIn"]
    0
    """

    def __init__(
        self,
        job: str,
        lanes: Collection[Lane] = (),
        operators: Collection[str] = (),
        restarts: int = 0,
        clock: Callable[[], float] = time.monotonic,
        names: Mapping[str, str] | None = None,
    ) -> None:
        self.job = job
        self._clock = clock
        self._lock = threading.Lock()
        self._sources: dict[Lane, _Source] = {}
        self._sinks: dict[Lane, _Sink] = {}
        self._reading: frozenset[Lane] = frozenset()
        """Of the batch that is under way."""
        self._counts: dict[tuple[Metric, str], int] = defaultdict(int)
        self._states: dict[str, StateSize | None] = dict.fromkeys(operators)
        self._phases: dict[str, float] = {}
        self._phases_total: defaultdict[str, float] = defaultdict(float)
        self._batches = 0
        self._restarts = restarts
        self._manifest_bytes = 0
        self._status = "running"
        self._gauges: dict[tuple[Metric, tuple[str, ...]], float] = {}
        self.names = dict(names or {})
        """What the job calls its source and its sink."""
        for lane in lanes:
            self._lane(lane)

    def waiting(self, pending: Mapping[Lane, int]) -> None:
        """What there is to read now, in all topics that there are, counted from the position that is committed.

        Topics that were there before and are not any more have been deleted, and must not pile up.
        """
        with self._lock:
            for gone in [lane for lane, at in self._sources.items() if at.pending is not None and lane not in pending]:
                del self._sources[gone]
            for lane, records in pending.items():
                self._source(lane).pending = records

    def stands(self, gauges: Mapping[tuple[Metric, tuple[str, ...]], float]) -> None:
        """How far a copy is: these values are replaced together."""
        with self._lock:
            self._gauges = dict(gauges)

    def begun(self, reading: Collection[Lane]) -> None:
        """A batch is run that reads something of these."""
        with self._lock:
            self._reading = frozenset(reading)

    def committed(self, report: BatchReport) -> None:
        now = self._clock()
        with self._lock:
            self._reading = frozenset()
            for lane, traffic in report.traffic.items():
                if lane.side is Side.READ:
                    self._source(lane).read(traffic, report.written, now)
                else:
                    self._sink(lane).wrote(traffic, now)
            for lane, records in report.pending.items():
                self._source(lane).pending = records
            for lane, watermark in report.watermarks.items():
                self._source(lane).watermark = watermark
            self._count(report.counts)
            self._states.update(report.states)
            self._phases = dict(report.phases)
            for phase, took in report.phases.items():
                self._phases_total[phase] += took
            self._manifest_bytes = report.manifest_bytes
            self._batches += 1

    def ended(self, status: str) -> None:
        """The job is over: `finished`, `stopped` or `failed`."""
        with self._lock:
            self._reading = frozenset()
            self._status = status

    def _count(self, counts: Mapping[str, int]) -> None:
        for name, count in counts.items():
            place, _, what = name.rpartition(".")
            if (metric := _COUNTED.get(what)) is not None:
                self._counts[metric, place] += count

    def _lane(self, lane: Lane) -> _Source | _Sink:
        return self._source(lane) if lane.side is Side.READ else self._sink(lane)

    def _source(self, lane: Lane) -> _Source:
        return self._sources.setdefault(lane, _Source(self._clock()))

    def _sink(self, lane: Lane) -> _Sink:
        return self._sinks.setdefault(lane, _Sink(self._clock()))

    def samples(self) -> list[Sample]:
        """All values as they are now; what is not known yet is absent."""
        now = self._clock()
        with self._lock:
            return [Sample(m, labels, v) for m, labels, v in self._values(now) if v is not None]

    def _values(self, now: float) -> Iterator[tuple[Metric, tuple[str, ...], float | None]]:
        for lane, source in self._sources.items():
            for metric, value in source.values(now, lane in self._reading):
                yield metric, lane[1:], value
        for lane, sink in self._sinks.items():
            for metric, value in sink.values(now):
                yield metric, lane[1:], value
        yield from self._counters()
        for operator, state in self._states.items():
            if state is not None:
                yield d.STATE_ROWS, (operator,), state.rows
                yield d.STATE_BYTES, (operator,), state.bytes
        for phase, took in self._phases.items():
            yield d.BATCH_DURATION, (phase,), took
            yield d.BATCH_TIME, (phase,), self._phases_total[phase]
        yield from ((metric, labels, value) for (metric, labels), value in self._gauges.items())
        yield d.BATCHES, (), self._batches
        yield d.RUNNING, (), int(self._status == "running")
        yield d.FAILED, (), int(self._status == "failed")
        yield d.RESTARTS, (), self._restarts
        if self._batches:
            states = sum(state.bytes for state in self._states.values() if state is not None)
            yield d.CHECKPOINT_SIZE, (), states + self._manifest_bytes

    def _counters(self) -> Iterator[tuple[Metric, tuple[str, ...], float]]:
        """Each for every table or operator of the job, from 0 on: a first dead letter is an increase, too."""
        tables = dict.fromkeys(lane.table for lane in (*self._sources, *self._sinks))
        known = {Scope.TABLE: [*tables], Scope.OPERATOR: [*self._states]}
        for metric in d.METRICS:
            if metric.counts:
                told = [place for counted, place in self._counts if counted is metric]
                for place in dict.fromkeys([*known[metric.scope], *told]):
                    yield metric, (place,), self._counts.get((metric, place), 0)

    @property
    def status(self) -> str:
        return self._status

    def as_dict(self) -> dict[str, Any]:
        """The same values as plain data: by scope and labels, those of the job itself at the top."""
        found: dict[str, Any] = {"job": self.job, "version": version(), "status": self._status}
        found |= {"names": self.names} if self.names else {}
        for metric, labels, value in self.samples():
            place = found
            for name in (*(() if metric.scope is Scope.JOB else (metric.scope.value,)), *labels):
                place = place.setdefault(name, {})
            place[metric.name] = value
        return found
