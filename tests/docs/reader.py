"""Somebody who follows a page from top to bottom: saves its files, and runs its commands in the order shown.

Nothing is prepared: topics exist only when a command has made them, and a command knows what its files say and nothing
else. Each command is a terminal of its own; a job without an end runs on while the next ones are run. Commands run on
the shared Spark, in the code that `rowkind run` runs after it has started one.
"""

from __future__ import annotations

import io
import re
import shlex
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from rowkind.broker.process import wait_until
from rowkind.cli.console import Console
from rowkind.cli.run import play
from rowkind.errors import RowkindError
from rowkind.runtime.driver.job import Status
from rowkind.runtime.driver.session import Session
from tests.docs import pages as p
from tests.docs.playground import SECONDS, Playground

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from rowkind.runtime.driver.job import Job

_GOES_ON = re.compile(r".*: running, .* rows/s, lag .* batches")
"""A line of progress, which a terminal shows and takes away again."""


class Terminal:
    """One command under way."""

    def __init__(self, spark: SparkSession, folder: Path, words: list[str]) -> None:
        files, checkpoint = _arguments(words)
        self._screen = io.StringIO()
        console = Console(self._screen, self._screen)
        self.session = Session(spark, checkpoint, notify=console.notice, show=console.rows, as_text=True)
        self._stop = threading.Event()
        scripts = [(Path(file), (folder / file).read_text()) for file in files]
        self._thread = threading.Thread(target=self._play, args=(scripts, console), daemon=True)
        self._thread.start()

    def _play(self, scripts: list[tuple[Path, str]], console: Console) -> None:
        try:
            play(self.session, scripts, console, self._stop)
            for job in self.session.jobs:
                job.wait()
        except RowkindError as error:
            console.notice(str(error))

    def settle(self, playground: Playground) -> list[str]:
        """Wait until the command has ended or has done all there is to do; what the terminal shows then."""
        assert wait_until(lambda: not self._thread.is_alive() or self._rests(playground), SECONDS), self.lines
        return self.lines

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self._screen.getvalue().splitlines() if not _GOES_ON.fullmatch(line)]

    def _rests(self, playground: Playground) -> bool:
        """Whether all that is left are jobs without an end that have read what was written."""
        jobs = self.session.jobs
        return bool(jobs) and all(not job.plan.bounded and _caught_up(job, playground) for job in jobs)

    def close(self) -> None:
        self._stop.set()
        self.session.stop()
        self._thread.join()


def _arguments(words: list[str]) -> tuple[list[str], str | None]:
    """The scripts of a `rowkind run`, the first one first, and its checkpoint."""
    assert words[:2] == ["rowkind", "run"], f"a reader does not know how to do {words}"
    rest = iter(words[2:])
    first, last, checkpoint = [], [], None
    for word in rest:
        if word in ("--init", "-i"):
            first.append(next(rest))
        elif word == "--checkpoint":
            checkpoint = next(rest)
        else:
            assert not word.startswith("-"), f"a reader does not know {word}"
            last.append(word)
    return first + last, checkpoint


def _caught_up(job: Job, playground: Playground) -> bool:
    if job.status is not Status.RUNNING:
        return True
    return job.progress.batches > 0 and job.progress.rows_in >= playground.written(job)


class Reader:
    """Follows one page."""

    def __init__(self, spark: SparkSession, playground: Playground, folder: Path) -> None:
        self._spark, self._playground, self._folder = spark, playground, folder
        self._terminals: list[Terminal] = []

    def follow(self, page: str) -> list[str]:
        """What came out otherwise than the page shows, one text a command."""
        wrong = []
        for block in p.blocks(page):
            if block.file:
                (self._folder / block.file).write_text(self._playground.localised(block.text))
            if block.language == "console" and "follow" in block.words:
                wrong += [text for command in block.commands if (text := self._try(block.place, command))]
        return wrong

    def _try(self, place: str, command: p.Command) -> str | None:
        for terminal in self._terminals:
            terminal.settle(self._playground)
        words = [word.replace("/tmp/", f"{self._folder}/") for word in shlex.split(command.words)]
        terminal = Terminal(self._spark, self._folder, words)
        self._terminals.append(terminal)
        lines = [line.replace(f"-{self._playground.suffix}", "") for line in terminal.settle(self._playground)]
        if same(command.shown, lines):
            return None
        return "\n".join([f"{place}: {command.words}", *lines])

    def close(self) -> None:
        for terminal in self._terminals:
            terminal.close()


def same(shown: list[str], lines: list[str]) -> bool:
    """Whether a page shows just these lines. `…` stands for any text; rows of a table come in any order."""
    if len(shown) != len(lines):
        return False
    patterns = [".*".join(map(re.escape, line.split("…"))) for line in _ordered(shown)]
    return all(re.fullmatch(pattern, line) for pattern, line in zip(patterns, _ordered(lines), strict=True))


def _ordered(lines: list[str]) -> list[str]:
    """The lines with the rows of each table sorted."""
    found: list[str] = []
    rows: list[str] = []
    for line in lines:
        if line.startswith("|"):
            rows.append(line)
        else:
            found += [*sorted(rows), line]
            rows = []
    return found + sorted(rows)
