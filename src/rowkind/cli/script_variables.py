"""What variables of a SQL script stand for: values of `--var`, secrets of a file and of the environment.

`${secret_values.name}` and, where no `--var` has that name, `${name}`, as in the files of ingestion jobs. A secret is
filled in as the inside of a string: its quotes are doubled, so that it cannot end the string that it stands in.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from rowkind.ingest.variables import SECRET, environment_name, read_secrets


class ScriptVariables(Mapping[str, str]):
    """Names are looked up when they are asked for: the environment is not searched for what nobody names.

    >>> ScriptVariables({"a": "1"}, {"b": "it's"})["secret_values.b"]
    "it''s"
    """

    def __init__(self, values: Mapping[str, str], secrets: Mapping[str, str]) -> None:
        self._values, self._secrets = values, secrets

    def __getitem__(self, name: str) -> str:
        if name in self._values:
            return self._values[name]
        bare = name.removeprefix(SECRET)
        found = self._secrets.get(bare, os.environ.get(environment_name(bare)))
        if found is None:
            raise KeyError(name)
        return found.replace("'", "''")

    def __iter__(self) -> Iterator[str]:
        yield from self._values
        yield from (SECRET + name for name in self._secrets)

    def __len__(self) -> int:
        return len(self._values) + len(self._secrets)


def secrets_of(file: Path | None) -> dict[str, str]:
    return read_secrets(file) if file else {}
