"""`print`: shows every row with its kind, in the words of Flink, where the job was started."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa

from rowkind.connectors.connector import Connector
from rowkind.connectors.contract import Sink, Table, WriteContext, Writer
from rowkind.connectors.settings import Guarantee, ReadSettings, Side, WriteSettings
from rowkind.connectors.terminal import Terminal, address, serve
from rowkind.connectors.usage import Options, Usage
from rowkind.connectors.writing_options import SINK_PARALLELISM
from rowkind.formats.text import java_double, java_float
from rowkind.kinds import ChangelogMode, RowKind
from rowkind.metrics.traffic import Traffic
from rowkind.options.declarations import Option, boolean, text
from rowkind.types import DataType, Root, map_members

PRINT_IDENTIFIER = Option(
    "print-identifier", text, "string", None, "What every line begins with, to tell tables apart.", unset="nothing"
)
STANDARD_ERROR: Option[bool] = Option(
    "standard-error", boolean, "boolean", False, "Whether rows go to standard error instead of standard output."
)


class PrintSink(Sink):
    @property
    def guarantees(self) -> frozenset[Guarantee]:
        return frozenset({Guarantee.NONE, Guarantee.AT_LEAST_ONCE})

    def prepare(self) -> list[str]:
        """From here on workers of this machine find somebody who prints."""
        serve()
        return []


@dataclass(frozen=True, slots=True)
class PrintTable(Table):
    """A `print` table. `terminal` is where the process that planned the statement listens, once a job writes."""

    identifier: str
    standard_error: bool
    terminal: str

    def __hash__(self) -> int:
        return hash(self.definition.name)

    @property
    def bounded(self) -> bool:
        return True

    @property
    def parts(self) -> tuple[str, ...]:
        return (self.name,)

    def identity(self) -> dict[str, Any]:
        return {"": "PrintTable", "name": self.name, "connector": self.connector}

    def prefix(self, task: int, tasks: int) -> str:
        """As in Flink: `identifier:task> `, of which the task is left out where there is one alone."""
        number = str(task + 1) if tasks > 1 else ""
        start = ":".join(part for part in (self.identifier, number) if part)
        return f"{start}> " if start else ""

    def sink(self) -> Sink:
        return PrintSink()

    def writer(self, context: WriteContext) -> Writer:
        return PrintWriter(self, context)


class PrintWriter(Writer):
    """Holds the lines of a task until it is flushed, so that a task that fails before has shown nothing."""

    def __init__(self, table: PrintTable, context: WriteContext) -> None:
        self._table, self._context = table, context
        self._prefix = table.prefix(context.task, context.tasks)
        self._shown = [shower(f.type) for f in table.stored_columns]
        self._lines: list[str] = []

    def write(self, rows: pa.RecordBatch) -> None:
        columns = [rows.column(f.name).to_pylist() for f in self._table.stored_columns]
        kinds = [RowKind(kind).symbol for kind in rows.column(rows.num_columns - 1).to_pylist()]
        for kind, *values in zip(kinds, *columns, strict=True):
            shown = ", ".join(show(value) for show, value in zip(self._shown, values, strict=True))
            self._lines.append(f"{self._prefix}{kind}[{shown}]\n")
        self._context.counts["rows-written"] += rows.num_rows
        self._context.traffic.setdefault(self._table.name, Traffic()).wrote(rows.num_rows, rows.nbytes)

    def flush(self, wait: bool) -> None:
        written, self._lines = "".join(self._lines), []
        if written and not Terminal(self._table.terminal).show(written, self._table.standard_error):
            # On another machine: what executors print is in their own logs, as with Flink's task managers.
            stream = sys.stderr if self._table.standard_error else sys.stdout
            stream.write(written)
            stream.flush()

    def close(self, failed: bool) -> None:
        self._lines.clear()


Shower = Callable[[Any], str]


def shower(type: DataType) -> Shower:
    """How a value is shown, as the texts of Java's classes are."""
    show = _shower(type)
    return lambda value: "null" if value is None else show(value)


