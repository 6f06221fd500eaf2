"""Plan nodes that wait for event time or processing time: windows, interval joins, temporal joins, OVER."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from rowkind.join_kind import JoinKind
from rowkind.plan.nodes import Call, Expr, Node, Order, Unary, joined_columns
from rowkind.types import DataType, Field, timestamp

WINDOW_START, WINDOW_END, WINDOW_TIME = "window_start", "window_end", "window_time"


class WindowKind(StrEnum):
    TUMBLE = "TUMBLE"
    HOP = "HOP"
    CUMULATE = "CUMULATE"
    SESSION = "SESSION"


@dataclass(frozen=True, slots=True)
class WindowSpec:
    """A window table function: lengths in microseconds. `slide` of HOP, `step` of CUMULATE; SESSION has a gap only.

    `time` is the event-time column, or a processing-time column when `proctime` is set: then the batch's clock decides.
    """

    kind: WindowKind
    time: str
    size: int
    slide: int | None = None
    offset: int = 0
    partition: tuple[str, ...] = ()
    proctime: bool = False


@dataclass(frozen=True, slots=True)
class WindowAssign(Unary):
    """Gives each row its windows: window_start, window_end and window_time. A row in several windows is repeated."""

    window: WindowSpec = None  # type: ignore[assignment]

    @property
    def columns(self) -> tuple[Field, ...]:
        time = self.input.column(self.window.time).type
        bounds = (Field(WINDOW_START, timestamp(3).not_null()), Field(WINDOW_END, timestamp(3).not_null()))
        return (*self.input.columns, *bounds, Field(WINDOW_TIME, replace(time, precision=3, nullable=False)))


@dataclass(frozen=True, slots=True)
class WindowAggregate(Unary):
    """GROUP BY window_start, window_end and other keys: a row per group when its window closes, never changed again."""

    keys: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    window: WindowSpec = None  # type: ignore[assignment]
    start: str = WINDOW_START
    end: str = WINDOW_END

    @property
    def columns(self) -> tuple[Field, ...]:
        return (*(self.input.column(k) for k in self.keys), *(Field(c.name, c.type) for c in self.calls))


@dataclass(frozen=True, slots=True)
class WindowRank(Unary):
    """Top-N per window and partition, given when the window closes. `end` is the column that holds the window's end."""

    partition: tuple[str, ...] = ()
    order: tuple[Order, ...] = ()
    last: int = 1
    first: int = 1
    rank: str | None = None
    rank_type: DataType | None = None
    end: str = WINDOW_END
    window: WindowSpec = None  # type: ignore[assignment]

    @property
    def columns(self) -> tuple[Field, ...]:
        if self.rank is None or self.rank_type is None:
            return self.input.columns
        return (*self.input.columns, Field(self.rank, self.rank_type))


@dataclass(frozen=True, slots=True)
class _Two(Node):
    left: Node
    right: Node

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.left, self.right)

    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        return self if inputs == self.inputs else replace(self, left=inputs[0], right=inputs[1])


@dataclass(frozen=True, slots=True)
class WindowJoin(_Two):
    """Joins rows of the same window when it closes; the window columns are among the keys."""

    kind: JoinKind
    left_keys: tuple[str, ...]
    right_keys: tuple[str, ...]
    left_end: str
    right_end: str
    residual: Expr | None = None

    @property
    def columns(self) -> tuple[Field, ...]:
        return joined_columns(self.left, self.right, self.kind)


@dataclass(frozen=True, slots=True)
class IntervalJoin(_Two):
    """Joins append-only rows whose times lie within bounds: right.time - left.time in [lower, upper] microseconds."""

    kind: JoinKind
    left_keys: tuple[str, ...]
    right_keys: tuple[str, ...]
    left_time: str
    right_time: str
    lower: int
    upper: int
    residual: Expr | None = None
    proctime: bool = False

    @property
    def columns(self) -> tuple[Field, ...]:
        return joined_columns(self.left, self.right, self.kind)


@dataclass(frozen=True, slots=True)
class TemporalJoin(_Two):
    """FOR SYSTEM_TIME AS OF: each left row with the version of the right table at its time.

    With `proctime` the version is that of the batch; otherwise left rows wait until the watermark has passed them.
    """

    kind: JoinKind
    left_keys: tuple[str, ...]
    right_keys: tuple[str, ...]
    left_time: str
    right_time: str | None
    residual: Expr | None = None
    proctime: bool = False

    @property
    def columns(self) -> tuple[Field, ...]:
        return joined_columns(self.left, self.right, self.kind)


@dataclass(frozen=True, slots=True)
class Over(Unary):
    """Aggregates over a frame of rows before each row: `preceding` rows, or microseconds, or all of them (None).

    `time` orders by event time (rows wait for the watermark), `proctime` by arrival; `order` any other ordering.
    Without calls it only puts rows in the order of time.
    """

    partition: tuple[str, ...] = ()
    order: tuple[Order, ...] = ()
    calls: tuple[Call, ...] = ()
    rows: bool = False
    preceding: int | None = None
    time: str | None = None
    proctime: bool = False
    emit_before: bool = True

    @property
    def columns(self) -> tuple[Field, ...]:
        return (*self.input.columns, *(Field(c.name, c.type) for c in self.calls))
