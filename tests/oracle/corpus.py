"""The corpus: queries in files, each with a name, the key it is written by if there is one, and its batch form.

    -- name by key, columns
    SELECT …;
    -- batch
    SELECT …;

Without a key the result goes into a table of changes, where rows may repeat and any column may be null. The batch form
is what DuckDB computes over the current tables; it is left out where the query itself says it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "queries"
VIEWS = (FOLDER / "views.sql").read_text("utf-8")
GROUPS = sorted(path.stem for path in FOLDER.glob("*.sql") if path.stem != "views")
_CASE = re.compile(
    r"^-- (?P<name>\w+)(?: by (?P<key>[\w, ]+))?\n(?P<query>(?:WITH|SELECT).*?);\n(?:-- batch\n(?P<batch>.*?);\n)?",
    re.S | re.M,
)


@dataclass(frozen=True, slots=True)
class Case:
    """A query, the columns that are the primary key of its result, and what it means in batch SQL."""

    name: str
    key: str | None
    query: str
    batch: str

    def sink(self, columns: str, upsert: str, retract: str) -> str:
        """The table that takes the result, with the options of the kind it is of."""
        key = f", PRIMARY KEY ({self.key}) NOT ENFORCED" if self.key else ""
        return f"CREATE TABLE out_{self.name} ({columns}{key}) WITH ({upsert if self.key else retract});"


def cases(group: str) -> Iterator[Case]:
    text = (FOLDER / f"{group}.sql").read_text("utf-8")
    for found in _CASE.finditer(text):
        yield Case(found["name"], found["key"], found["query"], found["batch"] or found["query"])
