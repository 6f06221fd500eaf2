"""The rows that are left of a changelog when it ends, in the order that a SELECT asks for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

from rowkind.kinds import RowKind
from rowkind.plan.nodes import Order, Print

Values = tuple[Any, ...]
_ADDED = (RowKind.INSERT.symbol, RowKind.UPDATE_AFTER.symbol)


class FinalRows:
    """Takes the changes of a job, called as its `show`; gives the rows that they leave."""

    def __init__(self, plan: Print) -> None:
        self._order = plan.order
        self._width = len(plan.fields)
        self._counts: Counter[Hashable] = Counter()
        self._values: dict[Hashable, Values] = {}

    def __call__(self, titles: tuple[str, ...], changes: Sequence[tuple[str, Values]]) -> None:
        for kind, values in changes:
            key = _hashable(values)
            self._counts[key] += 1 if kind in _ADDED else -1
            self._values.setdefault(key, values)
            if not self._counts[key]:
                del self._counts[key], self._values[key]

    def rows(self) -> list[Values]:
        """Those of equal rank in the order in which they came."""
        found = [self._values[key] for key, count in self._counts.items() for _ in range(count)]
        for place in reversed(range(len(self._order))):
            found.sort(key=_rank(self._width + place, self._order[place]), reverse=self._order[place].descending)
        return [values[: self._width] for values in found]

    def __iter__(self) -> Iterator[Values]:
        return iter(self.rows())


def _rank(place: int, order: Order) -> Callable[[Values], tuple[bool, Any]]:
    """NULLs stand where the order wants them, whichever way it goes; NaN is above all numbers, as in Spark."""
    null = order.nulls_first == order.descending

    def rank(values: Values) -> tuple[bool, Any]:
        value = values[place]
        if value is None:
            return null, ()
        return not null, ((value != value), value if value == value else 0)

    return rank


def _hashable(value: Any) -> Hashable:
    if isinstance(value, (list, tuple)):
        return tuple(map(_hashable, value))
    if isinstance(value, dict):
        return frozenset((_hashable(k), _hashable(v)) for k, v in value.items())
    return bytes(value) if isinstance(value, bytearray) else value
