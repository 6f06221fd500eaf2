"""The section "Different from Flink" of each format's page, from the list: `python -m rowkind.formats.document`."""

from __future__ import annotations

import textwrap
from pathlib import Path

from rowkind.formats.differences import DIFFERENCES

HEADING = "## Different from Flink\n"
FORMATS = sorted({name for difference in DIFFERENCES for name in difference.formats})


def path(name: str) -> Path:
    return Path("docs") / f"{name}.md"


def with_section(name: str, page: str) -> str:
    """The page with its last section as the list has it."""
    before = page.partition(HEADING)[0].rstrip()
    found = [difference.words for difference in DIFFERENCES if name in difference.formats]
    bullets = [textwrap.fill(f"* {words}", 120, subsequent_indent="  ", break_on_hyphens=False) for words in found]
    return "\n".join([f"{before}\n", HEADING, *bullets, ""])


if __name__ == "__main__":
    for each in FORMATS:
        path(each).write_text(with_section(each, path(each).read_text("utf-8")), "utf-8")
