"""Values of columns, made from the number of their row: the same ones however rows are cut into batches and tasks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Decimal, localcontext
from hashlib import blake2b
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from rowkind.types import BINARIES, CHARACTERS, INTEGERS, TIMESTAMPS, DataType, Root, arrow_type

Numbers = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

STEP = np.uint64(0x9E3779B97F4A7C15)
DAY = 86_400_000_000
MAX_DIGITS = 100
"""Of decimals while they are drawn: more than any type holds."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Which rows are made, and when: in epoch microseconds, and as a wall clock shows it."""

    numbers: Numbers
    seed: int
    clock: int
    local: int

    def words(self, path: str, each: int = 1) -> Words:
        """Random words, so many a row, by counting up from a hash of the seed (SplitMix64)."""
        start = np.frombuffer(blake2b(f"{self.seed}:{path}".encode(), digest_size=8).digest(), np.uint64)[0]
        at = (self.numbers.astype(np.uint64)[:, None] * np.uint64(each) + np.arange(each, dtype=np.uint64)) * STEP
        mixed = at + start
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        found: Words = mixed ^ (mixed >> np.uint64(31))
        return found

    def shares(self, path: str) -> npt.NDArray[np.float64]:
        """Random numbers from 0 up to 1."""
        found: npt.NDArray[np.float64] = (self.words(path)[:, 0] >> np.uint64(11)).astype(np.float64) * 2.0**-53
        return found

    def between(self, path: str, least: int, most: int) -> Numbers:
        """Random whole numbers, both ends included."""
        words, span = self.words(path)[:, 0], most - least + 1
        offset = words if span >= 1 << 64 else words % np.uint64(span)
        found: Numbers = (offset + np.uint64(least & (1 << 64) - 1)).view(np.int64)
        return found

    def inside(self, each: int) -> Rows:
        """The members of a collection in every row, as rows."""
        numbers = (self.numbers[:, None] * each + np.arange(each)).ravel()
        return Rows(numbers, self.seed, self.clock, self.local)


@dataclass(frozen=True, slots=True)
class Generator(ABC):
    """Makes one column. `path` is the column's name, or the way to a member inside it."""

    path: str
    type: DataType

    @abstractmethod
    def make(self, rows: Rows) -> pa.Array: ...


@dataclass(frozen=True, slots=True)
class Sequence(Generator):
    """Counts up from `start`, one a row."""

    start: int = 0

    def make(self, rows: Rows) -> pa.Array:
        values, type = rows.numbers + self.start, arrow_type(self.type)
        if self.type.root in BINARIES:
            return pa.array([int(v).to_bytes(8, "big", signed=True) for v in values], type)
        if self.type.root is Root.DECIMAL:
            return pa.array([Decimal(int(v)) for v in values], type)
        return pa.array(values).cast(type)


