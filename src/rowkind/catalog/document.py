"""Writes the pages of options from their declarations: `python -m rowkind.catalog.document`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from rowkind.connectors.connector import Connector
from rowkind.connectors.registry import BUILT_IN, connector_named
from rowkind.connectors.settings import Side
from rowkind.connectors.usage import COMMON
from rowkind.formats.registry import format_named, names
from rowkind.options.declarations import Option
from rowkind.options.session_options import SESSION, WITHOUT_EFFECT
from rowkind.types import DataType

_INTRODUCTION = """\
# Options

This page is generated from the declarations in the code: `python -m rowkind.catalog.document` writes it.

Keys of table options are accepted in any case, known client properties included, with a warning when it is not the one
below; values are exact.
Lists are separated by `;`. A duration is a number and a unit (`100 ms`, `1s`, `5 min`); a bare number is milliseconds.
An option or value marked *not yet* is refused, never ignored. [Options of the formats](options-formats.md) have their
own page.
"""

_FORMATS = """\
# Options of the formats

This page is generated from the declarations in the code: `python -m rowkind.catalog.document` writes it.

A format's option is written behind the format's name: `json.ignore-parse-errors` with `format`,
`value.json.ignore-parse-errors` with `value.format`, `key.json.ignore-parse-errors` with `key.format`.
"""

_METADATA = """\
### Metadata columns

What a column `name TYPE METADATA [FROM 'key'] [VIRTUAL]` can name; any type with a cast may be declared.
"""

_WITHOUT_EFFECT = """\
### Accepted without effect

Keys that scripts bring along from Flink. They are accepted with a one-line notice; `*` stands for any rest.
"""


def options_page() -> str:
    """Options of tables and of the session."""
    return "\n".join(
        [
            _INTRODUCTION,
            *(_connector(connector_named(name, "")) for name in BUILT_IN),
            "## Session options\n",
            options_table(SESSION),
            _WITHOUT_EFFECT,
            markdown_table(("Option", "Why"), ((f"`{o.name}`", o.description) for o in WITHOUT_EFFECT)),
        ]
    )


def formats_page() -> str:
    """Options of every format that is registered."""
    return "\n".join([_FORMATS, *(_format(name) for name in names())])


PAGES: Mapping[Path, Callable[[], str]] = {
    Path("docs/options.md"): options_page,
    Path("docs/options-formats.md"): formats_page,
}


def _connector(connector: Connector[Any]) -> str:
    options, sides = connector.options, connector.sides
    parts = [f"## `{connector.name}`\n", *([connector.about + "\n"] if connector.about else [])]
    parts += ["### The table\n", options_table(COMMON + options.table)]
    if Side.SOURCE in sides and options.reading:
        parts += ["### Reading\n", options_table(options.reading)]
    if Side.SINK in sides and options.writing:
        parts += ["### Writing\n", options_table(options.writing)]
    if connector.readable or connector.writable:
        parts += [_METADATA.rstrip(), f"{connector.metadata_about}\n", _metadata(connector)]
    return "\n".join(parts)


def _format(name: str) -> str:
    format = format_named(name)
    heading = f"## {name}\n\nRows: {format.changelog.value}.\n"
    keys = markdown_table(("Metadata key", "Type"), ((f"`value.{k}`", f"{t}") for k, t in format.metadata.items()))
    return "\n".join([heading, options_table(format.options) if format.options else "No options.\n", keys])


def _metadata(connector: Connector[Any]) -> str:
    read, written = connector.readable, connector.writable
    rows = ((f"`{key}`", _type(read.get(key)), _type(written.get(key))) for key in {**read, **written})
    return markdown_table(("Key", "Read as", "Written as"), rows)


def _type(type: DataType | None) -> str:
    return f"`{type}`" if type else "-"


def options_table(options: Iterable[Option[Any]]) -> str:
    """The column Required stands only where something may be."""
    options = tuple(options)
    heads = ["Option", "Required", "Type", "Default", "Meaning"]
    rows = [[f"`{o.name}`", o.required, o.kind, _default(o), _description(o)] for o in options]
    if all(o.required == "no" for o in options):
        for line in (heads, *rows):
            del line[1]
    return markdown_table(tuple(heads), map(tuple, rows))


def _description(option: Option[Any]) -> str:
    notes = [option.description]
    if option.fallbacks:
        notes.append(f"Also written {', '.join(f'`{f}`' for f in option.fallbacks)}.")
    if not option.supported:
        notes.append("*Not yet.*")
    if option.later:
        notes.append(f"*Not yet:* {', '.join(f'`{value}`' for value in option.later)}.")
    return " ".join(notes)


def _default(option: Option[Any]) -> str:
    match value := option.default:
        case None | ():
            return option.unset or "-"
        case bool():
            return f"`{str(value).lower()}`"
        case timedelta():
            return f"`{_duration(value)}`"
        case _:
            return f"`{value}`"


def _duration(value: timedelta) -> str:
    seconds = value.total_seconds()
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min"), (1, "s")):
        if seconds and seconds % size == 0:
            return f"{seconds / size:g} {unit}"
    return f"{seconds * 1000:g} ms"


def markdown_table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table; nothing without rows."""
    lines = ["| " + " | ".join(cell.replace("|", r"\|") for cell in row) + " |" for row in rows]
    if not lines:
        return ""
    return "\n".join([f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}", *lines, ""])


def main() -> None:
    for path, page in PAGES.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
