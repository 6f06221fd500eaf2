"""Flink's scalar functions that rowkind does not have, and what to do instead."""

from __future__ import annotations

_VARIANT = "Keep the JSON in a STRING and read it with JSON_VALUE and JSON_QUERY."
_OBJECT = "Spark has no structured types: use ROW(…) and CAST it to ROW<name TYPE, …>."
_RANDOM = "Its values would differ when a batch is replayed: use RAND, RAND_INTEGER or UUID, which do not."

UNSUPPORTED: dict[str, str] = {
    "CURRENT_WATERMARK": "rowkind's watermarks are kept per table and are not visible to expressions.",
    "ML_PREDICT": "Call the model in a user-defined function registered in the Spark session.",
    "SOURCE_WATERMARK": "Write the watermark as an expression: WATERMARK FOR ts AS ts - INTERVAL '5' SECOND.",
    "GROUP_ID": "Group by the sets in separate queries and join them by UNION ALL.",
    "PARSE_JSON": _VARIANT,
    "TRY_PARSE_JSON": _VARIANT,
    "OBJECT_OF": _OBJECT,
    "OBJECT_UPDATE": _OBJECT,
    "DESCRIPTOR": "A descriptor only stands in window table functions such as TUMBLE.",
}
"""Functions of Flink 2.2 by name."""

NOT_REPEATABLE: dict[str, str] = {
    "RANDN": _RANDOM,
    "RANDOM": _RANDOM,
    "RANDSTR": _RANDOM,
    "UNIFORM": _RANDOM,
    "SHUFFLE": _RANDOM,
    "MONOTONICALLY_INCREASING_ID": _RANDOM,
    "SPARK_PARTITION_ID": _RANDOM,
    "CURDATE": "Use CURRENT_DATE.",
    "INPUT_FILE_NAME": "There are no files: use the table's METADATA columns.",
}
"""Functions of Spark that give other values when a batch is replayed."""
