"""What the command line and the metrics know of a job, whatever kind of job it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from rowkind.errors import RowkindError

if TYPE_CHECKING:
    from rowkind.metrics.job_metrics import JobMetrics
    from rowkind.runtime.driver.job import Progress, Status


class JobHandle(Protocol):
    """A job that was started."""

    name: str
    label: str
    progress: Progress
    values: JobMetrics
    error: RowkindError | None
    cause: BaseException | None

    @property
    def status(self) -> Status: ...

    @property
    def details(self) -> list[str]:
        """Lines for people below that of the job."""
        ...

    def stop(self) -> None: ...

    def wait(self, timeout: float | None = None) -> bool: ...
