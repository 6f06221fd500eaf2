"""Errors with a name: every failure a user can cause or meet is a condition in `conditions/*.toml`.

Tests assert the condition's name, never the prose.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Container
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.metadata import entry_points
from typing import Any


@dataclass(frozen=True, slots=True)
class Condition:
    """The wording of one named error: what went wrong, and what to do about it."""

    message: str
    hint: str | None = None
    retryable: bool = False
    """Whether it passes by itself: a job that has begun waits and tries again."""


@cache
def conditions() -> dict[str, Condition]:
    """Our own conditions, one TOML file a package."""
    return _declared("rowkind.conditions", {})


@cache
def _of_others() -> dict[str, Condition]:
    """Conditions of other packages: each entry point `rowkind.conditions` names a package with TOML files."""
    found: dict[str, Condition] = {}
    for entry in entry_points(group="rowkind.conditions"):
        found |= _declared(entry.value, conditions() | found)
    return found


def _declared(package: str, before: Container[str]) -> dict[str, Condition]:
    found: dict[str, Condition] = {}
    for file in resources.files(package).iterdir():
        if file.name.endswith(".toml"):
            for name, entry in tomllib.loads(file.read_text("utf-8")).items():
                if name in found or name in before:
                    raise ValueError(f"error condition {name} is declared twice, the second time in {package}")
                found[name] = Condition(**entry)
    return found


def _condition(name: str) -> Condition | None:
    """Others are asked only for what is not ours: a package that is broken must not hide an error of ours."""
    return conditions().get(name) or _of_others().get(name)


class RowkindError(Exception):
    """A named error. `str()` starts with `[CONDITION]`, so that the name survives any transport as text.

    >>> RowkindError("NO_SUCH_TABLE", table="a", suggestion="").condition
    'NO_SUCH_TABLE'
    """

    def __init__(self, condition: str, /, **params: Any) -> None:
        wording = _condition(condition)
        if wording is None:
            raise KeyError(condition)
        self.condition = condition
        self.retryable = wording.retryable
        self.params = params
        self.message = wording.message.format(**params)
        if "pointer" in params and "{pointer}" not in wording.message:
            # found after parsing, by code that knows no script; its place was added on the way out
            self.message = f"{params['place']}: {self.message}\n{params['pointer']}"
        self.hint = wording.hint.format(**params) if wording.hint else None
        super().__init__(self.message)

    def __str__(self) -> str:
        text = f"[{self.condition}] {self.message}"
        return f"{text}\nHint: {self.hint}" if self.hint else text

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.condition, self.params)


def _rebuild(condition: str, params: dict[str, Any]) -> RowkindError:
    return RowkindError(condition, **params)


def condition_in(text: str) -> str | None:
    """The name of the first known condition in a text, such as a worker's stack trace that Spark hands on."""
    for match in re.finditer(r"\[([A-Z][A-Z0-9_]+)\] ", text):
        if _condition(match.group(1)) is not None:
            return match.group(1)
    return None


def nearest(name: str, known: Any, closeness: float = 0.5) -> str:
    """`; did you mean …?` for the closest known names, or nothing.

    >>> nearest("regoin", ["region", "user_id"])
    "; did you mean 'region'?"
    """
    from difflib import get_close_matches

    # A wrong case alone makes the closest name of all.
    names = {str(k).lower(): str(k) for k in known}
    close = [names[found] for found in get_close_matches(name.lower(), names, n=2, cutoff=closeness)]
    return f"; did you mean {' or '.join(repr(c) for c in close)}?" if close else ""
