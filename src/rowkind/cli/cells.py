"""Values as cells of a text table: in one line, as wide as a terminal shows them, NULL unlike any text."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size

from rowkind.cli.terminal import escaped

NULL = "NULL"


def cell(value: object) -> str:
    """A value in one line. A text that reads like NULL is quoted; bytes are shown as Flink writes them.

    >>> cell(None), cell("NULL"), cell(b"A\\xff"), cell("a\\nb")
    ('NULL', "'NULL'", "x'41ff'", 'a\\\\nb')
    """
    if value is None:
        return NULL
    if isinstance(value, (bytes, bytearray)):
        return f"x'{value.hex()}'"
    text = escaped(str(value))
    return f"'{text}'" if text.strip("'") == NULL else text


def width(text: str) -> int:
    """Columns of a terminal that a text takes: two for each wide character."""
    return cell_len(text)


def cut(text: str, columns: int) -> str:
    """The text in so many columns; a mark shows that there was more.

    >>> cut("abcdef", 4), cut("abcd", 4)
    ('abc…', 'abcd')
    """
    return text if width(text) <= columns else set_cell_size(text, columns - 1) + "…"


def padded(text: str, columns: int) -> str:
    return text + " " * (columns - width(text))
