"""Time zones that come as data: Java is asked whether there is such a zone, because Spark ends the job otherwise."""

from __future__ import annotations

from zoneinfo import available_timezones

from rowkind.plan.expressions.typed import Typed, once


def is_zone(zone: Typed) -> str:
    """Whether `java.time` knows the zone."""
    if _well_known(zone):
        return "TRUE"
    return f"try_reflect('java.time.ZoneId', 'of', {zone.sql}) IS NOT NULL"


def zone_or_utc(zone: Typed) -> str:
    """The zone as `java.util.TimeZone` reads it: GMT where it knows none. Its text names the zone that it took."""
    if _well_known(zone):
        return zone.sql
    found = f"try_reflect('java.util.TimeZone', 'getTimeZone', {zone.sql})"
    return f'regexp_extract({found}, \'id="([^"]*)"\', 1)'


def _well_known(zone: Typed) -> bool:
    return isinstance(zone.constant, str) and zone.constant in available_timezones()


def later_of_two(local: str) -> str:
    """The instant at which clocks of the session's zone show this. Of two, Java's calendar takes the later one."""

    def chosen(local: str) -> str:
        instant = f"CAST({local} AS TIMESTAMP)"
        later = f"({instant} + INTERVAL '1' HOUR)"
        return f"IF(CAST({later} AS TIMESTAMP_NTZ) = {local}, {later}, {instant})"

    return once(local, chosen)
