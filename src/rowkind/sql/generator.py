"""Trees written back as Flink SQL, for messages and EXPLAIN."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp
from sqlglot.generator import Generator

from rowkind.sql.tree_nodes import JoinedTables, JsonCall, WindowTable


def _call(g: Generator, node: exp.Anonymous) -> str:
    """A call in the syntax that its name asks for."""
    name, arguments = node.name, [g.sql(e) for e in node.expressions]
    listed = ", ".join(arguments)
    last = node.expressions[-1] if node.expressions else None
    match name:
        case "ARRAY" | "MAP":
            return f"{name}[{listed}]"
        case "TRIM" if len(arguments) == 3:
            return f"TRIM({arguments[0]} {arguments[1]} FROM {arguments[2]})"
        case "POSITION":
            return f"POSITION({arguments[0]} IN {' FROM '.join(arguments[1:])})"
        case "CEIL" | "CEILING" | "FLOOR" if isinstance(last, exp.Var):
            return f"{name}({arguments[0]} TO {arguments[1]})"
        case "CURRENT_DATE" | "CURRENT_TIME" | "CURRENT_TIMESTAMP" | "LOCALTIME" | "LOCALTIMESTAMP" if not arguments:
            return name
    return f"{name}({listed})"


def _keyword_argument(g: Generator, node: exp.Kwarg) -> str:
    return f"{g.sql(node, 'this')} => {g.sql(node, 'expression')}"


def _window_table(g: Generator, node: WindowTable) -> str:
    keys = ", ".join(g.sql(k) for k in node.args.get("partition_by") or ())
    table = "TABLE " if isinstance(node.this, exp.Table) else ""
    data = f"DATA => {table}{g.sql(node, 'this')}" + (f" PARTITION BY ({keys})" if keys else "")
    lengths = [
        f"{name.upper()} => {g.sql(node, name)}"
        for name in ("slide", "step", "size", "gap", "offset")
        if node.args.get(name)
    ]
    call = ", ".join([data, f"TIMECOL => DESCRIPTOR({g.sql(node, 'timecol')})", *lengths])
    return _aliased(g, node, f"TABLE({node.function}({call}))")


def _table_function(g: Generator, node: exp.TableFromRows) -> str:
    return _aliased(g, node, f"TABLE({g.sql(node, 'this')})")


def _lateral(g: Generator, node: exp.Lateral) -> str:
    inner = g.sql(node, "this")
    return _aliased(g, node, f"LATERAL TABLE({inner})" if isinstance(node.this, exp.Anonymous) else f"LATERAL {inner}")


def _unnest(g: Generator, node: exp.Unnest) -> str:
    ordinality = " WITH ORDINALITY" if node.args.get("offset") else ""
    return _aliased(g, node, f"UNNEST({g.expressions(node, flat=True)}){ordinality}")


def _joined_tables(g: Generator, node: JoinedTables) -> str:
    joins = "".join(g.sql(j) for j in node.args["joins"])
    return f"({g.sql(node, 'this')}{joins})"


def _aliased(g: Generator, node: exp.Expr, text: str) -> str:
    alias = g.sql(node, "alias")
    return f"{text} AS {alias}" if alias else text


def _table(g: Generator, node: exp.Table) -> str:
    options = ", ".join(f"{_string(k)} = {_string(v)}" for k, v in node.meta.get("options", {}).items())
    version = node.args.get("version")
    text = g.sql(node, "this") + (f" /*+ OPTIONS({options}) */" if options else "")
    text += f" FOR SYSTEM_TIME AS OF {g.sql(version, 'expression')}" if version else ""
    return _aliased(g, node, text)


def _string(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _literal(g: Generator, node: exp.Literal) -> str:
    return _string(node.name) if node.is_string else node.name


def _hex(g: Generator, node: exp.HexString) -> str:
    return f"X'{node.name}'"


def _cast(g: Generator, node: exp.Cast) -> str:
    if node.meta.get("literal"):
        return f"{node.args['to'].meta['type'].root} {g.sql(node, 'this')}"
    name = "TRY_CAST" if isinstance(node, exp.TryCast) else "CAST"
    return f"{name}({g.sql(node, 'this')} AS {g.sql(node, 'to')})"


def _interval(g: Generator, node: exp.Interval) -> str:
    unit = node.args["unit"]
    span = f"{unit.this.name} TO {unit.expression.name}" if isinstance(unit, exp.IntervalSpan) else unit.name
    return f"INTERVAL {g.sql(node, 'this')} {span}"


def _json_call(g: Generator, node: JsonCall) -> str:
    clauses = [", ".join(_json_argument(g, node, e) for e in node.expressions)]
    if node.args.get("returning"):
        clauses.append(f"RETURNING {g.sql(node, 'returning')}")
    if wrapper := node.args.get("wrapper"):
        clauses.append("WITHOUT WRAPPER" if wrapper == "WITHOUT" else f"WITH {wrapper} WRAPPER")
    for key in ("EMPTY", "ERROR"):
        if value := node.args.get(f"on_{key.lower()}"):
            text = value.name.replace("_", " ") if isinstance(value, exp.Var) else f"DEFAULT {g.sql(value)}"
            clauses.append(f"{text} ON {key}")
    if on_null := node.args.get("on_null"):
        clauses.append(f"{on_null} ON NULL")
    return f"{node.name}({' '.join(c for c in clauses if c)})"


def _json_argument(g: Generator, node: JsonCall, argument: exp.Expr) -> str:
    if not node.name.startswith("JSON_OBJECT"):
        return g.sql(argument)
    key, value = argument.expressions
    return f"KEY {g.sql(key)} VALUE {g.sql(value)}"


def _join(g: Generator, node: exp.Join) -> str:
    words = [str(node.args[k]) for k in ("method", "side", "kind") if node.args.get(k)]
    text = f" {' '.join([*words, 'JOIN'])} {g.sql(node, 'this')}"
    if node.args.get("on"):
        return f"{text} ON {g.sql(node, 'on')}"
    if using := node.args.get("using"):
        return f"{text} USING ({', '.join(g.sql(u) for u in using)})"
    return text


def _in(g: Generator, node: exp.In) -> str:
    inside = g.sql(node, "query") or f"({g.expressions(node, flat=True)})"
    return f"{g.sql(node, 'this')} IN {inside}"


def _over_query(g: Generator, node: exp.Expr) -> str:
    return f"{node.key.upper()} {g.sql(node, 'this')}"


def _values(g: Generator, node: exp.Values) -> str:
    tail = "".join(g.sql(node, k) for k in ("order", "limit", "offset"))
    return f"VALUES {g.expressions(node, flat=True)}{tail}"


TRANSFORMS: dict[type[exp.Expr], Callable[..., str]] = {
    exp.All: _over_query,
    exp.Anonymous: _call,
    exp.Any: _over_query,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Exists: _over_query,
    exp.HexString: _hex,
    exp.In: _in,
    exp.Interval: _interval,
    exp.Join: _join,
    exp.Kwarg: _keyword_argument,
    exp.Lateral: _lateral,
    exp.Literal: _literal,
    exp.Table: _table,
    exp.TableFromRows: _table_function,
    exp.Unnest: _unnest,
    exp.Values: _values,
    JoinedTables: _joined_tables,
    JsonCall: _json_call,
    WindowTable: _window_table,
}
