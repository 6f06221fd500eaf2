"""`rowkind help`: errors and options by name, for users who have the wheel and not its pages."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from rowkind.cli.terminal import say
from rowkind.errors import RowkindError, conditions, nearest

Words = Annotated[
    list[str],
    typer.Argument(metavar="NAME | options NAME", help="The name of an error; or `options` and a connector or format."),
]


def help(words: Words) -> None:
    """Explain an error by its name, or list the options of a connector or a format."""
    if words[0].lower() != "options":
        _error(" ".join(words).strip("[]").upper())
    elif len(words) == 1:
        say("Options of: " + ", ".join(_owners()), sys.stdout)
    else:
        _options(words[1])


def _error(name: str) -> None:
    found = conditions().get(name)
    if found is None:
        raise RowkindError("NO_SUCH_HELP", what="error", name=name, suggestion=nearest(name, conditions()))
    say(f"{name}\n\n{found.message}", sys.stdout)
    if found.hint:
        say(f"\nWhat to do: {found.hint}", sys.stdout)
    if found.retryable:
        say("\nIt may pass by itself: a job that has begun waits and tries again.", sys.stdout)


def _owners() -> list[str]:
    from rowkind.connectors.registry import names as connectors
    from rowkind.formats.registry import names as formats

    return [*connectors(), *formats()]


def _options(owner: str) -> None:
    from rowkind.connectors.registry import connector_named, names
    from rowkind.formats.registry import format_named

    if owner not in _owners():
        raise RowkindError("NO_SUCH_HELP", what="connector or format", name=owner, suggestion=nearest(owner, _owners()))
    options = connector_named(owner, "").options.all if owner in names() else format_named(owner).options
    for option in options:
        default = "" if option.default is None else f", default {_text(option.default)}"
        say(f"{option.name}  ({option.kind}{default})\n    {option.description}", sys.stdout)


def _text(default: object) -> str:
    return str(default).lower() if isinstance(default, bool) else str(getattr(default, "value", default))
