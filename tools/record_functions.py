"""Record what real Flink makes of the expressions in tests/plan/fixtures/functions.

Each file there holds cases with an `expression`; this fills in `type` and `value` (as text, by CAST to STRING; bytes in
hexadecimal), or `error` (`plan` or `run`). A case is added by its expression alone. Needs `make flink`.

    python -m tools.record_functions [NAME …]
"""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import Any

from tests.plan.corpus import ZONES
from tools.flink.client import Flink

FIXTURES = Path(__file__).parent.parent / "tests" / "plan" / "fixtures" / "functions"
COLUMNS = FIXTURES / "columns.json"
KEPT = ("expression", "differs", "rowkind")
"""What a person writes into a case; everything else is recorded."""


def source(columns: dict[str, dict[str, str]]) -> str:
    """One row with a column of each type. The CASE makes them nullable, and keeps Flink from folding them away."""
    members = (
        f"CASE WHEN RAND() < 2 THEN CAST({c['value']} AS {c['type']}) END AS `{name}`" for name, c in columns.items()
    )
    return f"(SELECT {', '.join(members)}) AS t"


def recorded(case: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """The case as Flink answers it."""
    found = {key: case[key] for key in KEPT if key in case}
    if "type" in answer:
        found["type"] = answer["type"]
    if "error" in answer:
        found["error"] = answer["phase"]
    elif answer["type"].startswith(("BYTES", "BINARY", "VARBINARY")):
        value = ast.literal_eval(answer["values"][0])
        found["value"] = None if value is None else value.hex()
    else:
        found["value"] = answer["strings"][0]
    return found


def ask(flink: Flink, cases: list[dict[str, Any]], origin: str, config: dict[str, str]) -> dict[str, dict[str, Any]]:
    """Flink's answers. What failed when it was last recorded is asked alone: a failure spoils all that run with it."""
    failing = [case["expression"] for case in cases if case.get("error") == "run"]
    others = [case["expression"] for case in cases if case.get("error") != "run"]
    answers = flink.evaluate(others, source=origin, config=config)
    for expression in failing:
        answers += flink.evaluate([expression], source=origin, config=config)
    return {answer["expression"]: answer for answer in answers}


def record(flink: Flink, path: Path, columns: dict[str, dict[str, str]]) -> None:
    cases = json.loads(path.read_text("utf-8"))
    zone = ZONES.get(path.stem, "UTC")
    answers = ask(flink, cases, source(columns), {"table.local-time-zone": zone})
    lines = (json.dumps(recorded(c, answers[c["expression"]]), ensure_ascii=False) for c in cases)
    path.write_text("[\n  " + ",\n  ".join(lines) + "\n]\n", "utf-8")
    print(f"{path.stem}: {len(cases)} cases")


def main(names: list[str]) -> None:
    columns = json.loads(COLUMNS.read_text("utf-8"))
    paths = [p for p in sorted(FIXTURES.glob("*.json")) if p != COLUMNS and (not names or p.stem in names)]
    with Flink() as flink:
        for path in paths:
            record(flink, path, columns)


if __name__ == "__main__":
    main(sys.argv[1:])
