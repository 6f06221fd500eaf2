"""By what a checkpoint knows an operator's state again: every argument counts, wording does not, digests are pinned."""

from __future__ import annotations

import json
import re
import typing
from collections.abc import Iterator
from dataclasses import Field as Declared
from dataclasses import fields, replace
from datetime import timedelta
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from sqlglot import exp

from rowkind.errors import RowkindError
from rowkind.join_kind import JoinKind
from rowkind.options.session_options import Placement
from rowkind.plan import nodes as n
from rowkind.plan import time_nodes as t
from rowkind.plan.described import described
from rowkind.plan.identity import LEFT_OUT, identity, left_out, plan_digest
from rowkind.runtime.driver.checkpoint import Checkpoint
from rowkind.runtime.driver.job_plan import JobPlan
from rowkind.runtime.driver.job_record import FORMAT
from rowkind.sql import parse_type
from rowkind.types import BIGINT, INT, STRING, DataType, Field, Root, row
from tests.oracle.duck import Duck
from tests.oracle.planning import job_of
from tests.runtime.tables import APPEND, UPSERT, table

PINNED = Path(__file__).parent / "identities.txt"

TABLES = """
CREATE TABLE clicks (k INT, v INT, s STRING, tags ARRAY<STRING>, more ARRAY<STRING>, at TIMESTAMP(3), also TIMESTAMP(3),
    off BIGINT METADATA FROM 'offset' VIRTUAL, WATERMARK FOR at AS at - INTERVAL '5' SECOND)
    WITH ('connector' = 'kafka', {at}, 'format' = 'json');
CREATE TABLE changes (k INT, tags ARRAY<STRING>, more ARRAY<STRING>)
    WITH ('connector' = 'kafka', {at}, 'format' = 'debezium-json');
CREATE TABLE users (k INT, w INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', {at}, {keyed});
CREATE TABLE versions (k INT, w INT, since TIMESTAMP(3), WATERMARK FOR since AS since, PRIMARY KEY (k) NOT ENFORCED)
    WITH ('connector' = 'upsert-kafka', {at}, {keyed});
CREATE TABLE k_n (k INT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', {at}, {keyed});
CREATE TABLE k_s (k INT, s STRING, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', {at}, {keyed});
CREATE TABLE held (k INT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', {at}, {keyed},
    'sink.buffer-flush.max-rows' = '100', 'sink.buffer-flush.interval' = '1 s');
CREATE TABLE log (k INT, n BIGINT) WITH ('connector' = 'kafka', {at}, 'format' = 'debezium-json');
"""
LISTAGG = "INSERT INTO k_s SELECT k, LISTAGG(s, ';') FROM clicks GROUP BY k"
FILTERED = "INSERT INTO k_n SELECT k, COUNT(DISTINCT v) FILTER (WHERE v > 3) FROM clicks GROUP BY k"
TUMBLE = """INSERT INTO log SELECT k, COUNT(*) FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(at), INTERVAL '1' MINUTE))
    GROUP BY k, window_start, window_end"""
SESSION = """INSERT INTO log SELECT k, COUNT(*) FROM TABLE(SESSION(TABLE clicks PARTITION BY k, DESCRIPTOR(at),
    INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end"""
TOP = """INSERT INTO log SELECT k, n FROM (SELECT k, CAST(v AS BIGINT) AS n, ROW_NUMBER() OVER
    (PARTITION BY k ORDER BY v DESC NULLS LAST) AS r FROM clicks) WHERE r <= 3"""
WINDOW_TOP = """INSERT INTO log SELECT k, n FROM (SELECT k, CAST(v AS BIGINT) AS n, ROW_NUMBER() OVER
    (PARTITION BY window_start, window_end ORDER BY v DESC) AS r
    FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(at), INTERVAL '1' MINUTE))) WHERE r <= 3"""
OVER = """INSERT INTO log SELECT k, COUNT(*) OVER (PARTITION BY k ORDER BY at
    ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) FROM clicks"""
RANGE = """INSERT INTO log SELECT k, SUM(off) OVER (PARTITION BY k ORDER BY at
    RANGE BETWEEN INTERVAL '1' MINUTE PRECEDING AND CURRENT ROW) FROM clicks"""
