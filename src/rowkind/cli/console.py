"""What `rowkind run` shows: answers as tables, rows as they come, progress while jobs run."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, TextIO

from rich.console import Console as Screen
from rich.live import Live
from rich.text import Text as Line

from rowkind.cli.layouts import LAYOUTS, Layout, OutputFormat, print_all, texts, with_kind
from rowkind.cli.terminal import escaped_lines, say

if TYPE_CHECKING:
    from rowkind.runtime.driver.job_handle import JobHandle
    from rowkind.runtime.driver.session import Answer, Selection
    from rowkind.types import Field

LOG_SECONDS = 10.0


class Console:
    """Rows and answers go to stdout, everything else to stderr, so that output can be piped."""

    def __init__(
        self, out: TextIO | None = None, err: TextIO | None = None, format: OutputFormat = OutputFormat.TABLE
    ) -> None:
        self._given = out
        self._screen = Screen(file=err, stderr=err is None, highlight=False)
        self._format = format
        self._lock = threading.Lock()
        self._layout: Layout | None = None
        self._fields: tuple[Field, ...] = ()

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

        if isinstance(answer, Text) and answer.heading:
            print_all(answer.heading, answer.rows, self._format, self._out)
        elif isinstance(answer, Text):
            for row in answer.rows:
                say(row[0], self._out)

    def announce(self, fields: tuple[Field, ...]) -> None:
        """The columns of a SELECT whose rows follow."""
        with self._lock:
            self._fields, self._layout = fields, None

    def rows(self, titles: tuple[str, ...], rows: list[tuple[str, tuple[object, ...]]]) -> None:
        """Rows of a SELECT with their kinds, below one heading."""
        with self._lock:
            self._begun(with_kind(self._fields or texts(titles))).rows([(kind, *values) for kind, values in rows])
            self._out.flush()

    def shown(self, lines: Sequence[str], aside: bool = False) -> None:
        """Messages of a sink that shows them; `aside` has them on stderr."""
        out = sys.stderr if aside else self._out
        with self._lock:
            for text in lines:
                say(text, out)
            out.flush()

    def _begun(self, fields: Sequence[Field]) -> Layout:
        if self._layout is None:
            self._layout = LAYOUTS[self._format]()
            self._layout.begin(fields, self._out)
        return self._layout

    def selected(self, selection: Selection | None = None) -> None:
        """A SELECT is done: what is left to show of it, and the end of its table."""
        final = selection.final if selection is not None else None
        with self._lock:
            layout = self._begun(self._fields if final is not None else with_kind(self._fields))
            if final is not None and (rows := final.rows()):
                layout.rows(rows)
            layout.end()
            self._out.flush()
            self._layout, self._fields = None, ()

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
        """Lines that are read later say when they were written."""
        last = time.monotonic()
        while not done.wait(0.25):
            if time.monotonic() - last >= LOG_SECONDS:
                last = time.monotonic()
                now = datetime.now().astimezone().isoformat(timespec="seconds")
                for job in jobs:
                    self.notice(f"{now} {described(job)}")


def described(job: JobHandle) -> str:
    """A job in one line, and what else it has to say. What was left out is told as soon as there is any."""
    p = job.progress
    counts = Counter(p.counts)  # a copy: the job goes on counting
    parts = [f"{job.name}: {job.status}", f"{p.rows_in:,} rows in"]
    parts.append(f"{p.rows_out:,} out" if p.rows_shown is None else f"{p.rows_shown:,} shown")
    parts += [f"{p.rows_per_second:,.0f} rows/s", f"lag {p.lag:,}", f"{p.batches} batches"]
    for name, words in LEFT_OUT.items():
        if number := sum(count for counter, count in counts.items() if counter.rpartition(".")[2] == name):
            parts.append(f"{number:,} {words}")
    return "\n".join([", ".join(parts), *job.details])


LEFT_OUT = {
    "messages-skipped": "messages skipped",
    "messages-dead-lettered": "messages dead-lettered",
    "parse-errors-ignored": "parse errors ignored",
    "null-rows-dropped": "rows with a NULL dropped",
    "late_rows_dropped": "late rows dropped",
}
"""Counters of what was read or computed and is not in the result, in the words of a progress line."""