def _shower(type: DataType) -> Shower:
    match type.root:
        case Root.ROW:
            members = [(f.name, shower(f.type)) for f in type.fields]
            return lambda row: f"+I[{', '.join(show(row[name]) for name, show in members)}]"
        case Root.ARRAY:
            element = shower(type.element) if type.element else str
            return lambda found: f"[{', '.join(map(element, found))}]"
        case Root.MAP | Root.MULTISET:
            key, value = map(shower, map_members(type))
            return lambda found: "{" + ", ".join(f"{key(k)}={value(v)}" for k, v in found) + "}"
        case Root.BINARY | Root.VARBINARY:
            return lambda found: f"[{', '.join(str(b - 256 if b > 127 else b) for b in found)}]"
        case _:
            return _SHOWN.get(type.root, str)


def _time(value: time) -> str:
    """Java leaves out seconds that are zero, and shows fractions in groups of three digits."""
    shown = value.strftime("%H:%M")
    if value.second or value.microsecond:
        shown += value.strftime(":%S")
    if value.microsecond:
        digits = f"{value.microsecond:06d}"
        shown += f".{digits[:3] if digits.endswith('000') else digits}"
    return shown


def _timestamp(value: datetime) -> str:
    return f"{value:%Y-%m-%d}T{_time(value.time())}"


def _instant(value: datetime) -> str:
    shown = value.astimezone(UTC)
    seconds = ":00" if not (shown.second or shown.microsecond) else ""
    return f"{_timestamp(shown)}{seconds}Z"


def _decimal(value: Decimal) -> str:
    return f"{value:f}"


def _months(value: int) -> str:
    years, months = divmod(abs(value), 12)
    sign = "-" if value < 0 else ""
    parts = [f"{sign}{years}Y" if years else "", f"{sign}{months}M" if months else ""]
    return "P" + ("".join(parts) or "0D")


def _duration(value: timedelta) -> str:
    micros = value // timedelta(microseconds=1)
    sign, micros = ("-", -micros) if micros < 0 else ("", micros)
    seconds, fraction = divmod(micros, 1_000_000)
    hours, minutes = seconds // 3600, seconds % 3600 // 60
    rest = f"{seconds % 60}" + (f".{fraction:06d}".rstrip("0") if fraction else "")
    parts = [f"{sign}{hours}H" if hours else "", f"{sign}{minutes}M" if minutes else ""]
    last = f"{sign}{rest}S" if rest != "0" or not any(parts) else ""
    return "PT" + "".join(parts) + last


def _text(value: str) -> str:
    """In one line: what would move a cursor or begin a line that is no row is shown as an escape."""
    return value if value.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in value)


_SHOWN: dict[Root, Shower] = {
    Root.CHAR: _text,
    Root.VARCHAR: _text,
    Root.BOOLEAN: lambda value: str(value).lower(),
    Root.FLOAT: java_float,
    Root.DOUBLE: java_double,
    Root.DECIMAL: _decimal,
    Root.TIME: _time,
    Root.TIMESTAMP: _timestamp,
    Root.TIMESTAMP_LTZ: _instant,
    Root.INTERVAL_YEAR_MONTH: _months,
    Root.INTERVAL_DAY_TIME: _duration,
}


class PrintConnector(Connector[Usage]):
    """`print`."""

    name = "print"
    about = "Rows are shown where the job was started, see [print](print.md). It is written only."
    sides = frozenset({Side.SINK})
    options = Options(writing=(PRINT_IDENTIFIER, STANDARD_ERROR, SINK_PARALLELISM))

    def table(self, usage: Usage) -> tuple[Table, list[str]]:
        given = usage.given
        table = PrintTable(
            definition=usage.definition,
            side=usage.side,
            connector=self.name,
            changelog=ChangelogMode.RETRACT,
            metadata=(),
            reading=ReadSettings(),
            writing=WriteSettings(parallelism=given.get(SINK_PARALLELISM)),
            identifier=given.get(PRINT_IDENTIFIER) or "",
            standard_error=given[STANDARD_ERROR],
            terminal=address(),
        )
        return table, []