LAG = "INSERT INTO log SELECT k, LAG(off, 2) OVER (PARTITION BY k ORDER BY at) FROM clicks"
JOIN = "INSERT INTO log SELECT c.k, c.off FROM clicks AS c LEFT JOIN users AS u ON c.k = u.k AND c.v > u.w"
NOT_IN = "INSERT INTO log SELECT k, off FROM clicks WHERE v NOT IN (SELECT w FROM users)"
INTERVAL = """INSERT INTO log SELECT a.k, b.off FROM clicks AS a JOIN clicks AS b
    ON a.k = b.k AND b.at BETWEEN a.at - INTERVAL '1' MINUTE AND a.at + INTERVAL '2' MINUTE"""
TEMPORAL = """INSERT INTO log SELECT c.k, CAST(v.w AS BIGINT) FROM clicks AS c
    JOIN versions FOR SYSTEM_TIME AS OF c.at AS v ON c.k = v.k"""
UNNEST = "INSERT INTO k_n SELECT k, COUNT(*) FROM clicks CROSS JOIN UNNEST(tags) AS e (tag) GROUP BY k"
EXCEPT = "INSERT INTO log SELECT k, off FROM clicks EXCEPT SELECT k, CAST(w AS BIGINT) FROM users"
MATERIALIZE = "INSERT INTO k_n SELECT w, CAST(k AS BIGINT) FROM users WHERE w IS NOT NULL"
UNION = "INSERT INTO k_n SELECT k, COUNT(*) FROM (SELECT k FROM clicks UNION ALL SELECT w FROM users) GROUP BY k"
QUERIES = {
    "listagg": LISTAGG,
    "filtered distinct": FILTERED,
    "tumble": TUMBLE,
    "session": SESSION,
    "top": TOP,
    "window top": WINDOW_TOP,
    "over rows": OVER,
    "over range": RANGE,
    "lag": LAG,
    "join": JOIN,
    "not in": NOT_IN,
    "interval join": INTERVAL,
    "temporal join": TEMPORAL,
    "unnest": UNNEST,
    "except": EXCEPT,
    "materialize": MATERIALIZE,
    "union": UNION,
    "held back": "INSERT INTO held SELECT k, CAST(v AS BIGINT) FROM clicks",
}


def job(query: str, tables: str = TABLES) -> JobPlan:
    return job_of(f"{tables}\n{query};", Duck())


def shown(query: str) -> str:
    """The names that the state of a query has, with the digests of what its rows have passed."""
    found = job(query)
    names = sorted(f"{name.name} {name.conditions}" for name in found.names.values())
    return "; ".join([plan_digest(found.roots), *names])


def test_digests_are_as_they_were() -> None:
    """Who changes one on purpose raises FORMAT: folders of before no longer find their state."""
    pinned = dict(line.split(": ", 1) for line in PINNED.read_text().splitlines()[1:])
    assert PINNED.read_text().splitlines()[0] == f"format {FORMAT}"
    assert {title: shown(query) for title, query in QUERIES.items()} == pinned


def test_every_kind_of_stateful_node_is_pinned() -> None:
    found = {type(node) for query in QUERIES.values() for node in job(query).names}
    classes = {cls for cls in _nodes() if cls not in _WITHOUT_STATE}
    # A join of windows has the same fields as a join; the planner of these tests cannot type its text.
    assert classes - found <= {t.WindowJoin}


_WITHOUT_STATE = {
    n.Scan,
    n.Values,
    n.Project,
    n.Filter,
    n.WatermarkAssigner,
    n.Union,
    n.Unnest,
    n.Sink,
    n.Print,
    n.Sorted,
}

