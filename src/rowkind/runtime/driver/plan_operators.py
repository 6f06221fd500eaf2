"""Plan nodes as the operators that run them."""

from __future__ import annotations

from datetime import timedelta
from functools import singledispatch

import pyarrow as pa

from rowkind.aggregate_functions import LAG
from rowkind.errors import RowkindError
from rowkind.kinds import KIND_COLUMN, ChangelogMode
from rowkind.operators.aggregate.aggregate_call import AggregateCall
from rowkind.operators.aggregate.distinct import two_stages
from rowkind.operators.aggregate.group_aggregate import Aggregate
from rowkind.operators.buffer import Buffer
from rowkind.operators.contract import Operator
from rowkind.operators.join.interval_join import IntervalJoin, IntervalSide
from rowkind.operators.join.not_in import NotIn
from rowkind.operators.join.regular_join import Join
from rowkind.operators.join.residual import Residual
from rowkind.operators.join.residual_sql import duck_residual
from rowkind.operators.join.sides import JoinSide, Multiplicity
from rowkind.operators.join.temporal_join import TemporalJoin
from rowkind.operators.materialize import Materialize, OnConflict
from rowkind.operators.normalize import Normalize
from rowkind.operators.over.by_any_order import OverAnyOrder
from rowkind.operators.over.by_time import Over
from rowkind.operators.rank.first_row import FirstRow
from rowkind.operators.rank.top_n import Rank
from rowkind.operators.set.intersect_except import SetDifference
from rowkind.operators.window.session_window import Sessions
from rowkind.operators.window.window_aggregate import WindowAggregate
from rowkind.operators.window.window_join import WindowJoin, WindowSide
from rowkind.operators.window.window_rank import WindowRank
from rowkind.plan import nodes as n
from rowkind.plan import time_nodes as t
from rowkind.plan.attributes import TimeAttribute, time_attribute
from rowkind.plan.explain import described
from rowkind.plan.message_columns import of_metadata
from rowkind.plan.traits import emits, first_by_time, smallest_key, upsert_keys
from rowkind.plan.windowing import outlasting, windowing
from rowkind.runtime.worker.window_step import is_local
from rowkind.state.contract import Order
from rowkind.types import Field, arrow_type

FILTER = "__filter"
"""The column that tells a Normalize which rows pass the filter that was pushed into it."""


@singledispatch
def operators_for(node: n.Node, ttl_ms: int) -> tuple[Operator, ...]:
    """The operators of a stateful node, to be run one behind the other."""
    raise RowkindError("OPERATOR_NOT_YET_SUPPORTED", operator=described(node))


@operators_for.register
def _(node: n.Aggregate, ttl_ms: int) -> tuple[Operator, ...]:
    append_only = emits(node.input) is ChangelogMode.INSERT_ONLY
    made = Aggregate(
        input=input_schema(node.input),
        group=node.keys,
        calls=tuple(_call(call) for call in node.calls),
        append_only=append_only,
        update_before=node.emit_before,
        ttl_ms=ttl_ms,
        doubtful=not append_only and bool(of_metadata(node.input)),
    )
    return two_stages(made) if node.split_distinct else (made,)


@operators_for.register
def _(node: n.Normalize, ttl_ms: int) -> tuple[Operator, ...]:
    schema, condition = input_schema(node.input), None
    if node.filter is not None:
        condition = FILTER
        schema = schema.insert(len(schema) - 1, pa.field(FILTER, pa.bool_()))
    return (Normalize(schema, node.key, condition, node.emit_before, ttl_ms),)


@operators_for.register
def _(node: n.Join, ttl_ms: int) -> tuple[Operator, ...]:
    left, right = input_schema(node.left), input_schema(node.right)
    if node.null_aware:
        key = smallest_key(node)
        return (NotIn(left, right, node.left_keys[0], node.right_keys[0], key, node.emit_before, ttl_ms),)
    sides = (
        JoinSide(left, node.left_keys, _multiplicity(node.left, node.left_keys), ttl_ms),
        JoinSide(right, node.right_keys, _multiplicity(node.right, node.right_keys), ttl_ms),
    )
    return (Join(*sides, node.kind, _residual(node), smallest_key(node), node.emit_before),)


