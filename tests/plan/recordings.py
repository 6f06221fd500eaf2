"""Generated calls with Flink's answers, as `python -m tools.record_calls` has recorded them."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self

from rowkind.sql import parse_type
from rowkind.types import DataType

FOLDER = Path(__file__).parent / "fixtures" / "calls"
_COLUMN = re.compile(r"\bc\d+\b")


class Recorded(NamedTuple):
    """A call and Flink's answer: a value as text (bytes in base64), or that it fails while it runs.

    `alone` says that it failed here when it was recorded; it is asked alone then, for it would spoil others.
    """

    expression: str
    type: str
    value: str | None
    fails: bool
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Recording:
    """The calls of a seed; columns have a type and a value."""

    seed: int
    zone: str
    columns: Mapping[str, Sequence[str]]
    calls: Sequence[Recorded]

    @classmethod
    def read(cls, path: Path) -> Self:
        found = json.loads(gzip.decompress(path.read_bytes()))
        return cls(found["seed"], found["zone"], found["columns"], [Recorded(*call) for call in found["calls"]])

    def write(self) -> None:
        content = {"seed": self.seed, "zone": self.zone, "columns": self.columns, "calls": self.calls}
        text = json.dumps(content, ensure_ascii=False).encode()
        (FOLDER / f"{self.seed}.json.gz").write_bytes(gzip.compress(text, mtime=0))

    def typed_columns(self) -> dict[str, tuple[DataType, str]]:
        """Type and value, as Flink SQL."""
        return {name: (parse_type(type), f"CAST({v} AS {type})") for name, (type, v) in self.columns.items()}

    def written_out(self, expression: str) -> str:
        """With values in place of columns."""
        return _COLUMN.sub(lambda name: self.columns[name[0]][1], expression)


def paths() -> list[Path]:
    return sorted(FOLDER.glob("*.json.gz"))