CHANGED = {
    "separator": (LISTAGG, "';'", "'-'"),
    "distinct": (FILTERED, "DISTINCT ", ""),
    "filter of a call": (FILTERED, "v > 3", "v > 4"),
    "size of a window": (TUMBLE, "'1' MINUTE", "'2' MINUTE"),
    "offset of a window": (TUMBLE, "'1' MINUTE)", "'1' MINUTE, INTERVAL '5' SECOND)"),
    "kind of window": (
        TUMBLE,
        "TUMBLE(TABLE clicks, DESCRIPTOR(at),",
        "HOP(TABLE clicks, DESCRIPTOR(at), INTERVAL '30' SECOND,",
    ),
    "gap of sessions": (SESSION, "'1' MINUTE", "'2' MINUTE"),
    "direction": (TOP, "v DESC", "v ASC"),
    "place of NULLs": (TOP, "NULLS LAST", "NULLS FIRST"),
    "number of rows": (TOP, "r <= 3", "r <= 4"),
    "function of a rank": (TOP, "ROW_NUMBER", "RANK"),
    "rows of a window's top": (WINDOW_TOP, "r <= 3", "r <= 4"),
    "rows of a frame": (OVER, "3 PRECEDING", "4 PRECEDING"),
    "length of a frame": (RANGE, "'1' MINUTE", "'2' MINUTE"),
    "offset of LAG": (LAG, "off, 2", "off, 3"),
    "condition beside the keys": (JOIN, "c.v > u.w", "c.v >= u.w"),
    "lower bound": (INTERVAL, "- INTERVAL '1'", "- INTERVAL '3'"),
    "upper bound": (INTERVAL, "+ INTERVAL '2'", "+ INTERVAL '3'"),
    "all": (EXCEPT, "EXCEPT", "EXCEPT ALL"),
    "EXCEPT to INTERSECT": (EXCEPT, "EXCEPT", "INTERSECT"),
}
"""Arguments that decide what is kept: queries that differ in one of them never share state."""


@pytest.mark.parametrize(("query", "old", "new"), CHANGED.values(), ids=CHANGED)
def test_every_argument_counts(tmp_path: Path, query: str, old: str, new: str) -> None:
    assert old in query
    Checkpoint(str(tmp_path)).open(job(query))
    with pytest.raises(RowkindError) as failed:
        Checkpoint(str(tmp_path)).open(job(query.replace(old, new)))
    assert failed.value.condition == "CHECKPOINT_OPERATOR_CHANGED"


REDEFINED = {
    "another metadata key": (RANGE, "METADATA FROM 'offset'", "METADATA FROM 'leader-epoch'"),
    "another type of a column": (FILTERED, "v INT, s", "v BIGINT, s"),
    "what a window's time is made of": (TUMBLE, "at TIMESTAMP(3), also", "one TIMESTAMP(3), at AS one, also"),
    "a sort column that is no longer event time": (
        "INSERT INTO log SELECT k, off FROM (SELECT k, off, ROW_NUMBER() OVER (PARTITION BY k ORDER BY at DESC) AS r "
        "FROM clicks) WHERE r = 1",
        ", WATERMARK FOR at AS at - INTERVAL '5' SECOND",
        "",
    ),
}


@pytest.mark.parametrize(("query", "old", "new"), REDEFINED.values(), ids=REDEFINED)
def test_what_a_column_is_made_of_counts(tmp_path: Path, query: str, old: str, new: str) -> None:
    assert old in TABLES
    Checkpoint(str(tmp_path)).open(job(query))
    with pytest.raises(RowkindError) as failed:
        Checkpoint(str(tmp_path)).open(job(query, TABLES.replace(old, new)))
    assert failed.value.condition == "CHECKPOINT_OPERATOR_CHANGED"


REPEATED = "INSERT INTO k_n SELECT k, COUNT(*) FROM (SELECT k FROM {} CROSS JOIN UNNEST({}) AS e (tag)) GROUP BY k"


def test_a_step_that_repeats_rows_counts_as_a_filter_does(tmp_path: Path) -> None:
    Checkpoint(str(tmp_path)).open(job(REPEATED.format("clicks", "tags")))
    _, notes = Checkpoint(str(tmp_path)).open(job(REPEATED.format("clicks", "more")))
    assert len(notes) == 1
    Checkpoint(f"{tmp_path}/updated").open(job(REPEATED.format("changes", "tags")))
    with pytest.raises(RowkindError) as failed:
        Checkpoint(f"{tmp_path}/updated").open(job(REPEATED.format("changes", "more")))
    assert failed.value.condition == "CHECKPOINT_INPUT_CHANGED"


