"""Writes the page of errors from their wording: `python -m rowkind.conditions.document`."""

from __future__ import annotations

import re
from pathlib import Path

from rowkind.errors import conditions

PAGE = Path("docs/errors.md")

_INTRODUCTION = """\
# Errors by name

This page is generated from the wording in the code: `python -m rowkind.conditions.document` writes it.

Every error starts with its name in brackets, on the terminal, in `str(error)` and in Spark's log; in Python it is
`error.condition`, and `error.params` has the parts that stand in *italics* here.
"""


def page() -> str:
    rows = (f"| `{name}` | {_cell(c.message)} | {_cell(c.hint or '')} |" for name, c in sorted(conditions().items()))
    return "\n".join([_INTRODUCTION, "| Name | What it says | What to do |", "|---|---|---|", *rows, ""])


def _cell(text: str) -> str:
    """Wording as one cell: its parts in italics, braces that are meant as such left alone."""
    parts = re.sub(r"(?<!\{)\{(\w+)\}(?!\})", r"*\1*", text).replace("{{", "{").replace("}}", "}")
    return " ".join(parts.replace("|", r"\|").replace("<", "&lt;").split())


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
