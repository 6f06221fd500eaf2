"""Statements of Flink SQL that have no meaning here, and what to do instead."""

from __future__ import annotations

from rowkind.sql.tokens import Cursor

_ONE_CATALOG = "There is one catalog with one database; leave the statement out and use the table's own name."
_FUNCTIONS = "Register the function on the Spark session in Python (spark.udf.register) and call it by that name."
_ROWS = "Rows are changed by messages: write a new row, or a delete, to an upsert-kafka table with INSERT INTO."
_JARS = "Nothing is loaded from jars; formats and connectors come with the package."

_REFUSED: dict[tuple[str, ...], str] = {
    ("USE",): _ONE_CATALOG,
    ("CREATE", "CATALOG"): _ONE_CATALOG,
    ("CREATE", "DATABASE"): _ONE_CATALOG,
    ("DROP", "CATALOG"): _ONE_CATALOG,
    ("DROP", "DATABASE"): _ONE_CATALOG,
    ("ALTER", "CATALOG"): _ONE_CATALOG,
    ("ALTER", "DATABASE"): _ONE_CATALOG,
    ("SHOW", "CATALOGS"): _ONE_CATALOG,
    ("SHOW", "DATABASES"): _ONE_CATALOG,
    ("SHOW", "CURRENT"): _ONE_CATALOG,
    ("CREATE", "FUNCTION"): _FUNCTIONS,
    ("CREATE", "TEMPORARY", "FUNCTION"): _FUNCTIONS,
    ("CREATE", "TEMPORARY", "SYSTEM", "FUNCTION"): _FUNCTIONS,
    ("DROP", "FUNCTION"): _FUNCTIONS,
    ("DROP", "TEMPORARY", "FUNCTION"): _FUNCTIONS,
    ("DROP", "TEMPORARY", "SYSTEM", "FUNCTION"): _FUNCTIONS,
    ("ALTER", "FUNCTION"): _FUNCTIONS,
    ("SHOW", "FUNCTIONS"): _FUNCTIONS,
    ("ALTER", "TABLE"): "DROP the table and CREATE it anew; the topic keeps its data.",
    ("ALTER", "VIEW"): "DROP the view and CREATE it anew.",
    ("ALTER",): "DROP it and CREATE it anew.",
    ("CREATE", "MATERIALIZED"): "CREATE TABLE with the connector upsert-kafka, and fill it with INSERT INTO.",
    ("CREATE", "OR", "ALTER"): "CREATE TABLE with the connector upsert-kafka, and fill it with INSERT INTO.",
    ("CREATE", "OR", "REPLACE"): "DROP it first, then CREATE it.",
    ("REPLACE",): "DROP the table first, then CREATE it.",
    ("CREATE", "MODEL"): "Call the model from a Python function registered on the Spark session.",
    ("CREATE", "TEMPORARY", "MODEL"): "Call the model from a Python function registered on the Spark session.",
    ("ANALYZE",): "Leave it out: plans do not depend on table statistics.",
    ("UPDATE",): _ROWS,
    ("DELETE",): _ROWS,
    ("MERGE",): _ROWS,
    ("TRUNCATE",): "Delete the topic's records with Kafka's own tools.",
    ("COMPILE",): "The plan is kept with the checkpoint; run the statement with --checkpoint.",
    ("EXECUTE", "PLAN"): "The plan is kept with the checkpoint; run the statement with --checkpoint.",
    ("CALL",): "There are no procedures.",
    ("LOAD",): "There are no modules to load; all functions are there.",
    ("UNLOAD",): "There are no modules to unload.",
    ("ADD", "JAR"): _JARS,
    ("REMOVE", "JAR"): _JARS,
    ("SHOW", "JARS"): _JARS,
    ("STOP", "JOB"): "Stop a job with Ctrl-C, SIGTERM, or stop() of its handle in Python.",
    ("SHOW", "JOBS"): "A job's handle in Python has status and progress.",
    ("SHOW", "COLUMNS"): "Use DESCRIBE table.",
    ("SHOW", "PARTITIONS"): "Kafka tables have no partition columns.",
    ("SHOW", "MODULES"): "There are no modules; all functions are there.",
    ("QUIT",): "A script ends with its last statement.",
    ("EXIT",): "A script ends with its last statement.",
    ("HELP",): "See rowkind --help.",
    ("CLEAR",): "Leave it out.",
    ("SOURCE",): "Give the files one after the other on the command line.",
}
_LONGEST_FIRST = sorted(_REFUSED, key=len, reverse=True)


def check(c: Cursor) -> None:
    """Refuses a statement that is known but not supported."""
    for words in _LONGEST_FIRST:
        if c.at(*words):
            raise c.error("STATEMENT_NOT_SUPPORTED", statement=" ".join(words), instead=_REFUSED[words])