def test_a_plan_is_known_by_its_structure_whatever_the_order_of_its_statements() -> None:
    one, two = f"{LISTAGG};", f"{FILTERED};"
    both = [plan_digest(job(f"EXECUTE STATEMENT SET BEGIN {a} {b} END").roots) for a, b in ((one, two), (two, one))]
    assert both[0] == both[1] != plan_digest(job(LISTAGG).roots)
    other = two.replace("v > 3", "v > 4")
    same_sink = [
        plan_digest(job(f"EXECUTE STATEMENT SET BEGIN {a} {b} END").roots) for a, b in ((two, other), (other, two))
    ]
    assert same_sink[0] != same_sink[1]


def test_a_folder_of_the_format_before_is_refused_by_name(tmp_path: Path) -> None:
    Checkpoint(str(tmp_path)).open(job(LISTAGG))
    record = json.loads((tmp_path / "job.json").read_text())
    (tmp_path / "job.json").write_text(json.dumps({**record, "version": FORMAT - 1, "sources": ["Scan clicks (…)"]}))
    with pytest.raises(RowkindError) as failed:
        Checkpoint(str(tmp_path)).open(job(LISTAGG))
    assert failed.value.condition == "CHECKPOINT_OTHER_VERSION"


def test_wording_is_no_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    before = shown(LISTAGG)
    monkeypatch.setattr(
        "rowkind.runtime.driver.job_record.described", lambda node: f"{described(node)}, in other words"
    )
    described.register(n.Aggregate, lambda node: "other words")
    try:
        assert shown(LISTAGG) == before
    finally:
        described.register(n.Aggregate, _AGGREGATE)


_AGGREGATE = described.dispatch(n.Aggregate)


def _nodes() -> set[type]:
    """Every class of nodes; the two that only have inputs in common are no nodes by themselves."""
    found = [cls for module in (n, t) for cls in vars(module).values() if isinstance(cls, type)]
    return {cls for cls in found if issubclass(cls, n.Node)} - {n.Node, n.Unary, t._Two}


def _expression(sql: str) -> n.Expr:
    return n.Expr(exp.column(sql), sql, INT)


def _frozen(kind: str) -> n.Scan:
    return n.Scan(table("a INT, at TIMESTAMP(3)", {**APPEND, "topic": kind}))


SCAN = table("id INT", APPEND)
OTHER = table("id INT", {**APPEND, "topic": "other"})
SPEC = t.WindowSpec(t.WindowKind.TUMBLE, "at", 5)
CALL = n.Call("n", "COUNT", ("v",), BIGINT)
VALUES: dict[Any, tuple[Any, Any]] = {
    bool: (True, False),
    int: (1, 2),
    timedelta: (timedelta(1), timedelta(2)),
    int | None: (1, None),
    str: ("a", "b"),
    str | None: ("a", None),
    DataType: (INT, BIGINT),
    DataType | None: (INT, None),
    JoinKind: (JoinKind.INNER, JoinKind.LEFT),
    Placement: (Placement.AUTO, Placement.FORCE),
    t.WindowKind: (t.WindowKind.TUMBLE, t.WindowKind.HOP),
    n.Expr: (_expression("a"), _expression("b")),
    n.Expr | None: (_expression("a"), None),
    exp.Expr: (exp.column("a"), exp.column("b")),
    n.Watermarked: (n.Watermarked("at", _expression("a")), n.Watermarked("at", _expression("b"))),
    t.WindowSpec: (SPEC, replace(SPEC, size=6)),
    n.Node: (_frozen("a"), _frozen("b")),
    n.Table: (SCAN, OTHER),
    tuple[str, ...]: (("a",), ("b",)),
    tuple[str, ...] | None: (("a",), None),
    tuple[Field, ...]: ((Field("a", INT),), (Field("a", BIGINT),)),
    tuple[n.Named, ...]: ((n.Named("a", _expression("a")),), (n.Named("b", _expression("a")),)),
    tuple[n.Call, ...]: ((CALL,), (replace(CALL, separator="-"),)),
    tuple[n.Order, ...]: ((n.Order("a"),), (n.Order("a", nulls_first=False),)),
    tuple[n.Node, ...]: ((_frozen("a"),), (_frozen("b"),)),
    tuple[tuple[n.Expr, ...], ...]: (((_expression("a"),),), ((_expression("b"),),)),
}
"""Two values of every type that a field of a plan has."""


