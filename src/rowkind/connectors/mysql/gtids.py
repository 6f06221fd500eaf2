"""Sets of global transaction ids, in MySQL's form (uuid:1-5) and in MariaDB's (domain-server-sequence)."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable
from typing import Protocol

from rowkind.errors import RowkindError


class GtidSet(Protocol):
    """Which transactions a position has behind it; `str()` is the server's own form."""

    def contains(self, other: GtidSet) -> bool:
        """Whether every transaction of the other set is in this one."""
        ...

    def copy(self) -> GtidSet: ...


class MySqlGtids:
    """Half-open intervals of sequence numbers by source.

    >>> str(MySqlGtids.parse("3E11FA47-71CA-11E1-9E33-C80AA9429562:1-3:5"))
    '3e11fa47-71ca-11e1-9e33-c80aa9429562:1-3:5'
    """

    def __init__(self, intervals: dict[str, list[tuple[int, int]]] | None = None) -> None:
        # A source is a uuid, with a tag behind a colon where MySQL 8.4 has given one.
        self._intervals = intervals or {}

    @classmethod
    def parse(cls, text: str) -> MySqlGtids:
        found = cls()
        for part in re.sub(r"\s", "", text).split(","):
            if part:
                found._parse_source(part, text)
        return found

    def _parse_source(self, part: str, text: str) -> None:
        uuid, *ranges = part.lower().split(":")
        if not re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", uuid):
            raise RowkindError("MYSQL_GTID_MALFORMED", text=text, reason=f"{uuid!r} is not a uuid")
        source = uuid
        for numbers in ranges:
            if re.fullmatch(r"[a-z_][a-z0-9_]{0,31}", numbers):
                source = f"{uuid}:{numbers}"
                continue
            match = re.fullmatch(r"(\d+)(?:-(\d+))?", numbers)
            if not match:
                raise RowkindError("MYSQL_GTID_MALFORMED", text=text, reason=f"{numbers!r} is not a range of numbers")
            first = int(match.group(1))
            self.add(source, first, int(match.group(2) or first) + 1)

    def add(self, source: str, first: int, end: int) -> None:
        """Take in the transactions from `first` up to, not including, `end`."""
        known = self._intervals.setdefault(source, [])
        if known and known[-1][1] == first:
            known[-1] = (known[-1][0], end)
        else:
            known.append((first, end))
            self._intervals[source] = _merged(known)

    def contains(self, other: GtidSet) -> bool:
        assert isinstance(other, MySqlGtids)
        return all(self._covers(source, each) for source, parts in other._intervals.items() for each in parts)

    def _covers(self, source: str, part: tuple[int, int]) -> bool:
        return any(a <= part[0] and part[1] <= b for a, b in self._intervals.get(source, []))

    def missing(self, other: MySqlGtids) -> MySqlGtids:
        """What the other set has and this one lacks."""
        left: dict[str, list[tuple[int, int]]] = {}
        for source, parts in other._intervals.items():
            rest = parts
            for a, b in self._intervals.get(source, []):
                rest = [cut for x, y in rest for cut in ((x, min(y, a)), (max(x, b), y)) if cut[0] < cut[1]]
            if rest:
                left[source] = rest
        return MySqlGtids(left)

    def copy(self) -> MySqlGtids:
        return MySqlGtids({source: list(parts) for source, parts in self._intervals.items()})

    def encoded(self) -> bytes:
        """As COM_BINLOG_DUMP_GTID carries it."""
        parts = [struct.pack("<Q", len(self._intervals))]
        for source, intervals in sorted(self._intervals.items()):
            parts.append(bytes.fromhex(source.partition(":")[0].replace("-", "")))
            parts.append(struct.pack("<Q", len(intervals)))
            parts += [struct.pack("<QQ", a, b) for a, b in intervals]
        return b"".join(parts)

    def __str__(self) -> str:
        return ",".join(f"{source}:{_ranges(parts)}" for source, parts in sorted(self._intervals.items()))


class MariaGtids:
    """The last transaction of each domain.

    >>> str(MariaGtids.parse("0-1-100,5-2-7"))
    '0-1-100,5-2-7'
    """

    def __init__(self, last: dict[int, tuple[int, int]] | None = None) -> None:
        self._last = last or {}

    @classmethod
    def parse(cls, text: str) -> MariaGtids:
        found = cls()
        for part in re.sub(r"\s", "", text).split(","):
            match = re.fullmatch(r"(\d+)-(\d+)-(\d+)", part)
            if match:
                found.add(*(int(number) for number in match.groups()))
            elif part:
                raise RowkindError("MYSQL_GTID_MALFORMED", text=text, reason=f"{part!r} has not three numbers")
        return found

    def add(self, domain: int, server: int, sequence: int) -> None:
        self._last[domain] = (server, sequence)

    def contains(self, other: GtidSet) -> bool:
        assert isinstance(other, MariaGtids)
        return all(domain in self._last and self._last[domain][1] >= n for domain, (_, n) in other._last.items())

    def copy(self) -> MariaGtids:
        return MariaGtids(dict(self._last))

    def __str__(self) -> str:
        return ",".join(f"{domain}-{server}-{n}" for domain, (server, n) in sorted(self._last.items()))


def gtid_set(text: str) -> MySqlGtids | MariaGtids:
    """A set in either form: only MySQL's has a colon."""
    return MySqlGtids.parse(text) if ":" in text else MariaGtids.parse(text)


def _ranges(parts: Iterable[tuple[int, int]]) -> str:
    return ":".join(str(a) if b == a + 1 else f"{a}-{b - 1}" for a, b in parts)


def _merged(parts: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for first, end in sorted(parts):
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((first, end))
    return merged
