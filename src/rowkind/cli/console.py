"""What `rowkind run` shows: answers as tables, rows as they come, progress while jobs run."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

from rich.console import Console as Screen
from rich.live import Live
from rich.text import Text as Line

from rowkind.cli.terminal import escaped, escaped_lines, say

if TYPE_CHECKING:
    from rowkind.runtime.driver.job_handle import JobHandle
    from rowkind.runtime.driver.session import Answer

WIDEST = 30
LOG_SECONDS = 10.0


class Console:
    """Rows and answers go to stdout, everything else to stderr, so that output can be piped."""

    def __init__(self, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self._given = out
        self._screen = Screen(file=err, stderr=err is None, highlight=False)
        self._lock = threading.Lock()
        self._widths: list[int] | None = None

    @property
    def _out(self) -> TextIO:
        """Asked for each time: somebody may put another stdout in its place."""
        return self._given or sys.stdout

    def notice(self, text: str) -> None:
        shown = escaped_lines(text) if self._screen.is_terminal else text
        self._screen.print(shown, markup=False, soft_wrap=True)

    def answer(self, answer: Answer) -> None:
        """The answer of a statement, where it has one to show."""
        from rowkind.runtime.driver.session import Text

        if isinstance(answer, Text):
            for line in table(answer.rows, answer.heading) if answer.heading else (row[0] for row in answer.rows):
                say(line, self._out)

    def rows(self, titles: tuple[str, ...], rows: list[tuple[str, tuple[object, ...]]]) -> None:
        """Rows of a SELECT with their kinds, below one heading."""
        shown = escaped if self._out.isatty() else str
        heading = ("op", *map(shown, titles))
        lines = [(kind, *(shown(cell(value)) for value in values)) for kind, values in rows]
        with self._lock:
            if self._widths is None:
                self._widths = [min(WIDEST, max(12, *map(len, c))) for c in zip(heading, *lines, strict=True)]
                self._widths[0] = 2
                lines_above = (rule(self._widths), line(heading, self._widths), rule(self._widths))
                print(*lines_above, sep="\n", file=self._out)
            for cells in lines:
                print(line(cells, self._widths), file=self._out)
            self._out.flush()

    def shown(self, lines: Sequence[str], aside: bool = False) -> None:
        """Messages of a sink that shows them; `aside` has them on stderr."""
        out = sys.stderr if aside else self._out
        with self._lock:
            for text in lines:
                say(text, out)
            out.flush()

    def selected(self) -> None:
        """A SELECT is done: the next one has a heading of its own."""
        with self._lock:
            if self._widths is not None:
                print(rule(self._widths), flush=True, file=self._out)
            self._widths = None

    @contextlib.contextmanager
    def progress(self, jobs: Sequence[JobHandle]) -> Iterator[None]:
        """One live line a job on a terminal; otherwise a log line now and then."""
        done = threading.Event()
        show = self._live if self._screen.is_terminal and sys.stdout.isatty() else self._log
        watcher = threading.Thread(target=show, args=(jobs, done), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            done.set()
            watcher.join(5)
            for job in jobs:
                self.notice(described(job))

    def _live(self, jobs: Sequence[JobHandle], done: threading.Event) -> None:
        with Live(console=self._screen, refresh_per_second=4, transient=True) as live:
            while not done.wait(0.25):
                live.update(Line(escaped_lines("\n".join(described(job) for job in jobs))))

    def _log(self, jobs: Sequence[JobHandle], done: threading.Event) -> None:
        last = time.monotonic()
        while not done.wait(0.25):
            if time.monotonic() - last >= LOG_SECONDS:
                last = time.monotonic()
                for job in jobs:
                    self.notice(described(job))


def described(job: JobHandle) -> str:
    """A job in one line, and what else it has to say."""
    p = job.progress
    line = (
        f"{job.name}: {job.status}, {p.rows_in:,} rows in, {p.rows_out:,} out, "
        f"{p.rows_per_second:,.0f} rows/s, lag {p.lag:,}, {p.batches} batches"
    )
    return "\n".join([line, *job.details])


def table(rows: Sequence[Sequence[str]], heading: Sequence[str]) -> Iterator[str]:
    """A text table."""
    shown = [tuple("" if c is None else str(c) for c in row) for row in rows]
    widths = [max(map(len, column)) for column in zip(heading, *shown, strict=True)]
    yield rule(widths)
    yield line(heading, widths)
    yield rule(widths)
    yield from (line(row, widths) for row in shown)
    yield rule(widths)


def rule(widths: Sequence[int]) -> str:
    return "+" + "+".join("-" * (w + 2) for w in widths) + "+"


def line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "|" + "|".join(f" {cut(c, w):<{w}} " for c, w in zip(cells, widths, strict=True)) + "|"


def cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def cell(value: object) -> str:
    return "<NULL>" if value is None else str(value)
