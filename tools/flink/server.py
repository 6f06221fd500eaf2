"""Answers requests with real Flink: JSON lines in on stdin, JSON lines out on stdout. Runs in Flink's own environment.

Requests (`id`, `config` and `setup` are optional; every request gets a fresh catalog):
  {"id": 1, "expressions": ["1 / 2", "UPPER(a)"], "from": "(VALUES ('x')) AS t(a)"}
  {"id": 2, "calls": [["SUBSTRING(c0, 2)", ["c0"]]], "columns": {"c0": ["STRING", "'abc'"]}}
  {"id": 3, "sql": ["CREATE TABLE …", "INSERT INTO …", "SELECT …"], "max_rows": 10}
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, TextIO

from evaluator import Evaluator  # type: ignore[import-not-found]  # beside this script, which runs on its own
from py4j.java_collections import JavaArray, JavaMap
from py4j.protocol import Py4JJavaError
from pyflink.table import EnvironmentSettings, TableEnvironment, TableResult
from pyflink.util.exceptions import TableException

TOGETHER = 40
DEFAULTS = {"table.local-time-zone": "UTC", "parallelism.default": "1", "python.executable": sys.executable}


def environment(request: dict[str, Any]) -> TableEnvironment:
    """A fresh catalog with the request's settings and tables."""
    table_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    jars = [f"file://{jar}" for jar in os.environ.get("FLINK_JARS", "").split(os.pathsep) if jar]
    settings = {**DEFAULTS, "pipeline.jars": ";".join(jars), **request.get("config", {})}
    for name, value in settings.items():
        if value:
            table_env.get_config().set(name, value)
    for statement in request.get("setup", []):
        table_env.execute_sql(statement).wait()
    return table_env


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """The answer to one request; a failure is an answer too."""
    try:
        table_env = environment(request)
        if "expressions" in request:
            return {"results": evaluate(table_env, request["expressions"], request.get("from"))}
        if "calls" in request:
            return {"results": answers(table_env, request["calls"], request["columns"])}
        return {"results": run(table_env, request["sql"], request.get("max_rows"))}
    except Exception as error:
        return {"error": reason(error)}


def evaluate(table_env: TableEnvironment, expressions: list[str], source: str | None) -> list[dict[str, Any]]:
    """Type, text (by CAST to STRING) and value of each expression, one entry a row of the source."""
    origin = f" FROM {source}" if source else ""
    results = [typed(table_env, expression, origin) for expression in expressions]
    sound = [result for result in results if "error" not in result]
    for start in range(0, len(sound), TOGETHER):
        compute(table_env, sound[start : start + TOGETHER], origin)
    for result in results:
        result.pop("columns", None)
    return results


def answers(
    table_env: TableEnvironment, calls: list[tuple[str, list[str]]], columns: dict[str, list[str]]
) -> list[dict[str, Any]]:
    """Each call alone, by the code that Flink generates for it."""
    evaluator = Evaluator(table_env, columns)
    found = [evaluator.answer(*call) for call in calls]
    return [{**a, "error": reason(a["error"])} if "error" in a else a for a in found]


def typed(table_env: TableEnvironment, expression: str, origin: str) -> dict[str, Any]:
    """Plan an expression: its type, and whether it can be shown as text."""
    try:
        table = table_env.sql_query(f"SELECT {expression}{origin}")
        kind = column_types(table._j_table.getResolvedSchema())[0]["type"]
    except Exception as error:
        return {"expression": expression, "error": reason(error), "phase": "plan"}
    text = f"CAST({expression} AS STRING)"
    try:
        table_env.sql_query(f"SELECT {text}{origin}")
    except Exception:
        text = "CAST(NULL AS STRING)"
    return {"expression": expression, "type": kind, "columns": [text, expression]}


def compute(table_env: TableEnvironment, results: list[dict[str, Any]], origin: str) -> None:
    """Fill in texts and values in one job; when it fails, in halves, until the guilty ones are alone."""
    columns = ", ".join(column for result in results for column in result["columns"])
    try:
        _, rows = collect(table_env.execute_sql(f"SELECT {columns}{origin}"), None)
    except Exception as error:
        if len(results) == 1:
            results[0].update(error=reason(error), phase="run")
            return
        middle = len(results) // 2
        compute(table_env, results[:middle], origin)
        compute(table_env, results[middle:], origin)
        return
    for position, result in enumerate(results):
        result["strings"] = [row[1 + 2 * position] for row in rows]
        result["values"] = [repr(row[2 + 2 * position]) for row in rows]


def run(table_env: TableEnvironment, statements: list[str], max_rows: int | None) -> list[dict[str, Any]]:
    """Execute statements in order, each to its end; stops at the first failure."""
    results: list[dict[str, Any]] = []
    for statement in statements:
        try:
            columns, rows = collect(table_env.execute_sql(statement), max_rows)
            shown = [[kind, *(repr(value) for value in values)] for kind, *values in rows]
            results.append({"statement": statement, "columns": columns, "rows": shown})
        except Exception as error:
            results.append({"statement": statement, "error": reason(error)})
            break
    return results


def collect(result: TableResult, max_rows: int | None) -> tuple[list[dict[str, str]], list[list[Any]]]:
    """Columns and rows of a result; each row starts with its kind."""
    rows: list[list[Any]] = []
    iterator = result._j_table_result.collect()
    while iterator.hasNext():
        row = iterator.next()
        fields = (plain(row.getField(position)) for position in range(row.getArity()))
        rows.append([row.getKind().shortString(), *fields])
        if len(rows) == max_rows:
            iterator.close()  # cancels the job, so not after its own end
            break
    return column_types(result._j_table_result.getResolvedSchema()), rows


def column_types(schema: Any) -> list[dict[str, str]]:
    return [{"name": c.getName(), "type": c.getDataType().toString()} for c in schema.getColumns()]


def plain(value: Any) -> Any:
    """A Java value in Python's own types; dates and times in their ISO form."""
    if value is None or isinstance(value, bool | int | float | str | bytes) or type(value).__name__ == "Decimal":
        return value
    if isinstance(value, JavaMap):
        return {plain(entry.getKey()): plain(entry.getValue()) for entry in value.entrySet()}
    if isinstance(value, JavaArray):
        return [plain(item) for item in value]
    if value.getClass().getName() == "org.apache.flink.types.Row":
        return tuple(plain(value.getField(position)) for position in range(value.getArity()))
    return value.toString()


def reason(error: Exception) -> str:
    """The innermost cause of a failure, without the stack."""
    if isinstance(error, Py4JJavaError):
        return innermost(error.java_exception)
    if isinstance(error, TableException) or hasattr(error, "_msg"):
        return str(getattr(error, "_msg", error)).splitlines()[0]
    return f"{type(error).__name__}: {error}"


def innermost(throwable: Any) -> str:
    while throwable.getCause() is not None:
        throwable = throwable.getCause()
    return str(throwable.toString()).splitlines()[0]


def serve(requests: TextIO, answers: TextIO) -> None:
    """Answer until stdin ends."""
    for line in requests:
        request = json.loads(line)
        answers.write(json.dumps({"id": request.get("id"), **answer(request)}) + "\n")
        answers.flush()


if __name__ == "__main__":
    # Flink's own prints must not get between the answers.
    own_stdout = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    serve(sys.stdin, own_stdout)
