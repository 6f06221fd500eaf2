"""Java's classes of Kafka, loaded, checked and written down once: with the archive a broker starts in half the time.

An archive fits one Java and the locked jars; Java itself looks whether it does, and goes on without it otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from rowkind.broker.cache import cache_dir, exclusive

QUIET = ("-Xlog:disable", "-Xlog:all=error:stderr")


def archive() -> Path:
    return cache_dir("jars") / "kafka.jsa"


def reading() -> tuple[str, ...]:
    """The options of a JVM that uses the archive, if there is one."""
    return (f"-XX:SharedArchiveFile={archive().resolve()}", *QUIET) if archive().exists() else ()


class _Stopped(Protocol):
    def stop(self) -> None: ...


def make_archive(start: Callable[[tuple[str, ...]], _Stopped]) -> Path | None:
    """Start and stop a broker, and write down the classes it took; nothing when Java has not written them.

    `start` starts a broker with options for its JVM.
    """
    with exclusive(archive().with_suffix(".lock")):
        archive().unlink(missing_ok=True)
        draft = archive().with_suffix(".draft")
        draft.unlink(missing_ok=True)
        start((f"-XX:ArchiveClassesAtExit={draft}", *QUIET)).stop()
        return draft.replace(archive()) if draft.exists() else None
