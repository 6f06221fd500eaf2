"""`datagen`: rows that are made up, for trying things out; what the columns hold is decided by their options."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from typing import Any

from rowkind.connectors.connector import Connector
from rowkind.connectors.contract import Reader, Source, SourceContext, Table
from rowkind.connectors.datagen import generators as g
from rowkind.connectors.datagen.source import DataGenReader, DataGenSource
from rowkind.connectors.reading_options import (
    EVENT_TIME,
    MAX_BYTES_PER_BATCH,
    MAX_ROWS_PER_BATCH,
    SCAN_PARALLELISM,
    alignment,
    idle_timeout,
)
from rowkind.connectors.settings import ReadSettings, Side, WriteSettings
from rowkind.connectors.usage import Options, Usage
from rowkind.errors import RowkindError
from rowkind.kinds import ChangelogMode
from rowkind.options.declarations import Option, boolean, choice, duration, integer, positive
from rowkind.options.session_options import RUNTIME_MODE, RuntimeMode
from rowkind.types import BINARIES, CHARACTERS, INTEGERS, MAX_LENGTH, NUMERICS, TIMESTAMPS, DataType, Root, map_members

FIELDS = "fields."


class Kind(StrEnum):
    RANDOM = "random"
    SEQUENCE = "sequence"


def share(value: str) -> float:
    number = float(value)
    if not 0 <= number <= 1:
        raise ValueError(f"'{value}' is not between 0 and 1")
    return number


ROWS_PER_SECOND = Option(
    "rows-per-second", positive, "long", 10_000, "How many rows come in a second, all tasks together."
)
NUMBER_OF_ROWS = Option(
    "number-of-rows",
    positive,
    "long",
    None,
    "How many rows there are.",
    unset="unbounded; with a sequence, its length",
)
KIND: Option[Kind] = Option(
    "fields.#.kind",
    choice(Kind),
    "random, sequence",
    Kind.RANDOM,
    "How values of the column `#` are made. A column of a ROW is `row.member`, elements of an ARRAY or MULTISET are "
    "`column.element`, keys and values of a MAP `column.key` and `column.value`.",
)
MIN: Option[float] = Option(
    "fields.#.min",
    float,
    "number",
    None,
    "Least random number, of intervals in months or milliseconds.",
    unset="the type's; of FLOAT, DOUBLE, DECIMAL and months 0",
)
MAX: Option[float] = Option("fields.#.max", float, "number", None, "Largest random number.", unset="the type's")
MAX_PAST: Option[timedelta] = Option(
    "fields.#.max-past",
    duration,
    "duration",
    timedelta(0),
    "How far random timestamps are in the past, at most; without it they are the time of their batch.",
)
LENGTH = Option(
    "fields.#.length",
    positive,
    "int",
    None,
    "Length of random texts, bytes and collections.",
    unset="the type's; of STRING and BYTES 100, of collections 3",
)
VAR_LEN: Option[bool] = Option(
    "fields.#.var-len", boolean, "boolean", False, "Whether random texts and bytes are of any length up to `length`."
)
NULL_RATE: Option[float] = Option("fields.#.null-rate", share, "number", 0.0, "Which share of random values is NULL.")
START = Option("fields.#.start", integer, "long", None, "First value of a sequence.", required="with `sequence`")
END = Option("fields.#.end", integer, "long", None, "Last value of a sequence.", required="with `sequence`")

COLUMN: tuple[Option[Any], ...] = (KIND, MIN, MAX, MAX_PAST, LENGTH, VAR_LEN, NULL_RATE, START, END)

_BITS = {Root.TINYINT: 8, Root.SMALLINT: 16, Root.INT: 32, Root.BIGINT: 64}
_LARGEST_FLOAT = 3.4028234663852886e38
_LARGEST_DOUBLE = 1.7976931348623157e308
_LONGEST_MILLIS = ((1 << 63) - 1) // 1000
_MONTHS = 120_000
SEQUENCES = NUMERICS | CHARACTERS | BINARIES


def limits(type: DataType) -> tuple[float, float]:
    """The least and the largest random number where the options say none; as in Flink."""
    root = type.root
    if root in _BITS:
        return -(1 << _BITS[root] - 1), (1 << _BITS[root] - 1) - 1
    if root is Root.INTERVAL_DAY_TIME:
        return -_LONGEST_MILLIS, _LONGEST_MILLIS
    most = {Root.FLOAT: _LARGEST_FLOAT, Root.DOUBLE: _LARGEST_DOUBLE, Root.INTERVAL_YEAR_MONTH: _MONTHS}
    return 0, most.get(root, 10.0 ** ((type.precision or 0) - (type.scale or 0)))


class ColumnOptions:
    """The options of a column, or of a member inside one, by the keys that they have in the table."""

    def __init__(self, usage: DataGenUsage, path: str, type: DataType) -> None:
        self.usage, self.path, self.type = usage, path, type

    def named(self, option: Option[Any]) -> Option[Any]:
        kind = "long" if option in (MIN, MAX) and self._whole else option.kind
        parse = integer if option in (MIN, MAX) and self._whole else option.parse
        return replace(option, name=option.name.replace("#", self.path), parse=parse, kind=kind)

    def __getitem__(self, option: Option[Any]) -> Any:
        return self.usage.given.get(self.named(option))

    @property
    def _whole(self) -> bool:
        return self.type.root in INTEGERS | {Root.INTERVAL_YEAR_MONTH, Root.INTERVAL_DAY_TIME}

    @property
    def members(self) -> tuple[ColumnOptions, ...]:
        root = self.type.root
        named: dict[str, DataType] = {}
        if root is Root.ROW:
            named = {f.name: f.type for f in self.type.fields}
        elif root is Root.MAP:
            named = dict(zip(("key", "value"), map_members(self.type), strict=True))
        elif root in (Root.ARRAY, Root.MULTISET) and self.type.element:
            named = {"element": self.type.element}
        return tuple(ColumnOptions(self.usage, f"{self.path}.{name}", type) for name, type in named.items())

    @property
    def sequence(self) -> bool:
        """Whether it counts; a kind that cannot be read is found by the rule about values."""
        text = self.usage.given.texts.get(self.named(KIND).name, "")
        return text.strip().lower() == Kind.SEQUENCE

    @property
    def known(self) -> tuple[Option[Any], ...]:
        root = self.type.root
        if self.sequence:
            return tuple(self.named(o) for o in (KIND, START, END))
        more: list[Option[Any]] = [NULL_RATE]
        if root in NUMERICS or self._whole:
            more += [MIN, MAX]
        if root in TIMESTAMPS:
            more += [MAX_PAST]
        if root in (Root.VARCHAR, Root.VARBINARY):
            more += [LENGTH, VAR_LEN]
        if root in (Root.ARRAY, Root.MAP, Root.MULTISET):
            more += [LENGTH]
        own = tuple(self.named(o) for o in (KIND, *more))
        return own + tuple(o for member in self.members for o in member.known)

    def error(self, reason: str) -> RowkindError:
        return self.usage.error("DATAGEN_COLUMN", column=self.path, type=self.type, reason=reason)

    def check(self) -> None:
        if self.sequence:
            self._check_sequence()
            return
        least, most = self.range
        if self.named(MIN) in self.known and least > most:
            raise self.error(f"'{self.named(MIN).name}' is above '{self.named(MAX).name}'")
        lowest, highest = limits(self.type)
        if self._whole and not (lowest <= least and most <= highest):
            raise self.error(f"the type holds numbers from {lowest} to {highest}")
        length = self[LENGTH] if self.named(LENGTH) in self.known else None
        if length is not None and self.type.length is not None and length > self.type.length:
            raise self.error(f"'{self.named(LENGTH).name}' is longer than the type")
        for member in self.members:
            member.check()

    def _check_sequence(self) -> None:
        if self.type.root not in SEQUENCES or "." in self.path:
            raise self.error("only columns of numbers, texts and bytes can be sequences")
        missing = [self.named(o).name for o in (START, END) if self[o] is None]
        if missing:
            raise self.error(f"a sequence needs '{missing[0]}'")
        if self[END] < self[START]:
            raise self.error(f"'{self.named(END).name}' is before '{self.named(START).name}'")
        lowest, highest = limits(self.type) if self.type.root in INTEGERS else (-(1 << 63), (1 << 63) - 1)
        if self[START] < lowest or self[END] > highest:
            raise self.error(f"the type holds numbers from {lowest} to {highest}")

    @property
    def range(self) -> tuple[float, float]:
        least, most = self[MIN], self[MAX]
        lowest, highest = limits(self.type)
        return lowest if least is None else least, highest if most is None else most

    def generator(self) -> g.Generator:
        if self.sequence:
            return g.Sequence(self.path, self.type, self[START])
        root, rate = self.type.root, self[NULL_RATE]
        if root in (Root.ROW, Root.ARRAY, Root.MAP, Root.MULTISET):
            members = tuple(member.generator() for member in self.members)
            if root is Root.MULTISET:
                members += (g.Random(f"{self.path}.count", map_members(self.type)[1], least=1, most=10),)
            return g.Members(self.path, self.type, members, self[LENGTH] or 3, rate)
        least, most = self.range if root in NUMERICS or self._whole else (0, 0)
        past = self[MAX_PAST] // timedelta(milliseconds=1)
        return g.Random(self.path, self.type, least, most, self._length, self[VAR_LEN], past, rate)

    @property
    def _length(self) -> int:
        if self.type.root not in CHARACTERS | BINARIES:
            return 0
        usual = 100 if self.type.length in (None, MAX_LENGTH) else self.type.length
        return int(self[LENGTH] or usual) if self.type.root in (Root.VARCHAR, Root.VARBINARY) else int(usual or 1)


@dataclass(frozen=True, slots=True)
class DataGenUsage(Usage):
    """The options of a table follow from its columns."""

    @property
    def columns(self) -> tuple[ColumnOptions, ...]:
        return tuple(ColumnOptions(self, f.name, f.type) for f in self.definition.physical)

    @property
    def options(self) -> tuple[Option[Any], ...]:
        own = tuple(o for o in self.declared.all if "#" not in o.name)
        return own + tuple(o for column in self.columns for o in column.known)

    @property
    def used_options(self) -> tuple[Option[Any], ...]:
        return self.options


def columns_can_be_made(usage: DataGenUsage) -> None:
    for column in usage.columns:
        column.check()


def batch_mode_ends(usage: DataGenUsage) -> None:
    if usage.session.value(RUNTIME_MODE) is RuntimeMode.BATCH and number_of_rows(usage) is None:
        raise usage.error("BATCH_NEEDS_BOUNDED")


def number_of_rows(usage: DataGenUsage) -> int | None:
    """The shortest of what was asked for and the sequences, as in Flink."""
    given = usage.given.get(NUMBER_OF_ROWS)
    ends = [column[END] - column[START] + 1 for column in usage.columns if column.sequence]
    return min([*ends, *([given] if given is not None else [])], default=None)


@dataclass(frozen=True, slots=True)
class DataGenTable(Table):
    """A `datagen` table: how each column is made, how many rows there are, and how fast they come."""

    generators: tuple[g.Generator, ...]
    rows: int | None
    rows_per_second: int

    def __hash__(self) -> int:
        return hash(self.definition.name)

    @property
    def bounded(self) -> bool:
        return self.rows is not None

    @property
    def parts(self) -> tuple[str, ...]:
        return (self.name,)

    @property
    def details(self) -> tuple[str, ...]:
        return () if self.rows is None else (f"{self.rows} rows",)

    def identity(self) -> dict[str, Any]:
        return {"": "DataGenTable", "name": self.name, "connector": self.connector}

    def source(self, context: SourceContext) -> Source:
        return DataGenSource(self)

    def reader(self) -> Reader:
        return DataGenReader(self)


class DataGenConnector(Connector[DataGenUsage]):
    """`datagen`."""

    name = "datagen"
    about = "Rows that are made up, see [datagen](datagen.md). It is read only."
    sides = frozenset({Side.SOURCE})
    options = Options(
        reading=(
            ROWS_PER_SECOND,
            NUMBER_OF_ROWS,
            *COLUMN,
            SCAN_PARALLELISM,
            *EVENT_TIME,
            MAX_ROWS_PER_BATCH,
            MAX_BYTES_PER_BATCH,
        )
    )

    def declared(self, key: str) -> str:
        """Names of columns keep their case."""
        lower = key.lower()
        if not lower.startswith(FIELDS):
            return lower
        path, dot, option = key[len(FIELDS) :].rpartition(".")
        return f"{FIELDS}{path}{dot}{option.lower()}"

    def usage(self, usage: Usage) -> DataGenUsage:
        return DataGenUsage(**usage.parts)

    def rules(self, side: Side) -> Sequence[Callable[[DataGenUsage], None]]:
        return (columns_can_be_made, batch_mode_ends)

    def table(self, usage: DataGenUsage) -> tuple[Table, list[str]]:
        given = usage.given
        reading = ReadSettings(
            parallelism=given.get(SCAN_PARALLELISM),
            max_rows_per_batch=given.get(MAX_ROWS_PER_BATCH),
            max_bytes_per_batch=given[MAX_BYTES_PER_BATCH],
            idle_timeout=idle_timeout(usage),
            alignment=alignment(usage),
        )
        table = DataGenTable(
            definition=usage.definition,
            side=usage.side,
            connector=self.name,
            changelog=ChangelogMode.INSERT_ONLY,
            metadata=(),
            reading=reading,
            writing=WriteSettings(),
            generators=tuple(column.generator() for column in usage.columns),
            rows=number_of_rows(usage),
            rows_per_second=given[ROWS_PER_SECOND],
        )
        return table, []
