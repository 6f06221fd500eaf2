"""Run a SQL script on real Flink and print each statement's result: `python -m tools.flink.run_sql SCRIPT`.

Without a script, JSON requests (see `server.py`) are read from stdin and answered line by line on stdout.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tools.flink.client import Flink


def show(result: dict[str, Any]) -> None:
    """One statement and what came of it."""
    print(result["statement"])
    if "error" in result:
        print(f"  failed: {result['error']}")
        return
    print("  " + ", ".join(f"{column['name']} {column['type']}" for column in result["columns"]))
    for kind, *values in result["rows"]:
        print(f"  {kind} {', '.join(values)}")


def main(arguments: list[str]) -> int:
    with Flink() as flink:
        if not arguments:
            for line in sys.stdin:
                print(json.dumps(flink.ask(json.loads(line))), flush=True)
            return 0
        results = flink.run(Path(arguments[0]).read_text("utf-8"))
        for result in results:
            show(result)
        return int(any("error" in result for result in results))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
