"""The result mode `table`: the rows of a changelog as they are now, updated in place."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence

from rich.console import Console as Screen
from rich.live import Live
from rich.table import Table
from rich.text import Text

from rowkind.cli.cells import cell
from rowkind.kinds import RowKind
from rowkind.types import Field

_ADDED = (RowKind.INSERT.symbol, RowKind.UPDATE_AFTER.symbol)
FRAME = 6
"""Lines of a screen that are not rows."""


class LiveTable:
    """Takes changes, and shows the rows that are left of them: the latest ones where the screen has no room for all."""

    def __init__(self, fields: Sequence[Field], screen: Screen) -> None:
        self._fields, self._screen = fields, screen
        self._rows: Counter[tuple[str, ...]] = Counter()
        self._lock = threading.Lock()
        self._live = Live(console=screen, refresh_per_second=8, get_renderable=self._table)

    def __enter__(self) -> LiveTable:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.refresh()
        self._live.stop()

    def take(self, changes: Sequence[tuple[str, tuple[object, ...]]]) -> None:
        with self._lock:
            for kind, values in changes:
                row = tuple(map(cell, values))
                self._rows[row] += 1 if kind in _ADDED else -1
                if not self._rows[row]:
                    del self._rows[row]

    @property
    def count(self) -> int:
        return sum(self._rows.values())

    def _table(self) -> Table:
        with self._lock:
            rows = list(self._rows.elements())
        room = max(1, self._screen.size.height - FRAME)
        hidden = max(0, len(rows) - room)
        table = Table(caption=f"{len(rows):,} rows" + (f", the last {room} shown" if hidden else ""))
        for field in self._fields:
            table.add_column(Text(cell(field.name)), overflow="ellipsis", no_wrap=True)
        for row in rows[hidden:]:
            table.add_row(*map(Text, row))
        return table
