"""YAML as maps, lists and texts that know their place; nothing is guessed about types, nothing is constructed.

What a value says is never part of an error: it may be a password.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import yaml

from rowkind.ingest.place import Place

_CORE = "tag:yaml.org,2002:"
_STAR = "A value that starts with * is an alias in YAML: write \\* or put it in quotes."
_BLANK = "Write 'key: value' with a blank after the colon, and indent with blanks, not with tabs."
_QUOTED = re.compile(r"'(?!<)[^']{2,}'")


@dataclass(frozen=True, slots=True)
class Scalar:
    """A text as it is written. `empty` tells `key:` from `key: ''`."""

    value: str = field(repr=False)
    place: Place
    empty: bool = False


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    items: tuple[Node, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Entries:
    """A map in the order of the file; no key twice."""

    entries: tuple[tuple[Scalar, Node], ...]
    place: Place


Node = Scalar | Items | Entries


class _Loader(yaml.SafeLoader):
    """Refuses aliases, which could also nest without end."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError("while composing an alias", mark, "aliases are not supported", mark)
        return super().compose_node(parent, index)


def parse_yaml(text: str, file: str) -> Node:
    """The one document of a file."""
    try:
        node = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Place(file, mark.line + 1, mark.column + 1) if mark else Place(file)
        context = error.context or ""
        hint = _STAR if "alias" in context else _BLANK
        reason = _QUOTED.sub("…", f"{error.problem or context}")
        raise place.error("INGEST_YAML", reason=reason, advice=hint) from None
    except (yaml.YAMLError, ValueError, OverflowError):  # The latter two: "\UFFFFFFFF" names no character.
        raise Place(file).error(
            "INGEST_YAML", reason="it holds a character that YAML does not allow", advice=""
        ) from None
    except RecursionError:
        raise Place(file).error("INGEST_YAML", reason="it is nested too deeply", advice="") from None
    return Scalar("", Place(file), empty=True) if node is None else _node(node, file)


def _node(node: yaml.Node, file: str) -> Node:
    place = Place(file, node.start_mark.line + 1, node.start_mark.column + 1)
    if not node.tag.startswith(_CORE) or node.tag.removeprefix(_CORE).startswith("python"):
        advice = "Remove the tag; every value is taken as text."
        raise place.error("INGEST_YAML", reason="a tag (!) is not supported", advice=advice)
    if isinstance(node, yaml.MappingNode):
        return _entries(node, place)
    if isinstance(node, yaml.SequenceNode):
        return Items(tuple(_node(item, file) for item in node.value), place)
    assert isinstance(node, yaml.ScalarNode)
    return Scalar(str(node.value), _start(node, place), empty=node.value == "" and node.style is None)


def _start(node: yaml.ScalarNode, place: Place) -> Place:
    """Where the text itself starts: inside its quotes, or on the line below `|` and `>`."""
    if node.style in ("|", ">"):
        return Place(place.file, place.line + 1)
    return Place(place.file, place.line, place.column + 1) if node.style else place


def _entries(node: yaml.MappingNode, place: Place) -> Entries:
    found: dict[str, tuple[Scalar, Node]] = {}
    for key_node, value_node in node.value:
        key = _node(key_node, place.file)
        if not isinstance(key, Scalar):
            raise key.place.error("INGEST_YAML", reason="a key must be a text", advice=_BLANK)
        if key.value in found:
            first = found[key.value][0].place.line
            raise key.place.error("INGEST_KEY_TWICE", key=key.value, first=first)
        found[key.value] = (key, _node(value_node, place.file))
    return Entries(tuple(found.values()), place)
