"""Single expressions through the code that Flink generates for them, without a job. Runs in Flink's own environment.

A failure ends the one expression and nothing else, which a job of many expressions cannot offer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from py4j.java_gateway import JavaObject
from pyflink.java_gateway import get_gateway
from pyflink.table import TableEnvironment

_FACTORY = "org.apache.flink.table.planner.codegen.calls.BridgingFunctionGenUtil$DefaultExpressionEvaluatorFactory"
_NARROW = ("TINYINT", "SMALLINT", "BIGINT", "FLOAT")
"""Types whose values come back from Python as those of a wider or a narrower one, so that they travel as texts."""


class Evaluator:
    """Flink's parser and code generator for expressions over columns of one row, each a type and a value in SQL."""

    def __init__(self, table_env: TableEnvironment, columns: Mapping[str, Sequence[str]]) -> None:
        gateway = get_gateway()
        self._jvm = gateway.jvm
        planner = table_env._j_tenv.getPlanner()
        self._loader = planner.getClass().getClassLoader()
        factory = self._class(_FACTORY)
        arguments = gateway.new_array(self._jvm.java.lang.Object, 3)
        arguments[0] = planner.getTableConfig()
        arguments[1] = self._loader
        arguments[2] = planner.plannerContext().getRexFactory()
        self._factory = factory.getConstructors()[0].newInstance(arguments)
        self._parser = planner.getParser()
        self._columns: dict[str, tuple[JavaObject, Any]] = {}
        self._casts: dict[str, str] = {}
        for name, (type, value) in columns.items():
            expression = f"CAST({value} AS {type})"
            if type in _NARROW:
                self._casts[name] = f"CAST({name} AS {type})"
                expression = f"CAST({expression} AS STRING)"
            kind = self._planned(expression, []).nullable()
            self._columns[name] = (kind, self._value(expression, kind, []))

    def answer(self, expression: str, used: Sequence[str]) -> dict[str, Any]:
        """Its type and its value as text (bytes in base64), or the phase in which it fails and why."""
        found: dict[str, Any] = {"expression": expression, "phase": "plan"}
        expression = re.sub(r"\bc\d+\b", lambda name: self._casts.get(name[0], name[0]), expression)
        try:
            kind = str(self._planned(expression, used).toString())
            shown = f"TO_BASE64({expression})" if "BINARY" in kind or "BYTES" in kind else expression
            text = self._jvm.org.apache.flink.table.api.DataTypes.STRING()
            found["type"] = kind
            evaluate = self._compiled(f"CAST({shown} AS STRING)", text, used)
            found["phase"] = "run"
            value = evaluate()
            return found | {"phase": "done", "value": None if value is None else str(value)}
        except Exception as error:
            return found | {"error": error}

    def _planned(self, expression: str, used: Sequence[str]) -> JavaObject:
        """The type that Flink plans for it."""
        fields = self._jvm.java.util.ArrayList()
        row = self._jvm.org.apache.flink.table.types.logical.RowType
        for name in used:
            fields.add(row.RowField(name, self._columns[name][0].getLogicalType()))
        return self._parser.parseSqlExpression(expression, row(fields), None).getOutputDataType()

    def _value(self, expression: str, kind: JavaObject, used: Sequence[str]) -> Any:
        return self._compiled(expression, kind, used)()

    def _compiled(self, expression: str, kind: JavaObject, used: Sequence[str]) -> Callable[[], Any]:
        """The expression as code, to be called once."""
        types = self._jvm.org.apache.flink.table.api.DataTypes
        fields = self._jvm.java.lang.reflect.Array.newInstance(
            self._class("org.apache.flink.table.api.DataTypes$Field"), len(used)
        )
        values = self._jvm.java.util.ArrayList()
        for position, name in enumerate(used):
            fields[position] = types.FIELD(name, self._columns[name][0])
            values.add(self._columns[name][1])
        evaluator = self._factory.createEvaluator(expression, kind, fields)
        context = self._jvm.org.apache.flink.table.functions.FunctionContext(None, self._loader, None)
        handle = evaluator.open(context)
        return lambda: handle.invokeWithArguments(values)

    def _class(self, name: str) -> JavaObject:
        return self._jvm.java.lang.Class.forName(name, True, self._loader)
