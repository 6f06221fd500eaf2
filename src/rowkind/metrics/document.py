"""Writes the table of docs/metrics.md from the declarations: `python -m rowkind.metrics.document`."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path

from rowkind.metrics.declarations import METRICS, Metric, Scope

PAGE = Path("docs/metrics.md")
BEGIN, END = "<!-- written by `make docs` from the declarations -->", "<!-- end of what `make docs` writes -->"

_HEADINGS = {
    Scope.SOURCE: "A topic that is read",
    Scope.SINK: "A topic that is written",
    Scope.TABLE: "A table",
    Scope.OPERATOR: "An operator with state",
    Scope.BATCH: "A phase of batches",
    Scope.JOB: "The job",
}


def tables() -> str:
    """A table for each scope."""
    return "\n".join(_table(scope, list(metrics)) for scope, metrics in groupby(METRICS, key=lambda m: m.scope))


def _table(scope: Scope, metrics: list[Metric]) -> str:
    labels = ", ".join(f"`{label}`" for label in ("job", *metrics[0].labels))
    rows = [f"| `{m.name}` | `{m.exposed}` | {m.unit} | {m.kind} | {m.meaning} |" for m in metrics]
    head = ["| Metric | In Prometheus | Unit | Type | Meaning |", "|---|---|---|---|---|"]
    return "\n".join([f"### {_HEADINGS[scope]}\n", f"Labels: {labels}.\n", *head, *rows, ""])


def written(page: str) -> str:
    """The page with the tables as they are now."""
    between = re.compile(f"(?<={re.escape(BEGIN)}\n).*(?={re.escape(END)})", re.DOTALL)
    return between.sub(lambda _: f"\n{tables()}\n", page)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")
