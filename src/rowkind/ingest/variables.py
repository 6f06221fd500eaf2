"""Variables of a job file: `${name}` and `${secret_values.name}`, filled into texts that are already parsed.

A value can therefore never change the structure of the file.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rowkind.errors import RowkindError, nearest
from rowkind.ingest.place import Place
from rowkind.ingest.yaml_nodes import Entries, Scalar, parse_yaml
from rowkind.options.secrets import MASK

ENVIRONMENT = "ROWKIND_SECRET_"
SECRET = "secret_values."
_VARIABLE = re.compile(r"\$(?P<literal>\$)?\{(?P<inside>[^}]*)(?P<end>\}?)")
_INSIDE = re.compile(r"(?P<name>[A-Za-z0-9_][A-Za-z0-9_.\-]*?)(?::-(?P<default>.*))?", re.DOTALL)
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True, slots=True)
class Text:
    """A text of the job file with its variables filled in. A secret one shows itself as `****`."""

    value: str = field(repr=False)
    place: Place = field(compare=False, repr=False)
    secret: bool = False
    variables: frozenset[str] = field(default=frozenset(), compare=False)
    """The names of `--var` that are in it: those are seen in the list of processes."""

    @property
    def shown(self) -> str:
        """The text as it may stand in messages."""
        return MASK if self.secret else self.value

    def __str__(self) -> str:
        return self.shown

    def with_value(self, value: str) -> Text:
        return Text(value, self.place, self.secret, self.variables)


@dataclass(frozen=True, slots=True)
class Variables:
    """What variables stand for: values of `--var`, secrets of a file, and secrets of the environment."""

    values: Mapping[str, str] = field(default_factory=dict, repr=False)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)

    def filled(self, scalar: Scalar) -> Text:
        """The text with its variables filled in; `$${name}` stays as `${name}`.

        >>> Variables({"db": "shop"}).filled(Scalar("${db}.orders", Place("job.yaml"))).value
        'shop.orders'
        """
        secret, used = False, set()

        def value(match: re.Match[str]) -> str:
            nonlocal secret
            if match["literal"]:
                return match[0][1:]
            inside = _INSIDE.fullmatch(match["inside"])
            if not inside or not match["end"]:
                raise scalar.place.error("INGEST_VARIABLE_SYNTAX")
            name, default = inside["name"], inside["default"]
            if not name.startswith(SECRET) and name in self.values:
                used.add(name)
                return self.values[name]
            found = self.secret(name.removeprefix(SECRET))
            if found is not None or name.startswith(SECRET):
                secret = True
            if found is None and default is None:
                raise self._unknown(name, scalar.place)
            return found if found is not None else str(default)

        filled = _VARIABLE.sub(value, scalar.value)
        return Text(filled, scalar.place, secret, frozenset(used))

    def secret(self, name: str) -> str | None:
        """The secret of this name: from the file, or else from the environment."""
        return self.secrets.get(name, self.environment.get(environment_name(name)))

    def _unknown(self, name: str, place: Place) -> RowkindError:
        bare = name.removeprefix(SECRET)
        known = [*self.values, *self.secrets]
        ways = f"--secrets FILE with a line '{bare}: …', or {environment_name(bare)} in the environment"
        if not name.startswith(SECRET):
            ways = f"--var {name}=VALUE; for a secret {ways}"
        return place.error("INGEST_UNKNOWN_VARIABLE", name=name, suggestion=nearest(bare, known), ways=ways)


def environment_name(name: str) -> str:
    """The variable of the environment that may hold a secret.

    >>> environment_name("kafka-sk.prod")
    'ROWKIND_SECRET_KAFKA_SK_PROD'
    """
    return ENVIRONMENT + re.sub(r"[.\-]", "_", name).upper()


def read_secrets(path: Path) -> dict[str, str]:
    """The secrets of a file of lines `name: value` that nobody else may read."""
    try:
        with path.open("rb") as opened:
            mode = stat.S_IMODE(os.fstat(opened.fileno()).st_mode)
            if mode & _OTHERS:
                raise RowkindError("INGEST_SECRETS_OPEN_TO_OTHERS", file=str(path), mode=f"{mode:o}")
            text = opened.read().decode("utf-8")
    except OSError as error:
        raise RowkindError("INGEST_FILE_UNREADABLE", file=str(path), reason=error.strerror) from None
    except UnicodeDecodeError:
        raise RowkindError("INGEST_FILE_UNREADABLE", file=str(path), reason="it is not UTF-8") from None
    node = parse_yaml(text, str(path))
    if isinstance(node, Scalar) and node.empty:
        return {}
    if not isinstance(node, Entries):
        raise node.place.error("INGEST_SECRETS_FILE")
    found = {}
    for key, value in node.entries:
        if not isinstance(value, Scalar):
            raise key.place.error("INGEST_SECRETS_FILE")
        found[key.value] = value.value
    return found