@dataclass(frozen=True, slots=True)
class Random(Generator):
    """Random values of a type without members. Limits are the column's own, or those of Flink."""

    least: float | int = 0
    most: float | int = 0
    length: int = 0
    varies: bool = False
    max_past: int = 0
    """Milliseconds."""
    null_rate: float = 0.0

    def make(self, rows: Rows) -> pa.Array:
        return with_nulls(self._values(rows), rows, self.path, self.null_rate)

    def _values(self, rows: Rows) -> pa.Array:
        root, type = self.type.root, arrow_type(self.type)
        if root in CHARACTERS | BINARIES:
            return self._bytes(rows, type)
        if root in INTEGERS or root is Root.INTERVAL_YEAR_MONTH:
            return pa.array(rows.between(self.path, int(self.least), int(self.most))).cast(type)
        if root is Root.INTERVAL_DAY_TIME:
            return pa.array(rows.between(self.path, int(self.least), int(self.most)) * 1000).cast(type)
        if root in (Root.FLOAT, Root.DOUBLE):
            share = rows.shares(self.path)
            return pa.array(share * self.most + (1 - share) * self.least).cast(type, safe=False)
        if root is Root.DECIMAL:
            return self._decimals(rows, type)
        if root in TIMESTAMPS:
            past = rows.between(self.path, 0, self.max_past - 1) if self.max_past > 0 else 0 * rows.numbers
            return pa.array((rows.clock // 1000 - past) * 1000).cast(type)
        return _fixed(rows, self.path, root, type)

    def _bytes(self, rows: Rows, type: pa.DataType) -> pa.Array:
        """Characters are hexadecimal digits, as Flink's."""
        text = self.type.root in CHARACTERS
        needed = -(-self.length // (16 if text else 8))
        raw = rows.words(self.path, needed).astype("<u8").tobytes()
        wide = np.frombuffer(raw.hex().encode() if text else raw, np.uint8).reshape(len(rows.numbers), -1)
        lengths = np.full(len(rows.numbers), self.length, np.int64)
        if self.varies:
            lengths = rows.between(f"{self.path}:length", 1, self.length)
        data = wide[np.arange(wide.shape[1]) < lengths[:, None]]
        offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
        return pa.Array.from_buffers(type, len(lengths), [None, pa.py_buffer(offsets), pa.py_buffer(data.tobytes())])

    def _decimals(self, rows: Rows, type: pa.DataType) -> pa.Array:
        """Drawn as doubles, as in Flink, and rounded to the scale inside of what the type holds."""
        share, scale = rows.shares(self.path), self.type.scale or 0
        with localcontext(prec=MAX_DIGITS):
            step, limit = Decimal(1).scaleb(-scale), Decimal(10 ** (self.type.precision or 0) - 1).scaleb(-scale)
            numbers = (share * self.most + (1 - share) * self.least).tolist()
            values = [max(-limit, min(limit, Decimal(number))).quantize(step) for number in numbers]
        return pa.array(values, type)


@dataclass(frozen=True, slots=True)
class Members(Generator):
    """A ROW of members, or a collection of `length` of them."""

    members: tuple[Generator, ...] = ()
    length: int = 0
    null_rate: float = 0.0

    def make(self, rows: Rows) -> pa.Array:
        return with_nulls(self._values(rows), rows, self.path, self.null_rate)

    def _values(self, rows: Rows) -> pa.Array:
        type = arrow_type(self.type)
        if self.type.root is Root.ROW:
            return pa.StructArray.from_arrays([m.make(rows) for m in self.members], fields=list(type))
        made = [m.make(rows.inside(self.length)) for m in self.members]
        offsets = np.arange(len(rows.numbers) + 1, dtype=np.int32) * self.length
        if self.type.root is Root.ARRAY:
            return pa.ListArray.from_arrays(pa.array(offsets), made[0]).cast(type)
        keys, values = (member.to_pylist() for member in made)
        # Of equal keys the last counts, so that a map may be smaller than its length.
        pairs = [dict(zip(keys[a:b], values[a:b], strict=True)) for a, b in pairwise(offsets)]
        return pa.array([list(pair.items()) for pair in pairs], type)


def with_nulls(values: pa.Array, rows: Rows, path: str, rate: float) -> pa.Array:
    if rate <= 0:
        return values
    absent = pa.array(rows.shares(f"{path}:null") < rate)
    return pc.if_else(absent, pa.scalar(None, values.type), values)


def _fixed(rows: Rows, path: str, root: Root, type: pa.DataType) -> pa.Array:
    """A date and a time are those of the wall clock, as in Flink."""
    if root is Root.BOOLEAN:
        return pa.array((rows.words(path)[:, 0] & np.uint64(1)).astype(bool))
    value = rows.local // DAY if root is Root.DATE else rows.local % DAY // 1000 * 1_000_000
    whole = pa.array(np.full(len(rows.numbers), value), pa.int64())
    return whole.cast(pa.int32()).cast(type) if root is Root.DATE else whole.cast(type)
