"""From change events to rows: each event's images before and after, with the kinds that its operation gives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rowkind.formats.spans import Bools, Ints, valid
from rowkind.kinds import RowKind


class Operation(IntEnum):
    """What an event does, whatever its tool calls it."""

    INSERT = 0
    UPDATE = 1
    DELETE = 2
    NOTHING = 3
    """An event to be passed over, such as the creation of a table."""
    UNKNOWN = 4


Failures = dict[int, str]
"""Events that cannot become rows, by their place, and why."""


@dataclass(frozen=True, slots=True)
class Images:
    """Rows before and after a change; an event may have several pairs. `event` is ascending."""

    before: pa.StructArray
    after: pa.StructArray
    event: Ints


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a batch of events says: images, the operation of each event, and which events make no sense."""

    images: Images
    operations: Ints
    failures: Failures


@dataclass(frozen=True, slots=True)
class Changes:
    """Rows with their kinds, in the order of their events."""

    rows: pa.StructArray
    kinds: pa.Int8Array
    event: Ints


def operations(column: pa.StringArray, names: Mapping[str, Operation]) -> Ints:
    """The operation of every event by the tool's name for it."""
    encoded = column.dictionary_encode()
    known = [names.get(name, Operation.UNKNOWN) for name in encoded.dictionary.to_pylist()]
    codes: Ints = np.array([*known, Operation.UNKNOWN], np.int64)[encoded.indices.fill_null(len(known)).to_numpy()]
    return codes


def unknown(column: pa.StringArray, codes: Ints, field: str) -> Failures:
    """Events whose operation is absent or of no known name."""
    found = {}
    for i in np.flatnonzero(codes == Operation.UNKNOWN).tolist():
        name = column[i].as_py()
        found[i] = f'the "{field}" field is missing' if name is None else f'Unknown "{field}" value "{name}"'
    return found


def missing(images: Images, codes: Ints, say: Callable[[Operation, bool], str]) -> Failures:
    """Events without an image that their operation needs; `say` words it for the operation, and whether before."""
    operation = codes[images.event]
    found: Failures = {}
    for code in (Operation.INSERT, Operation.UPDATE):
        _add(found, images.event[(operation == code) & ~valid(images.after)], say(code, False))
    for code in (Operation.UPDATE, Operation.DELETE):
        _add(found, images.event[(operation == code) & ~valid(images.before)], say(code, True))
    return found


def _add(found: Failures, events: Ints, reason: str) -> None:
    for event in events.tolist():
        found.setdefault(event, reason)


def changes(images: Images, codes: Ints, good: Bools) -> Changes:
    """The rows of all good events: -U before +U, everything in the order of events."""
    operation = np.where(good, codes, Operation.NOTHING)[images.event]
    if (operation == Operation.INSERT).all():
        return Changes(images.after, pa.array(np.zeros(len(operation), np.int8)), images.event)
    new, update, gone = (np.flatnonzero(operation == o) for o in (Operation.INSERT, Operation.UPDATE, Operation.DELETE))
    size = len(images.event)
    # Images before come first, images after one round later.
    places = np.concatenate([new + size, update, update + size, gone])
    pairs = np.concatenate([new, update, update, gone])
    kinds = np.repeat(
        np.array([RowKind.INSERT, RowKind.UPDATE_BEFORE, RowKind.UPDATE_AFTER, RowKind.DELETE], np.int8),
        [len(new), len(update), len(update), len(gone)],
    )
    order = np.lexsort((kinds, pairs))
    rows = pa.concat_arrays([images.before, images.after]).take(pa.array(places[order]))
    return Changes(rows, pa.array(kinds[order]), images.event[pairs[order]])


def completed(old: pa.StructArray, data: pa.StructArray, whole: Bools) -> pa.StructArray:
    """Old images that list changed columns only, with the others taken from the new ones; `whole` ones stay."""
    keep, fields = pa.array(whole), list(old.type)
    columns = [
        pc.if_else(pc.or_(was.is_valid(), keep), was, now)
        for was, now in zip(old.flatten(), data.flatten(), strict=True)
    ]
    if not columns:
        return old
    return pa.StructArray.from_arrays(columns, fields=fields, mask=pa.array(~valid(old)))
