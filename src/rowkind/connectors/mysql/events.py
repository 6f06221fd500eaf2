"""The kinds of binlog events, and the small ones read: everything but rows and tables."""

from __future__ import annotations

import re
import struct
import zlib
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache

import pyarrow as pa

from rowkind.errors import RowkindError

HEADER = 19
QUERY, STOP, ROTATE, INTVAR, RAND, USER_VAR, FORMAT, XID = 2, 3, 4, 5, 13, 14, 15, 16
TABLE_MAP, WRITE_V1, UPDATE_V1, DELETE_V1, INCIDENT, HEARTBEAT, IGNORABLE, ROWS_QUERY = 19, 23, 24, 25, 26, 27, 28, 29
WRITE, UPDATE, DELETE, GTID, ANONYMOUS_GTID, PREVIOUS_GTIDS = 30, 31, 32, 33, 34, 35
TRANSACTION_CONTEXT, VIEW_CHANGE, XA_PREPARE, PARTIAL_UPDATE, TRANSACTION_PAYLOAD, HEARTBEAT_V2 = range(36, 42)
TAGGED_GTID = 42
ANNOTATE, CHECKPOINT, MARIADB_GTID, GTID_LIST, START_ENCRYPTION, QUERY_COMPRESSED = range(160, 166)
WRITE_COMPRESSED_V1, UPDATE_COMPRESSED_V1, DELETE_COMPRESSED_V1 = 166, 167, 168
WRITE_COMPRESSED, UPDATE_COMPRESSED, DELETE_COMPRESSED = 169, 170, 171

ROWS = {
    WRITE_V1: 0, UPDATE_V1: 1, DELETE_V1: 2, WRITE: 0, UPDATE: 1, DELETE: 2,
    WRITE_COMPRESSED_V1: 0, UPDATE_COMPRESSED_V1: 1, DELETE_COMPRESSED_V1: 2,
    WRITE_COMPRESSED: 0, UPDATE_COMPRESSED: 1, DELETE_COMPRESSED: 2,
}  # fmt: skip
"""Row events: 0 writes, 1 updates (two images a row), 2 deletes."""
HAVE_EXTRA = frozenset({WRITE, UPDATE, DELETE, WRITE_COMPRESSED, UPDATE_COMPRESSED, DELETE_COMPRESSED})
COMPRESSED_ROWS = frozenset(range(WRITE_COMPRESSED_V1, DELETE_COMPRESSED + 1))
WITHOUT_MEANING = frozenset(
    {
        STOP, INTVAR, RAND, USER_VAR, HEARTBEAT, IGNORABLE, ROWS_QUERY, TRANSACTION_CONTEXT, VIEW_CHANGE,
        HEARTBEAT_V2, ANNOTATE, CHECKPOINT, START_ENCRYPTION,
    }
)  # fmt: skip
IGNORABLE_FLAG = 0x80
ARTIFICIAL_FLAG = 0x20
STANDALONE = 1
"""The flag of a MariaDB GTID whose transaction is one statement, without an end of its own."""


class Statement(Enum):
    """What the text of a QUERY event does to the stream."""

    BEGIN = auto()
    COMMIT = auto()
    ROLLBACK = auto()
    CHANGES_SCHEMA = auto()
    CHANGES_ROWS = auto()
    """A change that was logged as a statement: its rows are not in the log."""
    OTHER = auto()


@dataclass(frozen=True, slots=True)
class Query:
    database: str
    text: str


_COMMENTS = re.compile(r"(?:\s+|--[ \t][^\n]*\n|#[^\n]*\n|/\*(?![!M]).*?\*/)+", re.S)
_KINDS = {
    "BEGIN": Statement.BEGIN,
    "COMMIT": Statement.COMMIT,
    "ROLLBACK": Statement.ROLLBACK,
    **dict.fromkeys(("CREATE", "ALTER", "DROP", "RENAME", "TRUNCATE"), Statement.CHANGES_SCHEMA),
    **dict.fromkeys(("INSERT", "UPDATE", "DELETE", "REPLACE", "LOAD"), Statement.CHANGES_ROWS),
}


