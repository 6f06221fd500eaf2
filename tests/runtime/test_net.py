"""The net change of a batch per key."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from rowkind.kinds import KIND_COLUMN, RowKind
from rowkind.operators.net import net_change

I, UB, U, D = RowKind  # noqa: E741
Change = tuple[Any, Any, RowKind]


def net(*changes: Change) -> list[Change]:
    schema = pa.schema([("k", pa.int64()), ("v", pa.string()), (KIND_COLUMN, pa.int8())])
    made = pa.Table.from_pylist([{"k": k, "v": v, KIND_COLUMN: int(kind)} for k, v, kind in changes], schema)
    return [(r["k"], r["v"], RowKind(r[KIND_COLUMN])) for r in net_change(made, ["k"]).to_pylist()]


def test_the_last_row_of_a_key_is_left() -> None:
    assert net((1, "a", I), (1, "a", UB), (1, "b", U)) == [(1, "b", U)]


def test_what_came_and_went_leaves_nothing() -> None:
    assert net((1, "a", I), (1, "a", D)) == []
    assert net((1, "a", UB), (1, "a", U)) == []


def test_what_was_there_before_and_went_is_a_delete() -> None:
    assert net((1, "a", UB), (1, "b", U), (1, "b", D)) == [(1, "a", D)]


def test_the_order_in_which_two_operators_speak_does_not_matter() -> None:
    assert net((1, "new", U), (1, "old", UB)) == net((1, "old", UB), (1, "new", U)) == [(1, "new", U)]


def test_upserts_without_old_rows() -> None:
    assert net((1, "a", U), (2, "b", I), (1, "c", U), (3, None, D)) == [(2, "b", U), (1, "c", U), (3, None, D)]


def test_null_keys_and_nothing() -> None:
    assert net((None, "a", I)) == [(None, "a", U)]
    assert net() == []


TABLES = st.dictionaries(st.integers(0, 3), st.sampled_from("ab"), max_size=4)


@given(TABLES, st.lists(TABLES, max_size=5), st.randoms())
def test_it_leads_from_the_old_table_to_the_new_one(old: dict[int, str], steps: list[dict[int, str]], rng: Any) -> None:
    changes: list[Change] = []
    now = dict(old)
    for wanted in steps:
        for key in now.keys() | wanted.keys():
            if now.get(key) != wanted.get(key):
                changes += [(key, now[key], UB if key in wanted else D)] if key in now else []
                changes += [(key, wanted[key], U if key in now else I)] if key in wanted else []
        now = dict(wanted)
    rng.shuffle(changes)
    result = dict(old)
    for key, value, kind in net(*changes):
        if kind is D:
            assert result.pop(key) == value
        else:
            assert result.get(key) != value
            result[key] = value
    assert result == now
