"""What is chosen by name, imported when first asked for; other packages add theirs by an entry point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from rowkind.errors import RowkindError


@dataclass(frozen=True, slots=True)
class Registry:
    """Classes by name: `module:Class`, in this package or behind an entry point."""

    kind: str
    """What they are, for errors."""
    group: str
    """Of entry points."""
    built_in: Mapping[str, str]

    def names(self) -> list[str]:
        return sorted({*self.built_in, *(entry.name for entry in entry_points(group=self.group))})

    def nearest_first(self, name: str) -> str:
        """All names for an error, those that look most like what was written first."""
        wanted = name.lower()
        return ", ".join(sorted(self.names(), key=lambda known: -SequenceMatcher(None, wanted, known).ratio()))

    def instance(self, name: str) -> Any:
        """What has this name, made without arguments; None for an unknown name."""
        if name in self.built_in:
            module, _, attribute = self.built_in[name].partition(":")
            return getattr(import_module(module), attribute)()
        for entry in entry_points(group=self.group, name=name):
            return self._loaded(entry)()
        return None

    def _loaded(self, entry: EntryPoint) -> Any:
        try:
            return entry.load()
        except (ImportError, AttributeError) as error:
            package = entry.dist.name if entry.dist else entry.value
            raise RowkindError(
                "PLUGIN_NOT_LOADED", kind=self.kind, name=entry.name, package=package, reason=str(error)
            ) from error
