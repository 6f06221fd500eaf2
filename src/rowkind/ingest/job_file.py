"""The job file by its keys: sections and their settings, each with its place. What they mean is not known here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from rowkind.errors import RowkindError, nearest
from rowkind.ingest.place import Place
from rowkind.ingest.variables import Text, Variables
from rowkind.ingest.yaml_nodes import Entries, Items, Node, Scalar, parse_yaml

TOP = ("source", "sink", "route", "transform", "pipeline")
INCLUDE, EXCLUDE = "include.schema.changes", "exclude.schema.changes"
STRUCTURED = ("user-defined-function", "model", "dirty-data.collector")
"""Settings of `pipeline` that are not texts. All of them are refused, so that what is below them does not matter."""

_DASH = "Put a dash before each item: '- source-table: …'."
_FLAT = "Options are flat: write 'a.b.c: value' on one line."
_COLON = "Write 'key: value' with a blank after the colon."
_SETTINGS = "Settings of Flink or Spark do not belong here; the command's --master chooses where Spark runs."


@dataclass(frozen=True, slots=True)
class Setting:
    """A key as it was written, its place, and its text."""

    key: str
    place: Place = field(compare=False, repr=False)
    text: Text


@dataclass(frozen=True, slots=True)
class Section:
    """A map of texts, such as the source or one route. `name` is what messages call it."""

    name: str
    place: Place = field(compare=False, repr=False)
    settings: tuple[Setting, ...] = ()

    def __iter__(self) -> Iterator[Setting]:
        return iter(self.settings)

    def find(self, key: str) -> Setting | None:
        return next((s for s in self.settings if s.key.lower() == key), None)


@dataclass(frozen=True, slots=True)
class JobFile:
    """A job file whose structure is right."""

    file: str
    source: Section
    sink: Section
    routes: tuple[Section, ...]
    transforms: tuple[Section, ...]
    pipeline: Section
    schema_changes: Mapping[str, tuple[Text, ...]]
    """The lists of the sink, by their key, where they are given."""

    def sections(self) -> Iterator[Section]:
        yield from (self.source, self.sink, *self.routes, *self.transforms, self.pipeline)


def parse_job_file(text: str, file: str, variables: Variables | None = None) -> JobFile:
    """The sections of a job file, with its variables filled in."""
    root = parse_yaml(text, file)
    return _Reader(file, variables or Variables()).job(root)


class _Reader:
    """One pass over the nodes of a file."""

    def __init__(self, file: str, variables: Variables) -> None:
        self.file = file
        self.variables = variables

    def job(self, root: Node) -> JobFile:
        top = {key.value: (key, value) for key, value in self._map(root, "the job file", Place(self.file))}
        for key, _ in top.values():
            if key.value not in TOP:
                raise _unknown(key, "the job file", TOP, _SETTINGS)
        for needed in ("source", "sink"):
            if needed not in top:
                raise Place(self.file).error("INGEST_MISSING_KEY", where="the job file", key=needed)
        sink_key, sink_node = top["sink"]
        lists, sink = self._without_lists(sink_node, sink_key)
        return JobFile(
            self.file,
            self._section("source", *top["source"]),
            self._section("sink", sink_key, sink),
            self._sections("route", top),
            self._sections("transform", top),
            self._section("pipeline", *top["pipeline"]) if "pipeline" in top else Section("pipeline", Place(self.file)),
            lists,
        )

    def _map(self, node: Node, what: str, place: Place) -> tuple[tuple[Scalar, Node], ...]:
        if isinstance(node, Entries):
            return node.entries
        if isinstance(node, Scalar) and node.empty:
            return ()
        found = "a list" if isinstance(node, Items) else "a text"
        advice = "Remove the dash." if isinstance(node, Items) else _COLON
        raise place.error("INGEST_SHAPE", key=what, wanted="a map of keys and values", found=found, advice=advice)

    def _sections(self, name: str, top: Mapping[str, tuple[Scalar, Node]]) -> tuple[Section, ...]:
        """A list of maps."""
        if name not in top:
            return ()
        key, node = top[name]
        if isinstance(node, Scalar) and node.empty:
            return ()
        if not isinstance(node, Items):
            found = "a map" if isinstance(node, Entries) else "a text"
            raise key.place.error("INGEST_SHAPE", key=f"'{name}'", wanted="a list", found=found, advice=_DASH)
        names = (f"{name} {number}" for number, _ in enumerate(node.items, 1))
        pairs = zip(names, node.items, strict=True)
        return tuple(self._section(title, Scalar(title, item.place), item) for title, item in pairs)

    def _section(self, name: str, key: Scalar, node: Node) -> Section:
        settings = tuple(self._setting(name, *entry) for entry in self._map(node, f"'{name}'", key.place))
        return Section(name, key.place, settings)

    def _setting(self, section: str, key: Scalar, node: Node) -> Setting:
        if section == "pipeline" and key.value in STRUCTURED:
            return Setting(key.value, key.place, Text("", node.place))
        if not isinstance(node, Scalar):
            found = "a list" if isinstance(node, Items) else "a map"
            advice = "Write the items in one text, separated by commas." if isinstance(node, Items) else _FLAT
            raise key.place.error("INGEST_SHAPE", key=f"'{key.value}'", wanted="a text", found=found, advice=advice)
        if node.empty:
            advice = "Give it a value, '' for an empty text, or remove the line."
            raise key.place.error("INGEST_SHAPE", key=f"'{key.value}'", wanted="a text", found="nothing", advice=advice)
        return Setting(key.value, key.place, self.variables.filled(node))

    def _without_lists(self, node: Node, key: Scalar) -> tuple[dict[str, tuple[Text, ...]], Node]:
        """The sink's two lists of schema changes, and the rest of the sink."""
        lists: dict[str, tuple[Text, ...]] = {}
        rest = []
        for name, value in self._map(node, "'sink'", key.place):
            if (tagged := name.value.lower()) in (INCLUDE, EXCLUDE):
                if tagged in lists:
                    raise name.place.error("INGEST_OPTION_TWICE", first=tagged, second=name.value)
                lists[tagged] = self._texts(name, value)
            else:
                rest.append((name, value))
        return lists, Entries(tuple(rest), node.place)

    def _texts(self, key: Scalar, node: Node) -> tuple[Text, ...]:
        if not isinstance(node, Items) or not all(isinstance(item, Scalar) for item in node.items):
            found = "nothing" if isinstance(node, Scalar) and node.empty else "something else"
            advice = "Write [add.column, drop.column], or [] for none."
            wanted = "a list of texts"
            raise key.place.error("INGEST_SHAPE", key=f"'{key.value}'", wanted=wanted, found=found, advice=advice)
        return tuple(self.variables.filled(item) for item in node.items if isinstance(item, Scalar))


def _unknown(key: Scalar, where: str, known: tuple[str, ...], note: str) -> RowkindError:
    suggestion = nearest(key.value, known)
    allowed = ", ".join(known)
    return key.place.error(
        "INGEST_UNKNOWN_KEY", where=where, key=key.value, suggestion=suggestion, allowed=allowed, note=note
    )
