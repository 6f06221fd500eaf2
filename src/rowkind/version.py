"""The version of the package, as it was installed."""

from __future__ import annotations

from functools import cache
from importlib import metadata


@cache
def version() -> str:
    return metadata.version("rowkind")
