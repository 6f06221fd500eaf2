"""Text on its way to a terminal: data must not move the cursor, change colours or turn the direction of writing."""

from __future__ import annotations

import re
from typing import TextIO

_CONTROLS = "\x00-\x1f\x7f-\x9f"
_DIRECTIONS = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_NOT_SHOWN = re.compile(f"[{_CONTROLS}{_DIRECTIONS}\u2028\u2029\ud800-\udfff]")


def escaped(text: str) -> str:
    """A value in one line: control characters and those that turn the direction of writing as escapes.

    >>> escaped("a\\x1b[2J\\n\\u202eb")
    'a\\\\x1b[2J\\\\n\\\\u202eb'
    """
    return _NOT_SHOWN.sub(lambda found: repr(found[0])[1:-1], text)


def escaped_lines(text: str) -> str:
    """A message of several lines: as `escaped`, but its line breaks and tabs stay."""
    return _NOT_SHOWN.sub(lambda found: found[0] if found[0] in "\n\t" else repr(found[0])[1:-1], text)


def say(text: object, file: TextIO) -> None:
    """Print a message; what goes into a pipe or a file stays as it is."""
    print(escaped_lines(str(text)) if file.isatty() else text, file=file)
