"""What the shell does with a text: statements one after the other, results as they come."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console as Screen

from rowkind.cli.layouts import OutputFormat, print_all
from rowkind.cli.shell.live_table import LiveTable
from rowkind.cli.shell.statements import Action, ShellStatement, expanded, parse
from rowkind.errors import RowkindError, nearest
from rowkind.sql import statements as s
from rowkind.sql import substitute

if TYPE_CHECKING:
    from rowkind.cli.console import Console
    from rowkind.runtime.driver.session import Selection, Session
    from rowkind.types import Field

RESULT_MODE = "sql-client.execution.result-mode"
MODES = ("tableau", "changelog", "table")
HELP = """\
A statement ends with a semicolon and may take several lines; Ctrl-C ends a query, Ctrl-D the shell.

SELECT …;                 rows as they change; SET 'sql-client.execution.result-mode' = 'table' keeps them in place
INSERT INTO … SELECT …;   a job that goes on in the background
SHOW JOBS; STOP JOB 'x';  what runs, and the end of it
SHOW TABLES; DESCRIBE t; SHOW CREATE TABLE t; SHOW FUNCTIONS; EXPLAIN SELECT …;
SET; SET 'key' = 'value'; RESET 'key';
SOURCE 'file.sql';        the statements of a file
\\d  \\d t  \\j  \\f  \\h  \\q     tables, a table, jobs, functions, this text, the end"""


@dataclass
class Client:
    """The session behind the prompt, which is there when Spark is."""

    starting: Future[Session]
    console: Console
    format: OutputFormat = OutputFormat.TABLE
    variables: dict[str, str] = field(default_factory=dict)
    mode: str = "tableau"
    _live: LiveTable | None = None
    _fields: tuple[Field, ...] = ()

    @property
    def session(self) -> Session:
        if not self.starting.done():
            self.console.notice("Spark is starting …")
        return self.starting.result()

    def announce(self, fields: tuple[Field, ...]) -> None:
        """Called by the session before a SELECT runs."""
        self._fields = fields
        self.console.announce(fields)
        live = self.mode == "table" and sys.stdout.isatty()
        self._live = LiveTable(fields, Screen()) if live else None

    def show(self, titles: tuple[str, ...], rows: list[tuple[str, tuple[object, ...]]]) -> None:
        if self._live is not None:
            self._live.take(rows)
        else:
            self.console.rows(titles, rows)

    def run(self, text: str, file: str | None = None) -> bool:
        """The statements of a text; whether the shell goes on. Raises the first error."""
        text = substitute(expanded(text), self.variables, file)
        return all(self._one(statement, text, file) for statement in parse(text, file))

    def _one(self, statement: ShellStatement | s.Statement, text: str, file: str | None) -> bool:
        if isinstance(statement, ShellStatement):
            return self._own(statement)
        if isinstance(statement, s.Set) and statement.key == RESULT_MODE:
            self._set_mode(str(statement.value).lower())
        else:
            self._answer(statement, text, file)
        return True

    def _set_mode(self, mode: str) -> None:
        if mode not in MODES:
            reason, kind = f"it is not one of {', '.join(MODES)}", "result mode"
            raise RowkindError("INVALID_SESSION_VALUE", option=RESULT_MODE, value=mode, reason=reason, kind=kind)
        self.mode = mode

    def _answer(self, statement: s.Statement, text: str, file: str | None) -> None:
        from rowkind.runtime.driver.job import Job
        from rowkind.runtime.driver.session import Selection

        answer = self.session.run_statement(statement, text, file)
        if isinstance(answer, Selection):
            self._follow(answer)
        elif isinstance(answer, Job):
            self.console.notice(f"Job '{answer.label}' runs in the background: SHOW JOBS, STOP JOB '{answer.label}'.")
        else:
            self.console.answer(answer)

    def _follow(self, selection: Selection) -> None:
        """Until the query ends, or Ctrl-C ends it."""
        started, job, live = time.monotonic(), selection.job, self._live
        with live if live is not None and selection.final is None else nullcontext():
            try:
                while not job.wait(0.1):
                    pass
            except KeyboardInterrupt:
                job.stop()
                job.wait()
        if live is None or selection.final is not None:
            self.console.selected(selection)
        rows = len(selection.final.rows()) if selection.final is not None else job.progress.rows_shown or 0
        self.console.notice(f"{rows:,} rows, {time.monotonic() - started:.1f} s{_left_out(job.progress.counts)}")

    def _own(self, statement: ShellStatement) -> bool:
        actions: dict[Action, Callable[[str], None]] = {
            Action.HELP: lambda _: print(HELP),
            Action.CLEAR: lambda _: Screen().clear(),
            Action.SHOW_JOBS: self._show_jobs,
            Action.STOP_JOB: self._stop_job,
            Action.SHOW_FUNCTIONS: self._show_functions,
            Action.SOURCE: self._source,
        }
        if statement.action is Action.QUIT:
            return False
        actions[statement.action](statement.argument)
        return True

    def _show_jobs(self, _: str) -> None:
        rows = [
            (job.label, str(job.status), f"{p.rows_in:,}", f"{p.rows_out:,}", f"{p.rows_per_second:,.0f}", f"{p.lag:,}")
            for job in self.session.jobs
            for p in (job.progress,)
        ]
        print_all(("job", "status", "rows in", "out", "rows/s", "lag"), rows, self.format)
        for job in self.session.jobs:
            if job.error is not None:
                self.console.notice(str(job.error))

    def _stop_job(self, name: str) -> None:
        jobs = {job.label: job for job in self.session.jobs}
        if name not in jobs:
            raise RowkindError("NO_SUCH_JOB", job=name, suggestion=nearest(name, jobs))
        jobs[name].stop()
        jobs[name].wait()
        self.console.notice(f"Job '{name}' is {jobs[name].status}.")

    def _show_functions(self, _: str) -> None:
        from rowkind.plan.expressions.functions.all import FUNCTIONS

        print_all(("function name",), [(name,) for name in sorted(FUNCTIONS)], self.format)

    def _source(self, file: str) -> None:
        from rowkind.cli.run import read_script

        try:
            text = read_script(Path(file))
        except OSError as error:
            raise RowkindError("SCRIPT_UNREADABLE", file=file, reason=error.strerror or str(error)) from None
        self.run(text, file)


def _left_out(counts: dict[str, int]) -> str:
    from rowkind.cli.console import LEFT_OUT

    totals = {name: sum(c for key, c in dict(counts).items() if key.rpartition(".")[2] == name) for name in LEFT_OUT}
    return "".join(f", {number:,} {LEFT_OUT[name]}" for name, number in totals.items() if number)
