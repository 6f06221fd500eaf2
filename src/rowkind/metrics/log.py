"""Writes the metrics of jobs as JSON lines, one line for each job every so often, and one when all is over."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import TextIO

from rowkind.metrics.job_metrics import JobMetrics


class MetricsLog:
    """A thread that writes until it is closed. Lines are whole, so that several logs may share a file."""

    def __init__(
        self,
        jobs: Callable[[], Iterable[JobMetrics]],
        out: TextIO,
        seconds: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._jobs = jobs
        self._out = out
        self._seconds = seconds
        self._clock = clock
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="rowkind metrics log", daemon=True)
        self._thread.start()

    def write(self) -> None:
        at = datetime.fromtimestamp(self._clock(), UTC).isoformat(timespec="milliseconds")
        for job in self._jobs():
            # ASCII only: whatever a table is called, the line is text in any encoding
            self._out.write(json.dumps({"time": at, **job.as_dict()}) + "\n")
        self._out.flush()

    def close(self) -> None:
        """The last values are written, too."""
        self._over.set()
        self._thread.join()
        self.write()

    def _run(self) -> None:
        while not self._over.wait(self._seconds):
            self.write()
