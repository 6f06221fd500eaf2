"""Flink SQL on sqlglot: which trees the parser builds, and how they are written back as text.

sqlglot gives the tokenizer, the tree nodes and the writer. The grammar is our own (expressions.py, calls.py,
special.py, queries.py, relations.py, windows.py, tables.py, script.py), because sqlglot's accepts and rewrites too much
in silence: `SELECT a, FROM t`, `BETWEEN 1 2`, `FROM t, WHERE …` and `JOIN u` without ON all pass, `'a' 'b'` becomes
CONCAT, `INTERVAL '5 minutes' MINUTE` becomes a column named MINUTE.

Every node made from a token has in `meta`: `line`, `col` (from 1, where it starts in the script), `start`, `end`
(offsets into the parsed text). Identifiers are as written; nothing is reordered or renamed, except as said here.

| Flink SQL | tree |
|---|---|
| `a`, `t.a`, `t.r.f`, `t.*` | exp.Column; `.parts` are the names in order (the first may be a table); `*` is exp.Star |
| `x[1]`, `x['k']` | exp.Bracket(this, expressions=[index]); arrays count from 1 |
| `f(x).a`, `x[1].a` | exp.Dot(this, expression=exp.Identifier) |
| `f(a, b)` | exp.Anonymous(this="F", expressions=[a, b]): names in upper case unless quoted, arguments in order |
| `f(a => 1)` | exp.Kwarg(this=exp.Var, expression) among the arguments |
| `COUNT(*)` | exp.Anonymous("COUNT", [exp.Star]) |
| `COUNT(DISTINCT a, b)` | exp.Anonymous("COUNT", [exp.Distinct(expressions=[a, b])]) |
| `CURRENT_TIMESTAMP`, `LOCALTIME`, … | exp.Anonymous(name, []) |
| `ROW(a, b)`, `ARRAY[a, b]`, `MAP[k, v, …]` | exp.Anonymous("ROW" / "ARRAY" / "MAP", members) |
| `(a, b)` | exp.Tuple; `(a)` is exp.Paren |
| `CAST(x AS T)`, `TRY_CAST` | exp.Cast, exp.TryCast; `type_of(node)` is the DataType |
| `DATE '…'`, `TIME '…'`, `TIMESTAMP '…'` | exp.Cast of the text with `meta["literal"]`; NOT NULL, digits as written |
| `INTERVAL '1' DAY`, `… DAY TO SECOND` | exp.Interval(this, unit=exp.Var or exp.IntervalSpan); see `interval_length` |
| `U&'…'` / `X'0F'` | exp.Literal, decoded / exp.HexString |
| `EXTRACT(u FROM x)` | exp.Extract(this=exp.Var, expression=x) |
| `CEIL(x TO u)`, `FLOOR(x TO u)` | exp.Anonymous(name, [x, exp.Var]) |
| `TIMESTAMPADD(u, n, t)`, `TIMESTAMPDIFF(u, a, b)` | exp.Anonymous(name, [exp.Var, …]) |
| `POSITION(a IN b)`, `SUBSTRING(x FROM a FOR b)` | exp.Anonymous(name, operands in order) |
| `OVERLAY(a PLACING b FROM c FOR d)` | exp.Anonymous(name, operands in order) |
| `TRIM(x)`, `TRIM(BOTH c FROM x)` | exp.Anonymous("TRIM", [x]), exp.Anonymous("TRIM", [exp.Var(side), c, x]) |
| `JSON_VALUE(…)` and its family | JsonCall; JSON_STRING and the other plain ones are exp.Anonymous |
| `x IS [NOT] NULL / TRUE / UNKNOWN / JSON …` | exp.Is(this, exp.Null / exp.Boolean / exp.JSON(kind)), inside exp.Not |
| `IS DISTINCT FROM`, `IS NOT DISTINCT FROM` | exp.NullSafeNEQ, exp.NullSafeEQ |
| `LIKE`, `SIMILAR TO`, `… ESCAPE e`, `NOT …` | exp.Like, exp.SimilarTo, exp.Escape around them, exp.Not around all |
| `BETWEEN [SYMMETRIC]`, `IN (…)`, `IN (SELECT …)` | exp.Between, exp.In(expressions), exp.In(query=exp.Subquery) |
| `EXISTS (q)`, `= ANY (q)`, `> ALL (q)` | exp.Exists, exp.Any, exp.All over exp.Subquery |
| `a || b`, `a % b`, `-a`, `+a` | exp.DPipe, exp.Mod, exp.Neg, `a` |
| `agg FILTER (WHERE p)` | exp.Filter(this=agg, expression=exp.Where) |
| `f OVER (…)`, `f OVER w` | exp.Window(this, partition_by, order, spec=exp.WindowSpec), exp.Window(this, alias=w) |
| `WINDOW w AS (…)` | Select.args["windows"]: exp.Window(this=exp.Identifier, …) |
| `f(x) IGNORE NULLS` | exp.IgnoreNulls(this=call) |
| `ORDER BY x DESC NULLS LAST` | exp.Ordered(this, desc, nulls_first): NULLs are smallest unless said |
| `GROUP BY a, CUBE (b), ROLLUP (…), GROUPING SETS (…)` | exp.Group: expressions, cube, rollup, grouping_sets |
| `VALUES (1), (2)` | exp.Values(expressions=[exp.Tuple, …]); a query like any other |
| `(query)` | exp.Subquery; with an alias in FROM |
| `a UNION ALL b` | exp.Union / exp.Except / exp.Intersect(this, expression, distinct) |
| `FETCH FIRST n ROWS ONLY` | exp.Limit |
| `FROM a, b`, `CROSS JOIN` | Select.args["joins"]: exp.Join(kind="CROSS") |
| `JOIN`, `LEFT JOIN`, `NATURAL JOIN` | exp.Join(kind="INNER"), exp.Join(side="LEFT"), exp.Join(method="NATURAL") |
| `a JOIN (b JOIN c ON …) ON …` | JoinedTables(this=b, joins=[…]) |
| `FROM t /*+ OPTIONS('k'='v') */` | exp.Table with `meta["options"]`; hints after SELECT are Select.args["hint"] |
| `t FOR SYSTEM_TIME AS OF x` | exp.Table(version=exp.Version(expression=x)) |
| `LATERAL TABLE(f(x)) AS t(a)` | exp.Lateral(this=exp.Anonymous, alias=exp.TableAlias) |
| `TABLE(f(x))` | exp.TableFromRows(this=exp.Anonymous) |
| `UNNEST(x) [WITH ORDINALITY] AS t(a, b)` | exp.Unnest(expressions=[x], alias, offset=True); alias has all columns |
| `TABLE(TUMBLE(…))`, `TUMBLE(…)` in FROM | WindowTable |
"""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect, NormalizationStrategy
from sqlglot.generator import Generator as SqlGenerator

from rowkind.sql import generator
from rowkind.sql.tokens import FlinkTokenizer


class Flink(Dialect):
    """Names are case-sensitive, in back quotes where they must be."""

    NORMALIZATION_STRATEGY = NormalizationStrategy.CASE_SENSITIVE
    NULL_ORDERING = "nulls_are_small"

    class Tokenizer(FlinkTokenizer):
        pass

    class Generator(SqlGenerator):
        SUPPORTS_BETWEEN_FLAGS = True
        TRANSFORMS: ClassVar = {**SqlGenerator.TRANSFORMS, **generator.TRANSFORMS}


def render(node: exp.Expr) -> str:
    """A tree as Flink SQL text, for messages and EXPLAIN."""
    return node.sql(dialect=Flink)
