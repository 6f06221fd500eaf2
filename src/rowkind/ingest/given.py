"""The settings of a section, read with the declarations at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from rowkind.connectors.kafka.client_keys import CLIENT, declared
from rowkind.errors import RowkindError, nearest
from rowkind.ingest.declarations import Declaration, Declared
from rowkind.ingest.job_file import Section, Setting
from rowkind.ingest.place import Place
from rowkind.options.declarations import Option
from rowkind.options.secrets import MASK, is_secret, masked

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Given:
    """Checked settings of one section by their declared names."""

    section: str
    place: Place = field(compare=False, repr=False)
    settings: Mapping[str, Setting] = field(default_factory=dict, repr=False)
    notes: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """What to tell the user once about settings without effect."""

    def has(self, option: Option[Any]) -> bool:
        return option.name in self.settings

    def get(self, option: Option[T]) -> T | None:
        """The option's value, or its default."""
        setting = self.settings.get(option.name)
        return option.default if setting is None else parsed(option, setting)

    def __getitem__(self, option: Option[T]) -> T:
        """The value of an option that has a default or was checked to be there."""
        value = self.get(option)
        if value is None:
            raise KeyError(option.name)
        return value

    def under(self, option: Option[Any]) -> dict[str, str]:
        """Everything given of a family such as `properties.*`, without the prefix."""
        prefix = option.prefix or option.name
        return {k.removeprefix(prefix): s.text.value for k, s in self.settings.items() if k.startswith(prefix)}

    def place_of(self, option: Option[Any]) -> Place:
        """Where the option is given, or else where its section starts."""
        found = self.settings.get(option.name)
        return found.place if found else self.place

    def shown(self) -> dict[str, str]:
        """Every setting as it may be stored and shown."""
        texts = masked({k: s.text.value for k, s in self.settings.items()})
        return {k: MASK if s.text.secret or _is_key(k) else texts[k] for k, s in self.settings.items()}


def read(section: Section, known: Declared) -> Given:
    """The section's settings, each known, valid and supported; notes about those without effect."""
    found: dict[str, Setting] = {}
    notes = []
    for setting in section:
        declaration, name = _declared(setting, section, known)
        if name in found:
            raise setting.place.error("INGEST_OPTION_TWICE", first=found[name].key, second=setting.key)
        found[name] = setting
        notes += _fate(declaration, name, setting, section)
    missing = [d.option.name for d in known.declarations if d.option.required == "yes" and d.option.name not in found]
    if missing:
        options = ", ".join(f"'{name}'" for name in sorted(missing))
        raise section.place.error("INGEST_MISSING_OPTION", section=section.name, options=options)
    return Given(section.name, section.place, found, tuple(notes))


def parsed(option: Option[T], setting: Setting) -> T:
    """The setting's value, or an error about its place that does not show a secret."""
    try:
        return option.parse(setting.text.value)
    except ValueError as error:
        raise value_error(option, setting, str(error)) from None


def value_error(option: Option[Any], setting: Setting, reason: str) -> RowkindError:
    """That a setting's value cannot be taken."""
    hidden = setting.text.secret or option.secret or _is_key(setting.key)
    return setting.place.error(
        "INGEST_OPTION_VALUE",
        option=setting.key,
        value=MASK if hidden else setting.text.value,
        reason="its text cannot be read" if hidden else reason,
        kind=option.kind,
    )


def _declared(setting: Setting, section: Section, known: Declared) -> tuple[Declaration, str]:
    key = declared(setting.key) if setting.key.lower().startswith(CLIENT) else setting.key
    found = known.find(key)
    if found is None:
        suggestion = nearest(setting.key, known.names)
        raise setting.place.error(
            "INGEST_UNKNOWN_OPTION",
            section=known.name,
            option=setting.key,
            suggestion=suggestion,
            known=", ".join(known.names),
        )
    return found


def _fate(declaration: Declaration, name: str, setting: Setting, section: Section) -> list[str]:
    """Notes about a setting; raises when it is refused."""
    option, text = declaration.option, setting.text
    if declaration.refused and not declaration.harmless:
        raise setting.place.error("INGEST_NOT_SUPPORTED", what=f"'{setting.key}'", why=declaration.why)
    if text.secret and declaration.shown:
        raise setting.place.error("INGEST_SECRET_SHOWN", key=setting.key)
    value = parsed(option, setting)
    if declaration.why and value in declaration.harmless:
        return []
    if declaration.refused:
        raise setting.place.error("INGEST_NOT_SUPPORTED", what=f"'{setting.key}: {text}'", why=declaration.why)
    notes = []
    if declaration.why:
        notes.append(f"{setting.place}: '{name}' of the {section.name} has no effect: {declaration.why}.")
    if text.variables and (option.secret or is_secret(name)):
        names = ", ".join(f"--var {v}" for v in sorted(text.variables))
        notes.append(f"{setting.place}: '{name}' comes from {names}, which others can see in the list of processes.")
    return notes


def _is_key(name: str) -> bool:
    return is_secret(name) or name.lower() in ("aliyun.kafka.accesskeyid",)
