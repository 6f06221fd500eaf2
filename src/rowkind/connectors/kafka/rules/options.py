"""Rules about option keys and values as such."""

from __future__ import annotations

from typing import Any

from rowkind.connectors.kafka.connector_options import CONNECTORS
from rowkind.connectors.kafka.option_usage import Usage
from rowkind.connectors.kafka.source_options import STARTUP_MODE
from rowkind.connectors.kafka.startup import starts_at_group
from rowkind.errors import nearest
from rowkind.options.declarations import Option


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
    for other in CONNECTORS.values():
        if any(key == o.name for o in other.options):
            return f"; it is an option of '{other.name}' only"
    for use in usage.formats:
        bare = key.rpartition(f"{use.format.name}.")[2]
        if key != bare and any(bare == o.name for o in use.format.options):
            return f"; did you mean '{use.prefix}{bare}'?"
    return nearest(key, names)


def required_are_given(usage: Usage) -> None:
    missing = [o.name for o in usage.connector.required if not usage.given.has(o)]
    if missing:
        raise usage.error("MISSING_OPTION", options=", ".join(f"'{m}'" for m in missing))


def values_are_valid(usage: Usage) -> None:
    """Every value is read once, also those that this statement does not use."""
    for option in usage.options:
        usage.given.get(option)


def values_are_supported(usage: Usage) -> None:
    """Last of all: what is declared for later is refused, never ignored."""
    formats = tuple(o for f in usage.formats for o in f.options)
    for option in usage.connector.options_for(usage.side) + formats:
        if _is_later(usage, option):
            key = usage.given.key(option) or option.name
            value = usage.given.get(option)
            raise usage.error("NOT_YET_SUPPORTED", option=key, value=value, about=option.description)


def _is_later(usage: Usage, option: Option[Any]) -> bool:
    if option is STARTUP_MODE:
        return starts_at_group(usage) and STARTUP_MODE.default in STARTUP_MODE.later
    if not usage.given.has(option):
        return False
    value = usage.given.get(option)
    return value in option.later or (not option.supported and value != option.default)
