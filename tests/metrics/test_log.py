"""Metrics as JSON lines."""

from __future__ import annotations

import io
import json
import time

from rowkind.metrics.job_metrics import JobMetrics
from rowkind.metrics.log import MetricsLog


def test_a_line_for_each_job_is_the_dict_of_the_job_with_the_time() -> None:
    jobs, out = [JobMetrics("a\nb \ud800"), JobMetrics("c")], io.StringIO()
    log = MetricsLog(lambda: jobs, out, seconds=3600, clock=lambda: 1_700_000_000.25)
    log.close()
    first, second = map(json.loads, out.getvalue().splitlines())
    assert first == {"time": "2023-11-14T22:13:20.250+00:00", **jobs[0].as_dict()}
    assert second["job"] == "c"
    assert out.getvalue().isascii()


def test_lines_come_by_themselves() -> None:
    out = io.StringIO()
    log = MetricsLog(lambda: [JobMetrics("a")], out, seconds=0.01)
    deadline = time.monotonic() + 30
    while out.getvalue().count("\n") < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    written = out.getvalue().count("\n")
    log.close()
    assert 3 <= written < out.getvalue().count("\n")
