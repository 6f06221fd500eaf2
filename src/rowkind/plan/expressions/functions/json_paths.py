"""JSON paths on Spark's VARIANT, with the meaning that Flink's JSONPath (Jayway) gives them.

A path of members and positions is definite: it gives a value, or it is missing. From the first wildcard, slice or list
of positions on it gives an array of all that fits, which may be empty. Without a mode a path is strict.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rowkind.plan.expressions.typed import text

_MODE = re.compile(r"\s*(?:(strict|lax)\s+)?(\$.*)", re.IGNORECASE | re.DOTALL)
_STEP = re.compile(
    r"""\.(?P<name>[A-Za-z_][\w$-]*+)(?!\s*\()
    | \[\s*(?P<quote>['"])(?P<quoted>[^'"]*)(?P=quote)\s*\]
    | (?P<any>\.\*|\[\s*\*\s*\])
    | \[\s*(?P<index>-?\d+)\s*\]
    | \[\s*(?P<low>-?\d*)\s*:\s*(?P<high>-?\d*)\s*\]
    | \[\s*(?P<list>-?\d+(?:\s*,\s*-?\d+)+)\s*\]""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a path: a member by name, or positions of an array."""

    name: str | None = None
    indexes: tuple[int, ...] = ()
    span: tuple[int | None, int | None] | None = None
    """From the first position to before the second."""

    @property
    def definite(self) -> bool:
        return self.name is not None or len(self.indexes) == 1

    @property
    def needs_array(self) -> bool:
        return self.span is not None or bool(self.indexes)


@dataclass(frozen=True, slots=True)
class JsonPath:
    """A path that was read from a literal."""

    strict: bool
    steps: tuple[Step, ...]

    @property
    def definite(self) -> bool:
        return all(step.definite for step in self.steps)

    def start(self, document: str) -> str:
        """The value before the first step that is not definite, a VARIANT; NULL where it is missing."""
        found = document
        for step in self._prefix():
            found = _member(found, step)
        return found

    def missing(self, document: str) -> str:
        """Whether the path leads nowhere, which a strict path takes for an error."""
        start = self.start(document)
        rest = self.steps[len(self._prefix()) :]
        if rest and rest[0].needs_array:
            return f"coalesce({kind(start)} NOT LIKE 'ARRAY%', TRUE)"
        return f"{start} IS NULL"

    def found(self, document: str) -> str:
        """All that fits, an ARRAY<VARIANT>."""
        rest = self.steps[len(self._prefix()) :]
        values = f"array({self.start(document)})"
        for number, step in enumerate(rest):
            values = _each(values, step, f"__j{number}")
        return values

    def _prefix(self) -> tuple[Step, ...]:
        first = next((i for i, step in enumerate(self.steps) if not step.definite), len(self.steps))
        return self.steps[:first]


def read(path: str) -> JsonPath | str:
    """A path, or what is wrong with it.

    >>> read("lax $.a[*]")
    JsonPath(strict=False, steps=(Step(name='a', indexes=(), span=None), Step(name=None, indexes=(), span=None)))
    """
    match = _MODE.fullmatch(path)
    if match is None:
        return f"is not a JSON path: {path!r}"
    mode, rest = match[1] or "strict", match[2].strip()
    steps: list[Step] = []
    position = 1
    while position < len(rest):
        step = _STEP.match(rest, position)
        if step is None:
            return _unknown(rest[position:])
        steps.append(_step(step))
        position = step.end()
    return JsonPath(mode.lower() == "strict", tuple(steps))


def _unknown(rest: str) -> str:
    if rest.startswith(".."):
        return "may not search at every depth (..): name the members on the way"
    if rest.startswith("[?"):
        return "may not have a filter ([?(…)]): UNNEST the array and filter its rows"
    return f"may only have members, positions, slices and wildcards, such as $.a[0]['b c'][*], but not {rest}"


def _step(match: re.Match[str]) -> Step:
    if match["name"] or match["quote"]:
        return Step(name=match["name"] or match["quoted"])
    if match["index"]:
        return Step(indexes=(int(match["index"]),))
    if match["list"]:
        return Step(indexes=tuple(int(part) for part in match["list"].split(",")))
    if match["any"]:
        return Step()
    return Step(span=(_number(match["low"]), _number(match["high"])))


def _number(digits: str) -> int | None:
    return int(digits) if digits else None


def kind(value: str) -> str:
    return f"schema_of_variant({value})"


def _array(value: str) -> str:
    return f"try_variant_get({value}, '$', 'array<variant>')"


def _member(value: str, step: Step) -> str:
    if step.name is not None:
        return f"try_variant_get({value}, {text(_named(step.name))}, 'variant')"
    (index,) = step.indexes
    if index >= 0:
        return f"try_variant_get({value}, '$[{index}]', 'variant')"
    return f"try_element_at({_array(value)}, {index})"


def _named(name: str) -> str:
    return f"$['{name}']" if "'" not in name else f'$["{name}"]'


def _each(values: str, step: Step, name: str) -> str:
    """The step from every value, in one array."""
    if step.definite:
        return f"filter(transform({values}, {name} -> {_member(name, step)}), {name} -> {name} IS NOT NULL)"
    return f"flatten(transform({values}, {name} -> {_several(name, step)}))"


def _several(value: str, step: Step) -> str:
    items = _array(value)
    if step.indexes:
        members = ", ".join(_member(value, Step(indexes=(index,))) for index in step.indexes)
        return f"filter(array({members}), __m -> __m IS NOT NULL)"
    if step.span is not None:
        return f"coalesce({_sliced(items, *step.span)}, array())"
    members = f"map_values(try_variant_get({value}, '$', 'map<string,variant>'))"
    return f"coalesce(CASE WHEN {kind(value)} LIKE 'ARRAY%' THEN {items} ELSE {members} END, array())"


def _sliced(items: str, low: int | None, high: int | None) -> str:
    size = f"size({items})"
    first = f"{low or 0}" if (low or 0) >= 0 else f"greatest({size} {low}, 0)"
    last = size if high is None else (f"least({high}, {size})" if high >= 0 else f"{size} {high}")
    return f"slice({items}, {first} + 1, greatest({last} - {first}, 0))"