def _residual(node: n.Join | t.IntervalJoin | t.TemporalJoin | t.WindowJoin) -> Residual | None:
    if node.residual is None:
        return None
    types = {c.name: arrow_type(c.type) for side in node.inputs for c in side.columns}
    return duck_residual(node.residual.tree, types)


@operators_for.register
def _(node: n.SetDifference, ttl_ms: int) -> tuple[Operator, ...]:
    return (SetDifference(input_schema(node.left), input_schema(node.right), node.intersect, node.all, ttl_ms),)


@operators_for.register
def _(node: n.SinkMaterialize, ttl_ms: int) -> tuple[Operator, ...]:
    conflict = OnConflict(node.on_conflict) if node.on_conflict else OnConflict.DEDUPLICATE
    return (Materialize(input_schema(node.input), node.key, node.upsert_key, conflict, node.table, ttl_ms),)


@operators_for.register
def _(node: n.SinkBuffer, ttl_ms: int) -> tuple[Operator, ...]:
    interval = node.interval // timedelta(microseconds=1)
    return (Buffer(input_schema(node.input), node.key, node.max_rows, interval, node.net),)


@operators_for.register
def _(node: n.Rank, ttl_ms: int) -> tuple[Operator, ...]:
    if first_by_time(node):
        schema, time = input_schema(node.input), node.order[0].column
        return (FirstRow(schema, node.partition, time, _rank_field(node), ttl_ms),)
    by_arrival = [o for o in node.order if time_attribute(node.input, o.column) is TimeAttribute.PROCTIME]
    order = tuple(Order(o.column, o.descending, o.nulls_first) for o in node.order if o not in by_arrival)
    ranked = Rank(
        input=input_schema(node.input),
        partition=node.partition,
        order=order,
        first=node.first,
        last=node.last,
        rank=_rank_field(node),
        function=node.function,
        append_only=emits(node.input) is ChangelogMode.INSERT_ONLY,
        latest_first=any(o.descending for o in by_arrival) or _keeps_last(node),
        identity=smallest_key(node.input),
        upsert_key=smallest_key(node),
        update_before=node.emit_before,
        ttl_ms=ttl_ms,
    )
    return (ranked,)


def _rank_field(node: n.Rank | t.WindowRank) -> pa.Field | None:
    return None if node.rank is None or node.rank_type is None else pa.field(node.rank, arrow_type(node.rank_type))


def _keeps_last(node: n.Rank | t.WindowRank) -> bool:
    """Deduplication that keeps the latest row by event time: of rows of one time the later one wins, as in Flink."""
    if not (node.first == node.last == 1 and node.order and node.order[0].descending):
        return False
    return time_attribute(node.input, node.order[0].column) is TimeAttribute.ROWTIME


@operators_for.register
def _(node: t.Over, ttl_ms: int) -> tuple[Operator, ...]:
    calls = tuple(_call(call) for call in node.calls)
    if node.time is not None or node.proctime:
        schema = input_schema(node.input)
        return (Over(schema, node.partition, calls, node.rows, node.preceding, node.time, ttl_ms),)
    ranked = Rank(
        input=input_schema(node.input),
        partition=node.partition,
        order=tuple(Order(o.column, o.descending, o.nulls_first) for o in node.order),
        append_only=emits(node.input) is ChangelogMode.INSERT_ONLY,
        identity=smallest_key(node.input),
        upsert_key=smallest_key(node),
        update_before=node.emit_before,
        ttl_ms=ttl_ms,
    )
    return (OverAnyOrder(ranked, calls, node.rows, node.preceding),)


@operators_for.register
def _(node: t.WindowAggregate, ttl_ms: int) -> tuple[Operator, ...]:
    append_only = emits(node.input) is ChangelogMode.INSERT_ONLY
    calls = tuple(_call(call) for call in node.calls)
    window = node.window
    schema, local = input_schema(node.input), _local(node)
    by = outlasting(node.input, node.keys)
    return (WindowAggregate(schema, node.keys, calls, node.end, window.time, append_only, local, window.proctime, by),)


@operators_for.register
def _(node: t.WindowAssign, ttl_ms: int) -> tuple[Operator, ...]:
    spec = node.window
    return (Sessions(input_schema(node.input), spec.partition, spec.time, spec.size, is_local(node), spec.proctime),)


