"""Which types an INSERT converts by itself, as Flink's implicit casts say."""

from __future__ import annotations

from rowkind.types import BINARIES, CHARACTERS, TIMESTAMPS, DataType, Root, map_members

_WIDENING = (Root.TINYINT, Root.SMALLINT, Root.INT, Root.BIGINT, Root.DECIMAL, Root.FLOAT, Root.DOUBLE)


def assignable(given: DataType, wanted: DataType) -> bool:
    """Whether a column of the first type may be written into one of the second without a CAST.

    >>> from rowkind.types import BIGINT, INT
    >>> assignable(INT, BIGINT), assignable(BIGINT, INT)
    (True, False)
    """
    if given.root is Root.NULL:
        return True
    for family in (CHARACTERS, BINARIES, TIMESTAMPS | {Root.DATE}):
        if given.root in family and wanted.root in family:
            return wanted.root is not Root.DATE or given.root is Root.DATE
    if given.root in _WIDENING and wanted.root in _WIDENING:
        return _WIDENING.index(given.root) <= _WIDENING.index(wanted.root)
    if given.root is not wanted.root:
        return False
    return _members_assignable(given, wanted)


def _members_assignable(given: DataType, wanted: DataType) -> bool:
    match given.root:
        case Root.ROW:
            return len(given.fields) == len(wanted.fields) and all(
                assignable(a.type, b.type) for a, b in zip(given.fields, wanted.fields, strict=True)
            )
        case Root.ARRAY:
            assert given.element
            assert wanted.element
            return assignable(given.element, wanted.element)
        case Root.MAP | Root.MULTISET:
            return all(assignable(a, b) for a, b in zip(map_members(given), map_members(wanted), strict=True))
        case _:
            return True
