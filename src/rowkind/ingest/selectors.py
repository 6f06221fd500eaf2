"""The two pattern languages of a job file. Both write the separator of database and table as a bare dot, and the dot
of regular expressions as `\\.`; both take a list separated by commas, in which `\\,` is a comma of a pattern.

| | selectors | route patterns |
|---|---|---|
| match | database and table, each a full match | full match of `database.table` |
| case | any | as written |
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rowkind.options.java_regex import python_pattern

ANY = r"\.*"
_CLASS = re.compile(r"\[[^\]]*\|[^\]]*\]")


@dataclass(frozen=True, slots=True)
class Selector:
    """One pattern of a list: of a database, and of its tables."""

    database: re.Pattern[str]
    table: re.Pattern[str]

    def matches(self, database: str, table: str) -> bool:
        return bool(self.database.fullmatch(database) and self.table.fullmatch(table))


@dataclass(frozen=True, slots=True)
class Selectors:
    """A list of selectors, as `tables` has it.

    >>> selectors(r"shop.orders_\\.*").matches("Shop", "orders_2024")
    True
    """

    text: str
    items: tuple[Selector, ...]

    def matches(self, database: str, table: str) -> bool:
        return any(item.matches(database, table) for item in self.items)


@dataclass(frozen=True, slots=True)
class RoutePattern:
    """A pattern of whole ids, as a route has it; groups count over the whole list.

    >>> route_pattern(r"shop.orders_(\\.*)").match("shop", "orders_2024")[1]
    '2024'
    """

    text: str
    pattern: re.Pattern[str]

    def match(self, database: str, table: str) -> re.Match[str] | None:
        return self.pattern.fullmatch(f"{database}.{table}")

    def matches(self, database: str, table: str) -> bool:
        return self.match(database, table) is not None


TablePattern = Selectors | RoutePattern


def selectors(text: str) -> Selectors:
    """Selectors from their text; ValueError says what is wrong and what to write instead."""
    return Selectors(text, tuple(_selector(item) for item in _listed(text)))


def selector(text: str) -> Selector:
    """A single selector."""
    items = _listed(text)
    if len(items) != 1:
        raise ValueError("one pattern is wanted here, not a list")
    return _selector(items[0])


def route_pattern(text: str) -> RoutePattern:
    """A route's pattern from its text; ValueError says what is wrong and what to write instead."""
    items = _listed(text)
    for item in items:
        _check_route(item)
    swapped = "|".join(r"\.".join(parts(item)) for item in items)
    compiled = _compiled(swapped, text)
    if compiled.fullmatch(""):
        raise ValueError(rf"it also matches an empty text; write '{ANY}.{ANY}' for every table of every database")
    return RoutePattern(text, compiled)


def doubtful(text: str) -> Iterator[str]:
    """Notes about patterns that are valid and rarely meant so."""
    for found in _CLASS.findall(text):
        yield f"'{found}' matches one character; an alternative is written '({found[1:-1]})'"


def listed(text: str) -> list[str]:
    """The items of a list: separated by commas, blanks around them cut off, empty ones left out."""
    items, current, rest = [], "", iter(text)
    for letter in rest:
        if letter == "\\":
            following = next(rest, None)
            if following is None:
                raise ValueError("it ends in a lone backslash")
            current += "," if following == "," else letter + following
        elif letter == ",":
            items.append(current)
            current = ""
        else:
            current += letter
    return [item.strip() for item in (*items, current) if item.strip()]


def parts(item: str) -> list[str]:
    """A pattern cut at its bare dots, `\\.` turned into the dot of regular expressions.

    >>> parts(r"db_\\.*.orders")
    ['db_.*', 'orders']
    """
    found, rest = [""], iter(item)
    for letter in rest:
        if letter == "\\":
            following = next(rest, "")
            found[-1] += "." if following == "." else letter + following
        elif letter == ".":
            found.append("")
        else:
            found[-1] += letter
    return found


def _listed(text: str) -> list[str]:
    items = listed(text)
    if not items:
        raise ValueError("it names no table")
    for item in items[:-1]:
        if re.search(r"\{\d*$", item):
            raise ValueError(rf"a comma separates patterns, and '{item}' ends at one; inside of a pattern write '\,'")
    return items


def _selector(item: str) -> Selector:
    found = parts(item)
    if len(found) == 1:
        _refuse_star(found, item)
        raise ValueError(f"'{item}' names no database; write 'database.{item}', or '{ANY}.{item}' for every database")
    if len(found) == 3:
        raise ValueError(f"'{item}' has three parts, and a table of MySQL has two: 'database.table'")
    if len(found) > 3:
        raise ValueError(rf"'{item}' has {len(found)} parts; the dot of a regular expression is written '\.'")
    _refuse_empty(found, item)
    _refuse_star(found, item)
    database, table = (_compiled(part, item, re.IGNORECASE) for part in found)
    return Selector(database, table)


def _check_route(item: str) -> None:
    found = parts(item)
    _refuse_empty(found, item)
    _refuse_star(found, item)
    if len(found) == 1 and not re.search(r"[.\[\\]", item):
        raise ValueError(f"'{item}' names no database; write 'database.{item}', or '{ANY}.{item}' for every database")


def _refuse_empty(found: list[str], item: str) -> None:
    if "" in found:
        raise ValueError(rf"'{item}' has an empty part, which matches no table; the form is 'database.table'")


def _refuse_star(found: list[str], item: str) -> None:
    if "*" in found:
        right = ".".join(ANY if part == "*" else part.replace(".", r"\.") for part in found)
        form = right if len(found) > 1 else f"{ANY}.{ANY}"
        raise ValueError(f"'*' alone is not a regular expression in '{item}'; write '{form}'")


def _compiled(java: str, item: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    try:
        return re.compile(python_pattern(java).pattern, re.ASCII | flags)
    except ValueError as error:
        raise ValueError(f"'{item}' is not a regular expression: {error}") from None
