"""Rules of every table, whatever its connector: about options, settings that any table has, and METADATA columns."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from rowkind.castable import castable
from rowkind.connectors.metadata import read_columns, written_columns
from rowkind.connectors.reading_options import (
    ALIGNMENT_GROUP,
    ALIGNMENT_MAX_DRIFT,
    ALIGNMENT_UPDATE_INTERVAL,
    SCAN_PARALLELISM,
)
from rowkind.connectors.registry import BUILT_IN, connector_named
from rowkind.connectors.settings import Side
from rowkind.connectors.usage import Usage
from rowkind.connectors.writing_options import BUFFER_INTERVAL, BUFFER_MAX_ROWS, SINK_PARALLELISM
from rowkind.errors import nearest
from rowkind.options.declarations import Option

Rule = Callable[[Usage], None]


def keys_are_known(usage: Usage) -> None:
    options = usage.options
    names = {n for o in options for n in (o.name, *o.fallbacks)}
    prefixes = tuple(o.prefix for o in options if o.prefix)
    unknown = [k for k in usage.given if k not in names and not k.startswith(prefixes)]
    if unknown:
        raise usage.error(
            "UNKNOWN_OPTION",
            options=", ".join(f"'{usage.given.written[k]}'" for k in sorted(unknown)),
            suggestion=_suggestion(usage, unknown[0], names),
            known=", ".join(sorted(o.name for o in options)),
        )


def _suggestion(usage: Usage, key: str, names: set[str]) -> str:
    for other in BUILT_IN:
        if any(key == o.name for o in connector_named(other, usage.definition.name).options.all):
            return f"; it is an option of '{other}' only"
    return usage.suggestion(key) or nearest(key, names)


def required_are_given(usage: Usage) -> None:
    missing = [o.name for o in usage.used_options if o.required == "yes" and not usage.given.has(o)]
    if missing:
        raise usage.error("MISSING_OPTION", options=", ".join(f"'{m}'" for m in missing))


def values_are_valid(usage: Usage) -> None:
    """Every value is read once, also those that this statement does not use."""
    for option in usage.options:
        usage.given.get(option)


def values_are_supported(usage: Usage) -> None:
    """Last of all: what is declared for later is refused, never ignored."""
    for option in usage.used_options:
        if _is_later(usage, option):
            key = usage.given.key(option) or option.name
            value = usage.given.get(option)
            raise usage.error("NOT_YET_SUPPORTED", option=key, value=value, about=option.description)


def _is_later(usage: Usage, option: Option[Any]) -> bool:
    if not usage.given.has(option):
        return False
    value = usage.given.get(option)
    return value in option.later or (not option.supported and value != option.default)


def alignment_is_complete(usage: Usage) -> None:
    family: tuple[Option[Any], ...] = (ALIGNMENT_GROUP, ALIGNMENT_MAX_DRIFT, ALIGNMENT_UPDATE_INTERVAL)
    any_given = any(usage.given.has(o) for o in family)
    if any_given and not (usage.given.has(ALIGNMENT_GROUP) and usage.given.has(ALIGNMENT_MAX_DRIFT)):
        raise usage.error("ALIGNMENT_INCOMPLETE")


def scan_parallelism_is_positive(usage: Usage) -> None:
    parallelism = usage.given.get(SCAN_PARALLELISM)
    if parallelism is not None and parallelism <= 0:
        raise usage.error("INVALID_PARALLELISM", option=SCAN_PARALLELISM.name, value=parallelism)


def buffering_is_complete(usage: Usage) -> None:
    if BUFFER_MAX_ROWS not in usage.options:
        return
    rows, interval = usage.given[BUFFER_MAX_ROWS] > 0, usage.given[BUFFER_INTERVAL] > timedelta(0)
    if rows != interval:
        raise usage.error("BUFFER_OPTIONS_INCOMPLETE")


def sink_parallelism_is_positive(usage: Usage) -> None:
    parallelism = usage.given.get(SINK_PARALLELISM)
    if parallelism is not None and parallelism <= 0:
        raise usage.error("INVALID_PARALLELISM", option=SINK_PARALLELISM.name, value=parallelism)


def read_keys_exist(usage: Usage) -> None:
    known = usage.readable
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
    known = usage.writable
    for column in written_columns(usage):
        if column.key not in known:
            raise usage.error("METADATA_NOT_WRITABLE", column=column.name, key=column.key, known=", ".join(known))


def read_types_fit(usage: Usage) -> None:
    known = usage.readable
    for column in read_columns(usage):
        if not castable(known[column.key], column.type):
            raise usage.error(
                "METADATA_TYPE", column=column.name, key=column.key, type=column.type, message=known[column.key]
            )


def written_types_fit(usage: Usage) -> None:
    known = usage.writable
    for column in written_columns(usage):
        if not castable(column.type, known[column.key]):
            raise usage.error(
                "METADATA_TYPE", column=column.name, key=column.key, type=column.type, message=known[column.key]
            )


OPTIONS: tuple[Rule, ...] = (keys_are_known, required_are_given, values_are_valid)

SETTINGS: dict[Side, tuple[Rule, ...]] = {
    Side.SOURCE: (alignment_is_complete, scan_parallelism_is_positive),
    Side.SINK: (buffering_is_complete, sink_parallelism_is_positive),
}

METADATA: dict[Side, tuple[Rule, ...]] = {
    Side.SOURCE: (read_keys_exist, read_types_fit),
    Side.SINK: (written_keys_are_writable, written_types_fit),
}