def _declared() -> Iterator[tuple[type, Declared[Any], Any]]:
    """Every field of every node, and of what nodes are made of."""
    for cls in sorted({*_nodes(), n.Call, n.Order, n.Named, n.Expr, n.Watermarked, t.WindowSpec, Field}, key=str):
        hints = typing.get_type_hints(cls)
        for field in fields(cls):
            yield cls, field, hints[field.name]


@pytest.mark.parametrize(
    ("cls", "field", "hint"), [pytest.param(c, f, h, id=f"{c.__name__}.{f.name}") for c, f, h in _declared()]
)
def test_every_field_is_told_or_left_out_for_a_reason(cls: type, field: Declared[Any], hint: Any) -> None:
    hints = typing.get_type_hints(cls)
    first = cls(**{f.name: VALUES[hints[f.name]][0] for f in fields(cls)})
    second = replace(first, **{field.name: VALUES[hint][1]})
    if left_out(cls, field.name):
        assert identity(first) == identity(second), "it is told, though a reason says why not"
    elif hint in (n.Node, tuple[n.Node, ...]):
        assert identity(first) == identity(second), "what lies below is told by the lineage of the columns"
        assert plan_digest([first]) != plan_digest([second])
    else:
        assert identity(first) != identity(second)


def test_every_field_of_a_table_is_told_or_left_out_for_a_reason() -> None:
    first = table("id INT, v INT, PRIMARY KEY (id) NOT ENFORCED", UPSERT)
    avro = replace(first.value_format, name="avro")
    told = {
        "connector": "kafka",
        "topics": ("o",),
        "topic_pattern": re.compile("o"),
        "key_format": avro,
        "value_format": avro,
    }
    untold = {
        "definition": "its columns are told where they are read, its options are the fields below",
        "side": "Scan and Sink differ already",
        "changelog": "follows from connector and format",
        "properties": "how the brokers are reached",
        "key_columns": "columns are told where they are read",
        "key_payload": "columns are told where they are read",
        "value_columns": "columns are told where they are read",
        "metadata": "columns are told where they are read",
        "reading": "where to start and how fast: the checkpoint's positions count",
        "writing": "how rows are sent",
    }
    assert {field.name for field in fields(first)} == told.keys() | untold.keys()
    for name, other in told.items():
        assert identity(replace(first, **{name: other})) != identity(first)
    renamed = replace(first, definition=replace(first.definition, name="other"))
    assert identity(renamed) != identity(first)


def test_every_part_of_a_type_is_told() -> None:
    types = [
        *("INT", "INT NOT NULL", "BIGINT", "STRING", "VARCHAR(3)", "VARCHAR(4)", "CHAR(3)", "BINARY(3)", "BINARY(4)"),
        *("DECIMAL(9, 2)", "DECIMAL(10, 2)", "DECIMAL(10, 3)", "TIME(0)", "TIME(3)", "TIMESTAMP(3)", "TIMESTAMP(6)"),
        *(
            "TIMESTAMP_LTZ(3)",
            "ARRAY<INT>",
            "ARRAY<INT NOT NULL>",
            "MULTISET<INT>",
            "MAP<INT, INT>",
            "MAP<INT, STRING>",
        ),
        *("MAP<STRING, INT>", "ROW<a INT>", "ROW<b INT>", "ROW<a BIGINT>", "ROW<a INT, b INT>"),
    ]
    for one, other in combinations(map(parse_type, types), 2):
        assert identity(one) != identity(other)
    assert identity(row(Field("a", INT, "a comment"))) == identity(row(Field("a", INT)))
    assert {f.name for f in fields(DataType)} == {
        *("root", "nullable", "length", "precision", "scale", "element", "key", "fields")
    }, "a new part of types wants an example above"


def test_the_list_of_reasons_names_nothing_that_is_gone() -> None:
    known = {f"{cls.__name__}.{field.name}" for cls, field, _ in _declared()}
    known |= {field.name for _, field, _ in _declared()}
    assert LEFT_OUT.keys() <= known


def test_what_is_unknown_has_no_identity() -> None:
    with pytest.raises(TypeError):
        identity(n.Values(rows=({"a": 1},), fields=(Field("a", STRING),)))  # type: ignore[arg-type]
    assert identity(Root.INT) == "INT"
