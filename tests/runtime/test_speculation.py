"""Copies of slow tasks: refused where they could write an older row after a newer one."""

from __future__ import annotations

import pytest

from rowkind.connectors.settings import Side
from rowkind.errors import RowkindError
from rowkind.runtime.driver.speculation import SPECULATION, check_speculation, without_speculation
from tests.runtime.tables import APPEND, table

ON = {"spark.master": "spark://there:7077", SPECULATION: "true"}
ONCE = {"sink.delivery-guarantee": "exactly-once", "sink.transactional-id-prefix": "t"}
PLAIN = table("id INT", APPEND, Side.SINK)
EXACTLY = table("id INT", {**APPEND, **ONCE}, Side.SINK)


def test_a_table_without_transactions_is_refused() -> None:
    with pytest.raises(RowkindError) as refused:
        check_speculation(ON, [EXACTLY, PLAIN])
    assert refused.value.condition == "SPECULATION_ON"
    assert refused.value.params["tables"] == "t"


@pytest.mark.parametrize(
    ("settings", "sink"),
    [
        (ON, EXACTLY),
        ({**ON, SPECULATION: "false"}, PLAIN),
        ({"spark.master": "spark://there:7077"}, PLAIN),
        ({**ON, "spark.master": "local[4]"}, PLAIN),
    ],
    ids=["transactions", "switched off", "not asked for", "a local Spark has none"],
)
def test_others_run(settings: dict[str, str], sink: object) -> None:
    check_speculation(settings, [sink])  # type: ignore[list-item]


def test_our_own_spark_runs_without_and_says_so() -> None:
    assert without_speculation({SPECULATION: "TRUE", "a": "b"})[0] == {SPECULATION: "false", "a": "b"}
    assert len(without_speculation({SPECULATION: "true"})[1]) == 1
    assert without_speculation({}) == ({SPECULATION: "false"}, [])
