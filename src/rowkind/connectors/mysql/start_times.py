"""Where in the binlog a time lies: each file begins with an event that says when it was begun."""

from __future__ import annotations

import struct
import time
from typing import TYPE_CHECKING

from rowkind.connectors.mysql import events
from rowkind.connectors.mysql.binlog_stream import open_stream
from rowkind.connectors.mysql.connection import ServerAddress, connect
from rowkind.connectors.mysql.positions import BinlogPosition, binlog_files, current_end

if TYPE_CHECKING:
    from rowkind.connectors.mysql.facts import ServerFacts


def position_at(address: ServerAddress, facts: ServerFacts, seconds: float, server_id: int) -> BinlogPosition:
    """The start of the last file that was begun before a time: whoever reads from there drops what is older.

    A time before the oldest file gives that file; one that is yet to come gives the end.
    """
    connection = connect(address)
    try:
        if seconds > time.time():
            return current_end(connection, facts)
        files = binlog_files(connection)
    finally:
        connection.close()
    low, high = 0, len(files)
    while high - low > 1:
        middle = (low + high) // 2
        begun = _begun(address, facts, files[middle], server_id)
        low, high = (middle, high) if begun <= seconds else (low, middle)
    return BinlogPosition(files[low], server_id=facts.server_id)


def _begun(address: ServerAddress, facts: ServerFacts, file: str, server_id: int) -> int:
    stream = open_stream(address, facts, BinlogPosition(file), server_id)
    try:
        while True:
            for start, end in stream.packets.more():
                if stream.packets.buffer[start]:
                    stream.packets.raise_error(start, end, "reading the binlog")
                seconds, type = struct.unpack_from("<IB", stream.packets.buffer, start + 1)
                if type == events.FORMAT and seconds:
                    return int(seconds)
    finally:
        stream.close()
