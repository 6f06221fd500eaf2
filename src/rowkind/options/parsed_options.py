"""The options a table was given, by their declared names, read with the declaration at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from rowkind.definitions import TableDefinition
from rowkind.errors import RowkindError
from rowkind.options.declarations import Option
from rowkind.options.secrets import MASK, is_secret

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class GivenOptions:
    """Option texts of one table, keys in their declared case."""

    table: str
    texts: Mapping[str, str] = field(repr=False)
    written: Mapping[str, str] = field(default_factory=dict)
    """Declared key -> key as the user wrote it."""

    def __iter__(self) -> Iterator[str]:
        return iter(self.texts)

    def key(self, option: Option[Any]) -> str | None:
        """The key under which the option was given: its name, or an older name."""
        return next((k for k in (option.name, *option.fallbacks) if k in self.texts), None)

    def has(self, option: Option[Any]) -> bool:
        return self.key(option) is not None

    def get(self, option: Option[T]) -> T | None:
        """The option's value, or its default."""
        key = self.key(option)
        return option.default if key is None else self._parsed(option, key)

    def __getitem__(self, option: Option[T]) -> T:
        """The value of an option that has a default or was checked to be there."""
        value = self.get(option)
        if value is None:
            raise KeyError(option.name)
        return value

    def under(self, option: Option[str]) -> dict[str, str]:
        """Everything given of a family such as `properties.*`, without the prefix."""
        prefix = option.prefix or option.name
        return {k.removeprefix(prefix): v for k, v in self.texts.items() if k.startswith(prefix)}

    def _parsed(self, option: Option[T], key: str) -> T:
        text = self.texts[key]
        secret = option.secret or is_secret(key)
        try:
            return option.parse(text)
        except ValueError as error:
            raise RowkindError(
                "INVALID_OPTION_VALUE",
                table=self.table,
                option=self.written.get(key, key),
                value=MASK if secret else text,
                reason="its text cannot be read" if secret else str(error),
                kind=option.kind,
            ) from None


def given_options(definition: TableDefinition, declared: Callable[[str], str]) -> tuple[GivenOptions, list[str]]:
    """A table's options with their keys in declared case, and a warning for each key that was written otherwise.

    `declared` gives a key in its declared case, which the connector knows.
    """
    texts: dict[str, str] = {}
    written: dict[str, str] = {}
    warnings = []
    for key, value in definition.options.items():
        name = declared(key)
        if name in texts:
            raise RowkindError("OPTION_GIVEN_TWICE", table=definition.name, first=written[name], second=key)
        if name != key:
            warnings.append(f"Table '{definition.name}': option '{key}' is read as '{name}'.")
        texts[name], written[name] = value, key
    return GivenOptions(definition.name, texts, written), warnings