def without_comments(text: str) -> str:
    """A statement without the remarks before it."""
    match = _COMMENTS.match(text)
    return text[match.end() :] if match else text


def statement_kind(text: str) -> Statement:
    """By the first word alone; it is read before anything is parsed."""
    words = without_comments(text)[:40].upper().split()
    if not words:
        return Statement.OTHER
    if words[0] == "XA":
        return Statement.BEGIN if words[1:2] in (["START"], ["BEGIN"]) else Statement.OTHER
    if words[0] == "ROLLBACK" and words[1:2] == ["TO"]:
        return Statement.OTHER
    return _KINDS.get(words[0].rstrip(";"), Statement.OTHER)


def query(body: bytes, compressed: bool = False) -> Query:
    """A QUERY event's contents behind its header."""
    database_length, status_length = body[8], int.from_bytes(body[11:13], "little")
    at = 13 + status_length
    database = body[at : at + database_length].decode("utf-8", "replace")
    text = body[at + database_length + 1 :]
    if compressed:
        text = uncompressed(text)
    try:
        return Query(database, text.decode("utf-8"))
    except UnicodeDecodeError:
        return Query(database, text.decode("cp1252", "replace"))


def uncompressed(data: bytes) -> bytes:
    """What MariaDB has compressed: a byte that says how, the length it will have, zlib's bytes."""
    length = data[0] & 7
    if (data[0] >> 4) & 7:
        raise RowkindError("MYSQL_UNKNOWN_EVENT", type=f"compressed by method {data[0] >> 4 & 7}", position="")
    return zlib.decompress(data[1 + length :])


def payload(body: bytes) -> bytes:
    """The events of a compressed transaction: MySQL's fields of type, length and value, then the bytes."""
    at, compression, size = 0, 255, 0
    while True:
        field, at = length_encoded(body, at)
        if field == 0:
            break
        length, at = length_encoded(body, at)
        value = length_encoded(body, at)[0]
        at += length
        if field == 2:
            compression = value
        elif field == 3:
            size = value
    data = body[at:]
    if compression == 255:
        return data
    if compression != 0:
        raise RowkindError("MYSQL_UNKNOWN_EVENT", type=f"compressed by method {compression}", position="")
    return pa.Codec("zstd").decompress(data, decompressed_size=size, asbytes=True)  # type: ignore[no-any-return]


def length_encoded(body: bytes, at: int) -> tuple[int, int]:
    first = body[at]
    if first < 251:
        return first, at + 1
    width = {252: 2, 253: 3, 254: 8}[first]
    return int.from_bytes(body[at + 1 : at + 1 + width], "little"), at + 1 + width


@lru_cache(maxsize=256)
def uuid_text(data: bytes) -> str:
    """A source's uuid."""
    digits = data.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:32]))


def previous_gtids(body: bytes) -> dict[str, list[tuple[int, int]]]:
    """What MySQL had executed before this file: half-open ranges by source."""
    (count,) = struct.unpack_from("<Q", body)
    at, found = 8, {}
    for _ in range(count):
        source = uuid_text(body[at : at + 16])
        (ranges,) = struct.unpack_from("<Q", body, at + 16)
        at += 24
        found[source] = [struct.unpack_from("<QQ", body, at + 16 * i) for i in range(ranges)]
        at += 16 * ranges
    return found


def gtid_list(body: bytes) -> dict[int, tuple[int, int]]:
    """The last transaction of each domain before this file of MariaDB."""
    count = int.from_bytes(body[:4], "little") & 0x0FFFFFFF
    found = {}
    for place in range(count):
        domain, server, sequence = struct.unpack_from("<IIQ", body, 4 + 16 * place)
        found[domain] = (server, sequence)
    return found
