"""Rules about METADATA columns."""

from __future__ import annotations

from rowkind.castable import castable
from rowkind.connectors.kafka.metadata import read_columns, readable, writable, written_columns
from rowkind.connectors.kafka.option_usage import Usage
from rowkind.errors import nearest


def read_keys_exist(usage: Usage) -> None:
    known = readable(usage)
    for column in read_columns(usage):
        if column.key not in known:
            raise usage.error(
                "UNKNOWN_METADATA",
                column=column.name,
                key=column.key,
                known=", ".join(known),
                suggestion=nearest(column.key, known),
            )


def written_keys_are_writable(usage: Usage) -> None:
    known = writable(usage)
    for column in written_columns(usage):
        if column.key not in known:
            raise usage.error("METADATA_NOT_WRITABLE", column=column.name, key=column.key, known=", ".join(known))


def read_types_fit(usage: Usage) -> None:
    known = readable(usage)
    for column in read_columns(usage):
        if not castable(known[column.key], column.type):
            raise usage.error(
                "METADATA_TYPE", column=column.name, key=column.key, type=column.type, message=known[column.key]
            )


def written_types_fit(usage: Usage) -> None:
    known = writable(usage)
    for column in written_columns(usage):
        if not castable(column.type, known[column.key]):
            raise usage.error(
                "METADATA_TYPE", column=column.name, key=column.key, type=column.type, message=known[column.key]
            )


def headers_are_written_once(usage: Usage) -> None:
    keys = {c.key for c in written_columns(usage)}
    if {"headers", "header-list"} <= keys:
        raise usage.error("HEADERS_WRITTEN_TWICE")
