"""One workload on rowkind: prints seconds from the start of the job, and without its first batch, as one JSON line."""

from __future__ import annotations

import json
import sys
import time

from rowkind.runtime.job import Job
from rowkind.runtime.session import Session


def main() -> None:
    """Arguments: the tables, the INSERT."""
    started = time.monotonic()
    session = Session(notify=lambda _: None)
    session.sql(sys.argv[1])
    ready = time.monotonic()
    job = session.sql(sys.argv[2])
    assert isinstance(job, Job)
    warm, rows = None, 0
    while not job.wait(0.05):
        if warm is None and job.progress.batches:
            warm, rows = time.monotonic(), job.progress.rows_in
    ended = time.monotonic()
    total = job.progress.rows_in
    steady = (total - rows) / (ended - warm) if warm and total > rows else None
    print(
        json.dumps(
            {
                "engine": "rowkind",
                "startup": round(ready - started, 2),
                "seconds": round(ended - ready, 2),
                "rows": total,
                "rows_per_second": round(total / (ended - ready)),
                "steady_rows_per_second": steady and round(steady),
                "batches": job.progress.batches,
            }
        )
    )
    session.stop()


if __name__ == "__main__":
    main()
