"""Serves the metrics of jobs to Prometheus; values are taken when it asks for them."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from wsgiref.simple_server import WSGIServer

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import GaugeMetricFamily, UnknownMetricFamily
from prometheus_client.registry import Collector

from rowkind.errors import RowkindError
from rowkind.metrics import declarations as d
from rowkind.metrics.job_metrics import JobMetrics
from rowkind.version import version

Family = GaugeMetricFamily | UnknownMetricFamily
Jobs = Callable[[], Iterable[JobMetrics]]


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen. Port 0 takes a free one."""

    host: str
    port: int

    @staticmethod
    def of(text: str) -> Address:
        """
        >>> Address.of("localhost:9249"), Address.of("[::1]:0")
        (Address(host='localhost', port=9249), Address(host='::1', port=0))
        """
        host, sign, port = text.rpartition(":")
        bare = host.removeprefix("[").removesuffix("]")
        if not (sign and bare and port.isascii() and port.isdigit() and int(port) < 2**16):
            raise RowkindError("METRICS_ADDRESS_INVALID", address=text)
        return Address(bare, int(port))

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Endpoint:
    """A running server of `/metrics`, in a thread of its own."""

    def __init__(self, address: Address, jobs: Jobs) -> None:
        registry = CollectorRegistry()
        registry.register(JobCollector(jobs))
        try:
            self._server: WSGIServer = start_http_server(address.port, address.host, registry)[0]
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise RowkindError("METRICS_PORT_IN_USE", address=str(address)) from None
            raise RowkindError("METRICS_NOT_SERVED", address=str(address), reason=error.strerror or error) from None
        self.address = Address(address.host, self._server.server_port)

    @property
    def url(self) -> str:
        return f"http://{self.address}/metrics"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class JobCollector(Collector):
    """The values of all jobs. Of jobs with one name, which then run one after the other, those of the last."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs

    def collect(self) -> Iterator[Family]:
        families = {metric: _family(metric) for metric in d.METRICS}
        for name, job in {job.job: job for job in self._jobs()}.items():
            named = [_text(job.names.get(end, "")) for end in ("source", "sink")]
            families[d.INFO].add_metric([_text(name), version(), *named], 1)
            for metric, labels, value in job.samples():
                families[metric].add_metric([_text(name), *map(_text, labels)], value)
        yield from (family for family in families.values() if family.samples)


def _family(metric: d.Metric) -> Family:
    """Counters are exposed without a type: the client would have their names end in `_total`."""
    made = GaugeMetricFamily if metric.kind is d.Kind.GAUGE else UnknownMetricFamily
    return made(metric.exposed, metric.meaning, labels=["job", *metric.labels])


def _text(label: str) -> str:
    """Names may hold half a surrogate pair, which has no bytes in UTF-8."""
    return label.encode("utf-8", "backslashreplace").decode()
