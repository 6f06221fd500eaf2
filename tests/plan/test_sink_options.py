"""Session options that decide how an INSERT reaches its table."""

from __future__ import annotations

import pytest

from rowkind.errors import RowkindError
from rowkind.plan import nodes as n
from tests.oracle.duck import Duck
from tests.oracle.planning import APPEND, UPSERT, job_of

TABLES = f"""
CREATE TABLE orders (id INT, item STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ({UPSERT});
CREATE TABLE clicks (id INT, page STRING) WITH ({APPEND});
CREATE TABLE items (item STRING, id INT, PRIMARY KEY (item) NOT ENFORCED) WITH ({UPSERT});
CREATE TABLE short (c CHAR(3), v VARCHAR(2), s STRING) WITH ({APPEND});
CREATE TABLE texts (c CHAR(3), v VARCHAR(2), s STRING) WITH ({APPEND});
"""
BY_ITEM = "INSERT INTO items SELECT item, id FROM orders"
APPENDING = "INSERT INTO items SELECT page, id FROM clicks"


def planned(options: dict[str, str], insert: str) -> n.Sink:
    settings = "".join(f"SET 'table.exec.sink.{key}' = '{value}';\n" for key, value in options.items())
    (root,) = job_of(f"{settings}{TABLES}{insert};", Duck()).roots
    assert isinstance(root, n.Sink)
    return root


@pytest.mark.parametrize(
    ("value", "insert", "kept"),
    [
        ("AUTO", BY_ITEM, True),
        ("NONE", BY_ITEM, False),
        ("FORCE", BY_ITEM, True),
        ("AUTO", APPENDING, False),
        ("FORCE", APPENDING, True),
    ],
)
def test_upsert_materialize(value: str, insert: str, kept: bool) -> None:
    plan = planned({"upsert-materialize": value}, insert)
    assert any(isinstance(node, n.SinkMaterialize) for node in n.walk(plan)) is kept


def test_require_on_conflict() -> None:
    required = {"require-on-conflict": "true"}
    with pytest.raises(RowkindError) as caught:
        planned(required, BY_ITEM)
    assert caught.value.condition == "ON_CONFLICT_REQUIRED"
    assert planned(required, f"{BY_ITEM} ON CONFLICT DO NOTHING").on_conflict is not None
    assert planned(required, APPENDING).on_conflict is None
    assert planned({}, BY_ITEM).on_conflict is None


@pytest.mark.parametrize(("value", "cut"), [("IGNORE", False), ("ERROR", False), ("TRIM_PAD", True)])
def test_values_that_should_fit_are_cut_and_filled_up_when_asked(value: str, cut: bool) -> None:
    plan = planned({"type-length-enforcer": value}, "INSERT INTO short SELECT c, v, s FROM texts")
    computed = [
        made.name
        for node in n.walk(plan)
        if isinstance(node, n.Project)
        for made in node.expressions
        if made.expr.column is None
    ]
    assert computed == (["c", "v"] if cut else [])
