"""Real Flink as an oracle: one Flink process that answers many questions.

>>> with Flink() as flink:  # doctest: +SKIP
...     flink.evaluate(["1 / 2", "AVG(a)"], source="(VALUES (1), (2)) AS t(a)")
...     flink.run("CREATE TABLE …; INSERT INTO …; SELECT …")
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from rowkind.broker.download import fetch
from rowkind.broker.java import require_java
from tools.flink.script import split

HERE = Path(__file__).parent
LOCK = HERE / "jars.lock"


def flink_python() -> Path:
    """The Python of Flink's own environment: `FLINK_PYTHON`, else what `make flink` has made."""
    python = Path(os.environ.get("FLINK_PYTHON") or HERE / ".venv" / "bin" / "python")
    if not python.exists():
        raise SystemExit(f"There is no Flink in {python}: run `make flink`, or set FLINK_PYTHON.")
    return python


def flink_version() -> str:
    pins = (HERE / "requirements.txt").read_text().splitlines()
    (pin,) = (line for line in pins if line.startswith("apache-flink=="))
    return pin.partition("==")[2]


class Flink:
    """A running Flink process; requests are answered one after the other."""

    def __init__(self, log: Path | None = None) -> None:
        require_java()
        jars = os.pathsep.join(str(jar) for jar in fetch(LOCK, "Flink's Kafka connector"))
        self._log = (log or Path(os.devnull)).open("wb")
        self._process = subprocess.Popen(
            [str(flink_python()), str(HERE / "server.py")],
            env={**os.environ, "FLINK_JARS": jars},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )

    def evaluate(self, expressions: Sequence[str], source: str | None = None, **request: Any) -> list[dict[str, Any]]:
        """For each expression `expression`, `type`, `strings`, `values` (a row each), or `error` and `phase`."""
        return self._results({"expressions": list(expressions), "from": source, **request})

    def answers(
        self, calls: Sequence[Sequence[object]], columns: Mapping[str, Sequence[str]], **request: Any
    ) -> list[dict[str, Any]]:
        """For each call, an expression and the names of its columns, `phase` (plan, run, done), `type` and `value`."""
        return self._results({"calls": calls, "columns": columns, **request})

    def run(self, sql: str | Sequence[str], **request: Any) -> list[dict[str, Any]]:
        """For each statement `statement`, `columns`, `rows` (kind first), or `error`, after which it stops."""
        return self._results({"sql": split(sql) if isinstance(sql, str) else list(sql), **request})

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """One raw request and its answer."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"Flink ended with code {self._process.wait()}")
        found: dict[str, Any] = json.loads(line)
        return found

    def _results(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        found = self.ask(request)
        if "error" in found:
            raise RuntimeError(found["error"])
        results: list[dict[str, Any]] = found["results"]
        return results

    def close(self) -> None:
        """End the process and its JVM."""
        self._process.communicate()
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


if __name__ == "__main__":
    with Flink() as installed:
        print(f"Flink answers: 1 + 1 is {installed.evaluate(['1 + 1'])[0]['strings'][0]}.")
