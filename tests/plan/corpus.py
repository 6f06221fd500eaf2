"""Expressions with what real Flink makes of them; `python -m tools.record_functions` records them anew."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rowkind.sql import parse_type
from rowkind.types import DataType

FOLDER = Path(__file__).parent / "fixtures" / "functions"
GROUPS = sorted(path.stem for path in FOLDER.glob("*.json") if path.stem != "columns")
ZONES = {"zoned": "Europe/Berlin"}
"""The session's time zone where it is not UTC."""

_INTERVALS = {"INTERVAL SECOND(3)": "INTERVAL DAY TO SECOND", "INTERVAL MONTH": "INTERVAL YEAR TO MONTH"}


@dataclass(frozen=True, slots=True)
class Case:
    """An expression and the expected type and value as text, or the phase in which it must fail."""

    expression: str
    type: str | None
    value: str | None
    error: str | None


def cases(group: str) -> list[Case]:
    """The cases of a file. Where rowkind differs on purpose, the case says why in `differs`, and `rowkind` counts."""
    return [_case(entry) for entry in json.loads((FOLDER / f"{group}.json").read_text("utf-8"))]


def _case(entry: dict[str, Any]) -> Case:
    expected = {**entry, **entry["rowkind"]} if "rowkind" in entry else entry
    if "value" in entry.get("rowkind", {}):
        expected.pop("error", None)
    type = expected.get("type")
    return Case(entry["expression"], comparable(type) if type else None, expected.get("value"), expected.get("error"))


def comparable(type: str) -> str:
    """Flink's name of the type; the digits of intervals are left out."""
    for flink, ours in _INTERVALS.items():
        type = type.replace(flink, ours)
    return re.sub(r" \*\w+\*", "", type)


def columns() -> dict[str, tuple[DataType, str]]:
    """The columns that the expressions may use: type and value as Flink SQL."""
    entries = json.loads((FOLDER / "columns.json").read_text("utf-8"))
    return {name: (parse_type(c["type"]), f"CAST({c['value']} AS {c['type']})") for name, c in entries.items()}
