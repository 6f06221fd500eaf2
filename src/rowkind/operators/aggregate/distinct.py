"""DISTINCT in two stages, for groups too hot for one partition.

The first stage is partitioned by group and value, so the values of one group are spread over all partitions. It knows
which values came or went and passes on, per group, what that does to the accumulators. The second is partitioned by
group and merges. The planner decides where that is done (`plan/rules/split_distinct.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from rowkind.aggregate_functions import Keeps
from rowkind.operators.aggregate.accumulators import ints
from rowkind.operators.aggregate.group_aggregate import CAME, ROWS, Aggregate, latest, partials_of
from rowkind.operators.aggregate.kept_values import PART
from rowkind.operators.changes import column_array, group
from rowkind.operators.contract import BatchContext, Operator, Output
from rowkind.state.contract import StateTables
from rowkind.state.hashing import hash_rows

SHARD = "__shard"


def two_stages(aggregate: Aggregate) -> tuple[Operator, ...]:
    """The operators to chain for an aggregate that has DISTINCT calls."""
    return DistinctStage(aggregate), MergeStage(aggregate)


def telling(stages: Sequence[Operator]) -> tuple[Operator, ...]:
    """The operators of an aggregate, so that their results tell when they came."""
    return tuple(_telling(stage) for stage in stages)


def _telling(stage: Operator) -> Operator:
    if isinstance(stage, Aggregate):
        return replace(stage, tells=True)
    assert isinstance(stage, (DistinctStage, MergeStage))
    return replace(stage, aggregate=replace(stage.aggregate, tells=True))


@dataclass(frozen=True)
class DistinctStage:
    """From input rows to partial rows of the aggregate, in which DISTINCT is done."""

    aggregate: Aggregate

    @property
    def input_schemas(self) -> tuple[pa.Schema, ...]:
        return self.aggregate.input_schemas

    @property
    def key(self) -> tuple[str, ...]:
        return (SHARD,)

    @cached_property
    def exchange_schema(self) -> pa.Schema:
        return self.aggregate.exchange_schema.append(pa.field(SHARD, pa.int64()))

    @property
    def output_schema(self) -> pa.Schema:
        """Partial rows, without kinds: only the merging stage reads them."""
        return self.aggregate.exchange_schema

    def combine(self, delta: pa.Table, input: int = 0, order: int = 0) -> pa.Table:
        rows = self.aggregate.combine(delta, input, order)
        values = [slot.column for slot in self.aggregate.slots if slot.keeps is Keeps.DISTINCT]
        shard = hash_rows(rows, [*self.aggregate.group, *values]).h1.view(np.int64)
        return rows.append_column(self.exchange_schema.field(SHARD), pa.array(shard))

    def process(self, delta: pa.Table, state: StateTables, batch: BatchContext) -> Output:
        aggregate = self.aggregate
        delta = aggregate.canonical(delta.drop_columns([SHARD]).combine_chunks())
        counters: Counter[str] = Counter()
        groups = group(hash_rows(delta, aggregate.group))
        sources = [partials_of(delta, groups.index), *aggregate.distinct_partials(delta, groups, state, counters)]
        columns = {name: column_array(delta, name).take(pa.array(groups.first)) for name in aggregate.group}
        for at, merged in aggregate.merged(sources, groups).items():
            columns |= zip(aggregate.columns[at], merged, strict=True)
        columns[ROWS] = pa.array(groups.sum(ints(column_array(delta, ROWS))))
        if aggregate.tells:
            columns[CAME] = pa.array(latest(groups, ints(column_array(delta, CAME))))
        columns[PART] = pa.array(np.zeros(len(groups), dtype=np.int8))
        others = [slot.number for slot in aggregate.slots if slot.keeps is not Keeps.DISTINCT]
        passed = delta.filter(pa.array(np.isin(ints(column_array(delta, PART)), others)))
        return Output(pa.concat_tables([aggregate.padded(columns, len(groups)), passed]), counters)


@dataclass(frozen=True)
class MergeStage:
    """From the partial rows of all shards to the aggregate's result."""

    aggregate: Aggregate

    @property
    def input_schemas(self) -> tuple[pa.Schema, ...]:
        return (self.aggregate.exchange_schema,)

    @property
    def key(self) -> tuple[str, ...]:
        return self.aggregate.key

    @property
    def exchange_schema(self) -> pa.Schema:
        return self.aggregate.exchange_schema

    @property
    def output_schema(self) -> pa.Schema:
        return self.aggregate.output_schema

    def combine(self, delta: pa.Table, input: int = 0, order: int = 0) -> pa.Table:
        return delta

    def process(self, delta: pa.Table, state: StateTables, batch: BatchContext) -> Output:
        return self.aggregate.merge(delta, state, batch, distinct_done=True)
