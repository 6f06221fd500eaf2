"""Changelog tables on Kafka, for Spark. `Session` is the door from Python; importing this needs no Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkind.errors import RowkindError

if TYPE_CHECKING:
    __version__: str
    from rowkind.runtime.driver.job import Job, Progress, Status
    from rowkind.runtime.driver.session import Session

__all__ = ["Job", "Progress", "RowkindError", "Session", "Status", "__version__"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from rowkind.version import version

        return version()
    if name == "Session":
        from rowkind.runtime.driver.session import Session

        return Session
    if name in ("Job", "Progress", "Status"):
        from rowkind.runtime.driver import job

        return getattr(job, name)
    raise AttributeError(f"module 'rowkind' has no attribute '{name}'")
