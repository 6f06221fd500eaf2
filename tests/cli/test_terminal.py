"""What data may do to a terminal: nothing."""

from __future__ import annotations

import contextlib
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from rowkind.cli.console import Console
from rowkind.cli.layouts import OutputFormat
from rowkind.cli.terminal import say
from rowkind.errors import RowkindError

HOSTILE = "\x1b]0;title\x07\x1b[2J\x9b31m\r\b\x7f\u202egnp\u2066\u200f\n\tend"
SHOWN = r"\x1b]0;title\x07\x1b[2J\x9b31m\r\x08\x7f\u202egnp\u2066\u200f\n\tend"


class Terminal:
    """A real one: what is written to `file` can be read as a screen gets it."""

    def __init__(self) -> None:
        self._screen, inner = pty.openpty()
        self.file: TextIO = os.fdopen(inner, "w", encoding="utf-8")

    def seen(self) -> str:
        self.file.close()
        found = b""
        with contextlib.suppress(OSError):  # how the end of a terminal is told
            while data := os.read(self._screen, 65536):
                found += data
        os.close(self._screen)
        return found.decode().replace("\r\n", "\n")


@contextlib.contextmanager
def as_stdout(file: TextIO) -> Iterator[None]:
    with contextlib.redirect_stdout(file):
        yield


def test_rows_and_titles_of_a_select_are_escaped_on_a_terminal() -> None:
    terminal = Terminal()
    with as_stdout(terminal.file):
        console = Console()
        console.rows(("a", "b\x1b[1m"), [("+I", ("\x1b[31mred", "ü\u202e\n"))])
        console.selected()
    assert terminal.seen().splitlines() == [
        "+----+--------------+--------------+",
        "| op | a            | b\\x1b[1m     |",
        "+----+--------------+--------------+",
        "| +I | \\x1b[31mred  | ü\\u202e\\n    |",
        "+----+--------------+--------------+",
    ]


def test_errors_keep_their_lines_and_nothing_else() -> None:
    terminal = Terminal()
    say(RowkindError("NO_SUCH_TABLE", table=HOSTILE, suggestion=""), terminal.file)
    seen = terminal.seen()
    assert SHOWN.replace(r"\n\t", "\n\t") in seen
    assert {c for c in seen if not c.isprintable()} == {"\n", "\t"}


def test_a_pipe_gets_what_is_there(tmp_path: Path) -> None:
    with open(tmp_path / "out", "w", encoding="utf-8", newline="") as file, as_stdout(file):
        Console(format=OutputFormat.CSV).rows(("a",), [("+I", (HOSTILE,))])
        say(HOSTILE, file)
    assert (tmp_path / "out").read_bytes().decode() == f'op,a\n+I,"{HOSTILE}"\n{HOSTILE}\n'


def test_the_command_escapes_what_it_refuses(tmp_path: Path) -> None:
    terminal, script = Terminal(), tmp_path / "script.sql"
    script.write_text("SELECT '\x1b[2J\u202e' FROM;")
    command = [str(Path(sys.executable).with_name("rowkind")), "run", str(script)]
    assert subprocess.run(command, stderr=terminal.file, stdout=subprocess.DEVNULL).returncode == 1
    seen = terminal.seen()
    assert seen.startswith("[SQL_SYNTAX]")
    assert r"\x1b[2J\u202e" in seen
    assert "\x1b" not in seen
