"""The page of named errors."""

from __future__ import annotations

from rowkind.conditions.document import PAGE, page


def test_the_page_is_current() -> None:
    """If this fails: run `make docs`."""
    assert PAGE.read_text("utf-8") == page()