@operators_for.register
def _(node: t.WindowRank, ttl_ms: int) -> tuple[Operator, ...]:
    by_arrival = [o for o in node.order if o.arrival]
    order = tuple(Order(o.column, o.descending, o.nulls_first) for o in node.order if not o.arrival)
    ranked = WindowRank(
        input=input_schema(node.input),
        partition=node.partition,
        order=order,
        first=node.first,
        last=node.last,
        rank=_rank_field(node),
        end=node.end,
        time=node.window.time,
        latest_first=any(o.descending for o in by_arrival) or _keeps_last(node),
        local=_local(node),
        proctime=node.window.proctime,
        spread_by=outlasting(node.input, node.partition),
    )
    return (ranked,)


@operators_for.register
def _(node: t.IntervalJoin, ttl_ms: int) -> tuple[Operator, ...]:
    kind = node.kind
    if kind.filters:
        raise RowkindError("OPERATOR_NOT_YET_SUPPORTED", operator=described(node))
    left = IntervalSide(input_schema(node.left), node.left_keys, node.left_time, node.upper)
    right = IntervalSide(input_schema(node.right), node.right_keys, node.right_time, -node.lower)
    return (IntervalJoin(left, right, kind, _residual(node), node.proctime),)


@operators_for.register
def _(node: t.TemporalJoin, ttl_ms: int) -> tuple[Operator, ...]:
    if emits(node.left) is not ChangelogMode.INSERT_ONLY:
        what = f"a left side that is updated: {described(node)}"
        raise RowkindError("OPERATOR_NOT_YET_SUPPORTED", operator=what)
    joined = TemporalJoin(
        left=input_schema(node.left),
        right=input_schema(node.right),
        kind=node.kind,
        left_keys=node.left_keys,
        right_keys=node.right_keys,
        left_time=None if node.proctime else node.left_time,
        right_time=None if node.proctime else node.right_time,
        residual=_residual(node),
    )
    return (joined,)


@operators_for.register
def _(node: t.WindowJoin, ttl_ms: int) -> tuple[Operator, ...]:
    by = outlasting(node.left, node.left_keys)
    equal = tuple(right for left, right in zip(node.left_keys, node.right_keys, strict=True) if left in by)
    left = WindowSide(input_schema(node.left), node.left_keys, node.left_end, by)
    right = WindowSide(input_schema(node.right), node.right_keys, node.right_end, equal)
    found = windowing(node.left)
    proctime = found is not None and found.window.proctime
    return (WindowJoin(left, right, node.kind, _residual(node), _local(node), proctime),)


def _local(node: n.Node) -> bool:
    """Whether the windows below a node are over instants, so that they end by the wall clock."""
    return any(is_local(below) for below in n.walk(node) if isinstance(below, t.WindowAssign))


def _multiplicity(side: n.Node, keys: tuple[str, ...]) -> Multiplicity:
    """What the side's upsert keys say about how many rows a join key has."""
    known = upsert_keys(side)
    if any(key <= set(keys) for key in known):
        return Multiplicity.ONE_PER_KEY
    if emits(side) is ChangelogMode.INSERT_ONLY:
        return Multiplicity.APPEND_ONLY
    return Multiplicity.DISTINCT if known else Multiplicity.ANY


def _call(call: n.Call) -> AggregateCall:
    argument = call.arguments[0] if call.arguments else None
    separator = call.separator if call.separator is not None else ","
    default = call.arguments[1] if call.function == LAG and len(call.arguments) > 1 else None
    return AggregateCall(
        call.function,
        argument,
        arrow_type(call.type),
        call.name,
        call.distinct,
        call.filter,
        separator,
        call.offset,
        default,
    )


def input_schema(node: n.Node) -> pa.Schema:
    """A node's changelog as its consumer sees it."""
    return changelog_schema(node.columns)


def changelog_schema(columns: tuple[Field, ...]) -> pa.Schema:
    """The Arrow schema of a changelog with these columns; every column may be null, as in a delete."""
    return pa.schema([*(pa.field(c.name, arrow_type(c.type)) for c in columns), pa.field(KIND_COLUMN, pa.int8())])
