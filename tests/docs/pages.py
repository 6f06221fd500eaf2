"""Pages of documentation as what they show: fenced blocks, in order.

The words behind a block's language say how it is checked:

| block | check |
|---|---|
| `sql` | run, with the other sql blocks of its page, in one session; a `text` block behind it is its output |
| `sql error` | run, and refused with the condition that the `text` block behind it names |
| `sql NAME.sql` | the same as `sql`, and saved under that name for the page's commands |
| `console` | every command exists, with the options shown |
| `console follow` | the page is followed from top to bottom, with nothing prepared; the lines are all that is shown |
| `python` | run, with the other python blocks of its page, in a process of its own |
| `java` | compiled with Kafka Streams |
| `yaml` | a job file that is valid once its variables have values |
| `yaml prometheus` | given to a real Prometheus |
| `text` | belongs to the block before it |
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
GENERATED = {"options.md", "options-formats.md", "ingestion-options.md", "functions.md", "errors.md"}
LANGUAGES = {"sql", "console", "python", "java", "text", "yaml"}
_FENCE = re.compile(r"^(?P<indent> *)```(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)


class Command(NamedTuple):
    """A command of a console block, and the lines shown below it."""

    words: str
    shown: list[str]


@dataclass(frozen=True)
class Block:
    page: str
    line: int
    language: str
    words: tuple[str, ...]
    text: str
    output: str | None = field(default=None)
    """The text block right behind it."""

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def file(self) -> str | None:
        return next((word for word in self.words if word.endswith(".sql")), None)

    @property
    def commands(self) -> list[Command]:
        found: list[Command] = []
        for line in self.text.splitlines():
            if line.startswith("$ "):
                found.append(Command(line[2:].partition("  #")[0].strip(), []))
            elif line.strip() and line.strip() != "…":
                found[-1].shown.append(line.rstrip())
        return found


def pages() -> list[str]:
    """Every page that is written by hand."""
    docs = sorted(p for p in (ROOT / "docs").glob("*.md") if p.name not in GENERATED)
    top = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")]
    return [str(p.relative_to(ROOT)) for p in (*top, *docs)]


@cache
def blocks(page: str) -> tuple[Block, ...]:
    """The blocks of a page; a text block is joined to the one before it."""
    text = (ROOT / page).read_text("utf-8")
    found: list[Block] = []
    for match in _FENCE.finditer(text):
        language, *words = match["info"].split() or [""]
        line = text.count("\n", 0, match.start()) + 1
        if language == "text" and found and found[-1].language != "text":
            last = found[-1]
            found[-1] = Block(last.page, last.line, last.language, last.words, last.text, match["body"])
        else:
            found.append(Block(page, line, language, tuple(words), match["body"]))
    return tuple(found)


def of(language: str, page: str, word: str | None = None) -> list[Block]:
    """The blocks of a page in one language, perhaps only those with a word."""
    return [b for b in blocks(page) if b.language == language and (word is None or word in b.words)]


def pages_with(language: str, word: str | None = None) -> list[str]:
    return [page for page in pages() if of(language, page, word)]


def followed() -> list[str]:
    """Pages that are followed as a whole: their sql is in files that their commands run."""
    return pages_with("console", "follow")


def links(page: str) -> list[str]:
    """Links to other pages of the repository, without anchors."""
    text = _FENCE.sub("", (ROOT / page).read_text("utf-8"))
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    return [t.partition("#")[0] for t in targets if not t.startswith(("http", "#"))]
