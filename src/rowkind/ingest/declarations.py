"""Options of a job file as declarations: those that count, those without a meaning here, those that are refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rowkind.options.declarations import Option


@dataclass(frozen=True, slots=True)
class Declaration:
    """An option and what becomes of it. Without `why` it counts; otherwise `why` says why it does not."""

    option: Option[Any]
    why: str = ""
    refused: bool = False
    harmless: tuple[Any, ...] = ()
    """Values that may stand without a word: they ask for what is done anyway."""
    shown: bool = False
    """Whether the value is shown in messages and names, so that it cannot be a secret."""

    @property
    def counts(self) -> bool:
        return not self.why


def counts(*options: Option[Any], shown: bool = False) -> tuple[Declaration, ...]:
    return tuple(Declaration(option, shown=shown) for option in options)


def idle(why: str, *options: Option[Any]) -> tuple[Declaration, ...]:
    """Accepted with a note, unless it is the default: nothing here depends on it."""
    return tuple(Declaration(o, why, harmless=() if o.default is None else (o.default,)) for o in options)


def refused(why: str, *options: Option[Any], harmless: tuple[Any, ...] = ()) -> tuple[Declaration, ...]:
    return tuple(Declaration(option, why, refused=True, harmless=harmless) for option in options)


@dataclass(frozen=True, slots=True)
class Declared:
    """All options of one kind of section. `name` is what messages call it, such as "source 'mysql'"."""

    name: str
    title: str
    about: str
    declarations: tuple[Declaration, ...]

    def find(self, key: str) -> tuple[Declaration, str] | None:
        """The declaration for a key in any case, and its declared case. A whole name goes before a family."""
        lower = key.lower()
        for declaration in self.declarations:
            if declaration.option.name.lower() == lower:
                return declaration, declaration.option.name
        for declaration in self.declarations:
            prefix = declaration.option.prefix
            if prefix and lower.startswith(prefix.lower()) and len(key) > len(prefix):
                return declaration, prefix + key[len(prefix) :]
        return None

    @property
    def names(self) -> list[str]:
        """What may be given to it."""
        return [d.option.name for d in self.declarations if not d.refused]
