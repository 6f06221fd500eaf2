"""What `rowkind run` does with metrics: `--metrics`, `--metrics-log` and `--metrics-log-file`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from rowkind.errors import RowkindError

if TYPE_CHECKING:
    from rowkind.metrics.job_metrics import JobMetrics
    from rowkind.runtime.driver.job_handle import JobHandle

Serve = Annotated[
    str | None,
    typer.Option("--metrics", metavar="HOST:PORT", help="Serve metrics to Prometheus at http://HOST:PORT/metrics."),
]
LogSeconds = Annotated[
    float | None, typer.Option("--metrics-log", metavar="SECONDS", help="Write metrics as JSON lines every so often.")
]
LogFile = Annotated[
    Path | None,
    typer.Option("--metrics-log-file", metavar="FILE", help="Append those lines to a file instead of stderr."),
]


@dataclass(slots=True)
class Watched:
    """The jobs whose metrics are published: none until a session has been made."""

    jobs: Sequence[JobHandle] = field(default_factory=list)

    def __call__(self) -> list[JobMetrics]:
        return [job.values for job in self.jobs]


@contextmanager
def published(
    serve: str | None, seconds: float | None, file: Path | None, notify: Callable[[str], None]
) -> Iterator[Watched]:
    """Publish the metrics of jobs while the context is open. What cannot be done is told before Spark starts."""
    watched = Watched()
    with ExitStack() as stack:
        if serve is not None:
            from rowkind.metrics.endpoint import Address, Endpoint

            endpoint = stack.enter_context(closing(Endpoint(Address.of(serve), watched)))
            notify(f"Metrics are at {endpoint.url}")
        if seconds is not None or file is not None:
            from rowkind.metrics.log import MetricsLog

            out = sys.stderr if file is None else stack.enter_context(_opened(file))
            stack.enter_context(closing(MetricsLog(watched, out, _checked(seconds))))
        yield watched


def _checked(seconds: float | None) -> float:
    if seconds is None:
        raise RowkindError("METRICS_LOG_INVALID", problem="--metrics-log-file is given without --metrics-log")
    if not 0 < seconds < float("inf"):
        raise RowkindError("METRICS_LOG_INVALID", problem=f"--metrics-log {seconds:g} is not a number of seconds")
    return seconds


def _opened(file: Path) -> TextIO:
    try:
        return file.open("a", encoding="utf-8")
    except OSError as error:
        reason = f"The file {file} for metrics cannot be written: {error.strerror}"
        raise RowkindError("METRICS_LOG_INVALID", problem=reason) from None
