"""Routes: which id, and so which topic, a table goes to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from rowkind.errors import RowkindError
from rowkind.ingest.given import Given
from rowkind.ingest.modes import RouteMode
from rowkind.ingest.pipeline_options import DESCRIPTION, REPLACE_SYMBOL, ROUTE_SINK, ROUTE_SOURCE
from rowkind.ingest.place import Place
from rowkind.ingest.selectors import RoutePattern
from rowkind.ingest.tables import TableId

_REFERENCE = re.compile(r"\\(?P<literal>.?)|\$(?:(?P<number>\d+)|\{(?P<name>[A-Za-z][A-Za-z0-9]*)\})?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Route:
    """One rule. `symbol` stands for the table's name in `target`; without it `target` may refer to groups."""

    source: RoutePattern
    target: str
    symbol: str | None = None
    description: str | None = None
    place: Place = field(default=Place("job"), compare=False, repr=False)

    @property
    def constant(self) -> bool:
        """Whether every table that matches goes to the same id."""
        return self.symbol not in self.target if self.symbol else not re.search(r"\$", self.target)

    def of(self, database: str, table: str) -> TableId | None:
        """Where the table goes; None when the route is not for it."""
        match = self.source.match(database, table)
        if match is None:
            return None
        text = self.target.replace(self.symbol, table) if self.symbol else expanded(self.target, match)
        try:
            return TableId.of(text)
        except ValueError as error:
            source = f"{database}.{table}"
            raise self.place.error("INGEST_ROUTE_TARGET", table=source, target=text, reason=str(error)) from None


def route(given: Given) -> tuple[Route, list[str]]:
    """A route from its settings, and notes about it."""
    pattern, target, symbol = given[ROUTE_SOURCE], given[ROUTE_SINK], given.get(REPLACE_SYMBOL)
    place = given.place_of(ROUTE_SINK)
    found = Route(pattern, target, symbol, given.get(DESCRIPTION), place)
    notes = []
    if symbol is None:
        _check_references(found)
    elif symbol not in target:
        notes.append(
            f"{given.place_of(REPLACE_SYMBOL)}: 'replace-symbol' has no effect: 'sink-table' does not hold it."
        )
    if found.constant:
        _check_constant(found)
    return found, notes


def routed(routes: Sequence[Route], mode: RouteMode, database: str, table: str) -> tuple[TableId, ...]:
    """Where a table goes: each id once, in the order of the rules; its own id when no rule is for it."""
    found: dict[TableId, None] = {}
    for rule in routes:
        if (target := rule.of(database, table)) is not None:
            found[target] = None
            if mode is RouteMode.FIRST_MATCH:
                break
    return tuple(found) or (TableId(table, database),)


def expanded(template: str, match: re.Match[str]) -> str:
    """A replacement as Java writes it: `$1`, `${name}`, and a backslash before what is meant literally."""
    groups = match.re.groups

    def value(found: re.Match[str]) -> str:
        if found["literal"] is not None:
            return found["literal"]
        if found["name"]:
            return match[found["name"]] or ""
        number, rest = _group(found["number"], groups)
        return (match[number] or "") + rest

    return _REFERENCE.sub(value, template)


def _group(digits: str, groups: int) -> tuple[int, str]:
    """The longest number of digits that is a group, and the digits behind it, which are text."""
    length = 1
    while length < len(digits) and int(digits[: length + 1]) <= groups:
        length += 1
    return int(digits[:length]), digits[length:]


def _check_references(rule: Route) -> None:
    pattern = rule.source.pattern
    for found in _REFERENCE.finditer(rule.target):
        reason = None
        if found["literal"] is not None:
            reason = None if found["literal"] else "it ends in a lone backslash"
        elif found["name"]:
            reason = None if found["name"] in pattern.groupindex else f"there is no group '{found['name']}'"
        elif found["number"] is None:
            reason = r"'$' refers to a group, such as $1; a dollar sign is written '\$'"
        elif _group(found["number"], pattern.groups)[0] > pattern.groups:
            reason = f"'source-table' has {pattern.groups} groups, and there is no ${found['number']}"
        if reason:
            raise _invalid(rule, rule.source.text, rule.target, reason)


def _check_constant(rule: Route) -> None:
    text = rule.target if rule.symbol else re.sub(r"\\(.)", r"\1", rule.target)
    try:
        TableId.of(text)
    except ValueError as error:
        raise _invalid(rule, rule.source.text, text, str(error)) from None


def _invalid(rule: Route, table: str, target: str, reason: str) -> RowkindError:
    return rule.place.error("INGEST_ROUTE_TARGET", table=table, target=target, reason=reason)
