"""The prompt: several lines, colours, history across runs, completion."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer
from pygments.lexers.sql import SqlLexer

from rowkind.cli.shell.statements import complete

KEYWORDS = tuple(
    word
    for line in (
        "SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT JOIN LEFT RIGHT FULL OUTER INNER ON UNION ALL INTERSECT EXCEPT",
        "WITH AS DISTINCT CASE WHEN THEN ELSE END CAST BETWEEN LIKE IN EXISTS IS NULL NOT AND OR INSERT INTO VALUES",
        "CREATE DROP TABLE VIEW TEMPORARY IF PRIMARY KEY ENFORCED WATERMARK FOR METADATA VIRTUAL DESCRIBE EXPLAIN SHOW",
        "TABLES VIEWS FUNCTIONS JOBS STOP JOB SET RESET SOURCE EXECUTE STATEMENT BEGIN QUIT HELP OVER PARTITION ROWS",
        "RANGE TUMBLE HOP CUMULATE SESSION DESCRIPTOR INTERVAL UNNEST LATERAL",
    )
    for word in line.split()
)


class SqlCompleter(Completer):
    """In quotes names and values of options, elsewhere keywords, functions, tables and their columns."""

    def __init__(self, names: Callable[[], Iterable[str]], options: Callable[[], dict[str, tuple[str, ...]]]) -> None:
        self._names, self._options = names, options

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        before = document.text_before_cursor
        if before.count("'") % 2:
            yield from self._quoted(before)
            return
        word = document.get_word_before_cursor(pattern=re.compile(r"[\w$]+"))
        if word:
            found = {*KEYWORDS, *self._names()}
            for name in sorted(n for n in found if n.lower().startswith(word.lower()) and n != word):
                yield Completion(name, start_position=-len(word))

    def _quoted(self, before: str) -> Iterator[Completion]:
        part = before[before.rindex("'") + 1 :]
        key = re.search(r"'([^']+)'\s*=\s*'[^']*$", before)
        options = self._options()
        known = options.get(key[1], ()) if key else tuple(options)
        for name in sorted(known):
            if name.startswith(part):
                yield Completion(name, start_position=-len(part))


def history_file() -> Path:
    """Across runs, for this user alone."""
    base = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    folder = base / "rowkind"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder / "history"


def prompt_session(
    names: Callable[[], Iterable[str]], options: Callable[[], dict[str, tuple[str, ...]]]
) -> PromptSession[str]:
    return PromptSession(
        "rowkind> ",
        multiline=True,
        prompt_continuation="      -> ",
        history=FileHistory(str(history_file())),
        auto_suggest=AutoSuggestFromHistory(),
        lexer=PygmentsLexer(SqlLexer),
        completer=SqlCompleter(names, options),
        complete_while_typing=False,
        key_bindings=_keys(),
    )


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        """Send a text that is complete; otherwise begin another line."""
        buffer = event.current_buffer
        if complete(buffer.text) and not buffer.document.text_after_cursor.strip():
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    return keys
