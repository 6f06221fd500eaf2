"""Which types an explicit CAST can turn into which, as Flink's casting rules say."""

from __future__ import annotations

from rowkind.types import (
    BINARIES,
    CHARACTERS,
    INTEGERS,
    NUMERICS,
    TIMESTAMPS,
    DataType,
    Root,
    map_members,
)

_INTERVALS = frozenset({Root.INTERVAL_DAY_TIME, Root.INTERVAL_YEAR_MONTH})
_TO_NUMBER = NUMERICS | CHARACTERS | TIMESTAMPS | {Root.BOOLEAN}
_DATETIMES = TIMESTAMPS | {Root.DATE, Root.TIME}

_SOURCES: dict[Root, frozenset[Root]] = {
    **dict.fromkeys(CHARACTERS, frozenset(Root)),
    **dict.fromkeys(BINARIES, BINARIES | CHARACTERS),
    Root.BOOLEAN: CHARACTERS | INTEGERS | {Root.BOOLEAN},
    **dict.fromkeys(INTEGERS, _TO_NUMBER | _INTERVALS),
    **dict.fromkeys((Root.FLOAT, Root.DOUBLE, Root.DECIMAL), _TO_NUMBER),
    Root.DATE: TIMESTAMPS | CHARACTERS | {Root.DATE},
    Root.TIME: TIMESTAMPS | CHARACTERS | {Root.TIME},
    **dict.fromkeys(TIMESTAMPS, _DATETIMES | CHARACTERS),
    **dict.fromkeys(_INTERVALS, INTEGERS | CHARACTERS),
}


def castable(source: DataType, target: DataType) -> bool:
    """Whether CAST(source AS target) exists; NOT NULL is no obstacle.

    >>> from rowkind.types import BIGINT, INT, BOOLEAN, DATE
    >>> castable(INT, BIGINT), castable(BOOLEAN, DATE)
    (True, False)
    """
    if source.root is Root.NULL or source.as_nullable() == target.as_nullable():
        return True
    if target.root in CHARACTERS:
        return True
    members, wanted = _members(source), _members(target)
    if members or wanted:
        return (
            source.root is target.root
            and len(members) == len(wanted)
            and all(castable(a, b) for a, b in zip(members, wanted, strict=True))
        )
    return source.root is target.root or source.root in _SOURCES.get(target.root, frozenset())


def _members(type: DataType) -> tuple[DataType, ...]:
    match type.root:
        case Root.ROW:
            return tuple(f.type for f in type.fields)
        case Root.ARRAY:
            return (type.element,) if type.element else ()
        case Root.MAP | Root.MULTISET:
            return map_members(type)
        case _:
            return ()
