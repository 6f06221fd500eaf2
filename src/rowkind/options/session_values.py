"""What `SET` and `RESET` change: an immutable mapping of session options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from rowkind.errors import RowkindError, nearest
from rowkind.options.declarations import Option
from rowkind.options.session_options import SESSION, WITHOUT_EFFECT

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SessionOptions(Mapping[str, str]):
    """The keys that were set, as text; `value` reads one with its type or gives its default.

    >>> options, notices = SessionOptions().set("table.dml-sync", "true")
    >>> from rowkind.options.session_options import DML_SYNC
    >>> options.value(DML_SYNC), notices
    (True, [])
    """

    texts: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, key: str) -> str:
        return self.texts[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.texts)

    def __len__(self) -> int:
        return len(self.texts)

    def set(self, key: str, value: str) -> tuple[SessionOptions, list[str]]:
        """With one key set; the notices are for the user. Unknown keys and values that cannot be had are errors."""
        option = _declared(key)
        if option is None:
            reason = _without_effect(key)
            if reason is None:
                raise RowkindError("UNKNOWN_SESSION_OPTION", option=key, suggestion=nearest(key, _names()))
            return self._with(key, value), [f"'{key}' has no effect here: {reason}"]
        _refuse_unsupported(option, key, _parsed(option, key, value))
        return self._with(option.name, value), []

    def reset(self, key: str | None = None) -> SessionOptions:
        """Without one key, or without any."""
        if key is None:
            return SessionOptions()
        option = _declared(key)
        if option is None and _without_effect(key) is None:
            raise RowkindError("UNKNOWN_SESSION_OPTION", option=key, suggestion=nearest(key, _names()))
        name = option.name if option else key
        return SessionOptions({k: v for k, v in self.texts.items() if k != name})

    def given(self, option: Option[Any]) -> bool:
        return option.name in self.texts

    def get_value(self, option: Option[T]) -> T | None:
        """The option's value or default; None when it has neither."""
        text = self.texts.get(option.name)
        return option.default if text is None else _parsed(option, option.name, text)

    def value(self, option: Option[T]) -> T:
        """The value of an option that has a default."""
        value = self.get_value(option)
        if value is None:
            raise KeyError(option.name)
        return value

    def _with(self, key: str, value: str) -> SessionOptions:
        return SessionOptions({**self.texts, key: value})


def _declared(key: str) -> Option[Any] | None:
    return next((o for o in SESSION if key == o.name or key in o.fallbacks), None)


def _without_effect(key: str) -> str | None:
    for option in WITHOUT_EFFECT:
        if key == option.name or (option.prefix and key.startswith(option.prefix)):
            return option.description
    return None


def _names() -> list[str]:
    return [o.name for o in (*SESSION, *WITHOUT_EFFECT) if not o.prefix]


def _parsed(option: Option[T], key: str, text: str) -> T:
    try:
        return option.parse(text)
    except ValueError as error:
        raise RowkindError(
            "INVALID_SESSION_VALUE", option=key, value=text, reason=str(error), kind=option.kind
        ) from None


def _refuse_unsupported(option: Option[Any], key: str, value: Any) -> None:
    if (not option.supported and value != option.default) or value in option.later:
        raise RowkindError("SESSION_OPTION_NOT_SUPPORTED", option=key, value=value, about=option.description)
