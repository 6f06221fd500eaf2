"""Statements of the shell itself beside those of SQL, by Flink's names for them and by short ones."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from rowkind.sql.errors import Source
from rowkind.sql.script import statement
from rowkind.sql.statements import Statement
from rowkind.sql.tokens import STRINGS, Cursor


class Action(StrEnum):
    QUIT = "quit"
    HELP = "help"
    CLEAR = "clear"
    SHOW_JOBS = "show jobs"
    STOP_JOB = "stop job"
    SHOW_FUNCTIONS = "show functions"
    SOURCE = "source"


@dataclass(frozen=True, slots=True)
class ShellStatement:
    """`argument` is the job of STOP JOB, the file of SOURCE."""

    action: Action
    argument: str = ""


_WORDS: tuple[tuple[tuple[str, ...], Action, str | None], ...] = (
    (("QUIT",), Action.QUIT, None),
    (("EXIT",), Action.QUIT, None),
    (("HELP",), Action.HELP, None),
    (("CLEAR",), Action.CLEAR, None),
    (("SHOW", "JOBS"), Action.SHOW_JOBS, None),
    (("SHOW", "FUNCTIONS"), Action.SHOW_FUNCTIONS, None),
    (("SHOW", "USER", "FUNCTIONS"), Action.SHOW_FUNCTIONS, None),
    (("STOP", "JOB"), Action.STOP_JOB, "the job in quotes"),
    (("SOURCE",), Action.SOURCE, "a file in quotes"),
)
SHORT = {"\\q": "QUIT", "\\h": "HELP", "\\?": "HELP", "\\j": "SHOW JOBS", "\\f": "SHOW FUNCTIONS"}


def parse(text: str, file: str | None = None) -> list[ShellStatement | Statement]:
    """All statements of a text.

    >>> parse("STOP JOB 'orders'; QUIT")
    [ShellStatement(action=<Action.STOP_JOB: 'stop job'>, argument='orders'), ShellStatement(action=<Action.QUIT: 'quit'>, argument='')]
    """  # noqa: E501
    c = Cursor(Source(text, file))
    found: list[ShellStatement | Statement] = []
    while True:
        while c.accept(";"):
            pass
        if c.done:
            return found
        found.append(_own(c) or statement(c))
        if not c.done and not c.at(";"):
            raise c.unexpected("';' or the end of the statement")


def _own(c: Cursor) -> ShellStatement | None:
    for words, action, argument in _WORDS:
        if c.accept(*words):
            if argument is None:
                return ShellStatement(action)
            given = c.string(argument) if c.token.token_type in STRINGS else c.name(argument).name
            if action is Action.STOP_JOB and c.accept("WITH"):  # Flink: WITH SAVEPOINT, WITH DRAIN
                c.advance()
            return ShellStatement(action, given)
    return None


def expanded(line: str) -> str:
    """A line with a short name for a statement, written out.

    >>> expanded("\\\\d orders"), expanded("\\\\q"), expanded("SELECT 1;")
    ('DESCRIBE orders', 'QUIT', 'SELECT 1;')
    """
    word, _, rest = line.strip().rstrip(";").partition(" ")
    if word == "\\d":
        return f"DESCRIBE {rest.strip()}" if rest.strip() else "SHOW TABLES"
    return SHORT.get(word, line)


def complete(text: str) -> bool:
    """Whether Enter sends the text: statements end with a semicolon, short names and words alone do not need one."""
    stripped = text.strip()
    alone = stripped.upper() in ("QUIT", "EXIT", "HELP", "CLEAR")
    return not stripped or stripped.startswith("\\") or stripped.endswith(";") or alone
