"""What a connector is to those who write DDL: a name, options, rules, and the way from a definition to a table.

What its tables do when a job runs is in `connectors/contract.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar, cast

from rowkind.connectors.contract import Table
from rowkind.connectors.settings import Side
from rowkind.connectors.usage import Options, Usage
from rowkind.types import DataType

U = TypeVar("U", bound=Usage)


class Connector(ABC, Generic[U]):
    """What `'connector' = …` names, on the driver: options and rules, and how a definition becomes a `Table`.

    Imported and made, without arguments, when its name is first used; then kept: it has no state. CREATE TABLE asks it
    nothing. For every statement that uses one of its tables, and every mistake in which is an error of its own:

    1. `declared`, for each key of the options;
    2. `usage`, once; it must not fail;
    3. `first_rules`, then the rules of every table about option keys and values, parallelism and the like,
       then `rules`, then those about METADATA columns (`connectors/rules.py`);
    4. `table`, once: whatever it needs has been checked.

    Nothing of this opens a connection. A package adds its connector by the entry point `rowkind.connectors`, formats by
    `rowkind.formats`, and named errors by `rowkind.conditions`, which names a package with TOML files like those in
    `rowkind/conditions`.
    """

    name: str
    about: str = ""
    """For the page of options."""
    options: Options
    """Declarations; the connector's own keys, without those of every table."""
    sides: frozenset[Side] = frozenset(Side)
    """Whether its tables can be read, and written."""
    readable: Mapping[str, DataType] = {}
    """Keys of METADATA columns, for the page of options; `Usage` has those of a table."""
    writable: Mapping[str, DataType] = {}
    metadata_about: str = ""

    def declared(self, key: str) -> str:
        """A key as it is declared, of one that was written in any case. Keys of a family may be case-sensitive."""
        return key.lower()

    def usage(self, usage: Usage) -> U:
        """The usage with what rules and `table` want to look at."""
        return cast(U, usage)

    def first_rules(self, side: Side) -> Sequence[Callable[[U], None]]:
        """Rules that decide which options there are, such as those of a format that must exist."""
        return ()

    def rules(self, side: Side) -> Sequence[Callable[[U], None]]:
        """Each raises a RowkindError, by `usage.error`, for what it finds wrong."""
        return ()

    @abstractmethod
    def table(self, usage: U) -> tuple[Table, list[str]]:
        """The table for the usage's side, and warnings for the user."""
