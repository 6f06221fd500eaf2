"""ROW_NUMBER() without a bound: by time it is a count of the rows so far; by anything else it is refused."""

from __future__ import annotations

from rowkind.errors import RowkindError
from rowkind.kinds import ChangelogMode
from rowkind.plan import nodes as n
from rowkind.plan.attributes import TimeAttribute, time_attribute
from rowkind.plan.described import described
from rowkind.plan.time_nodes import Over
from rowkind.plan.traits import emits


def number_by_time(plan: n.Node) -> n.Node:
    return n.transform(plan, _counted)


def _counted(node: n.Node) -> n.Node:
    if not isinstance(node, n.Rank) or node.last is not None:
        return node
    time = time_attribute(node.input, node.order[0].column) if len(node.order) == 1 else None
    ascending = bool(node.order) and not node.order[0].descending
    append = emits(node.input) is ChangelogMode.INSERT_ONLY
    if node.function != "ROW_NUMBER" or time is None or not ascending or not append or node.rank is None:
        raise RowkindError("RANK_WITHOUT_BOUND", operator=described(node))
    assert node.rank_type is not None
    count = n.Call(node.rank, "COUNT", (), node.rank_type)
    rowtime = node.order[0].column if time is TimeAttribute.ROWTIME else None
    return Over(node.input, node.partition, node.order, (count,), True, None, rowtime, time is TimeAttribute.PROCTIME)
