"""LISTAGG, ARRAY_AGG and COLLECT: what is made of all values of a group, in order of their arrival."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rowkind.operators.aggregate.accumulators import implementation
from rowkind.operators.aggregate.aggregate_call import AggregateCall
from rowkind.operators.changes import Ints, group
from rowkind.state.hashing import hash_columns


@dataclass(frozen=True, slots=True)
class Owned:
    """Values, and the number of the owner of each, in order of the owners, of which there are `size`."""

    values: pa.Array
    owner: Ints
    size: int

    @property
    def offsets(self) -> pa.Array:
        """Where each owner's values begin and the last one's end."""
        return pa.array(np.searchsorted(self.owner, np.arange(self.size + 1)).astype(np.int32))

    def once(self) -> tuple[Owned, Ints]:
        """The distinct values of each owner in order of their first, and how often each is there."""
        pairs = group(hash_columns([pa.array(self.owner), self.values], len(self.owner)))
        firsts = np.full(len(pairs), len(self.owner), dtype=np.int64)
        np.minimum.at(firsts, pairs.index, np.arange(len(self.owner)))
        counts = pairs.sum(np.ones(len(self.owner), dtype=np.int64))
        order = np.argsort(firsts)
        firsts = firsts[order]
        return Owned(self.values.take(pa.array(firsts)), self.owner[firsts], self.size), counts[order]


Lists = Callable[[AggregateCall, Owned], pa.Array]


def list_of(call: AggregateCall) -> Lists:
    """What makes the results of a call that keeps all values."""
    made: Lists = implementation(call.entry.implementation)
    return made


def joined(call: AggregateCall, owned: Owned) -> pa.Array:
    return pc.binary_join(_arrays(call, owned), call.separator).cast(call.type)


def arrays(call: AggregateCall, owned: Owned) -> pa.Array:
    return _arrays(call, owned).cast(call.type)


def _arrays(call: AggregateCall, owned: Owned) -> pa.Array:
    """One array an owner, NULL where there are no values."""
    if call.distinct:
        owned, _ = owned.once()
    offsets = owned.offsets
    made = pa.ListArray.from_arrays(offsets, owned.values)
    return pc.if_else(pc.equal(offsets[1:], offsets[:-1]), pa.scalar(None, made.type), made)


def multisets(call: AggregateCall, owned: Owned) -> pa.Array:
    owned, counts = owned.once()
    repeats = np.ones(len(counts), dtype=np.int32) if call.distinct else counts.astype(np.int32)
    return pa.MapArray.from_arrays(owned.offsets, owned.values, pa.array(repeats)).cast(call.type)
