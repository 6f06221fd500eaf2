"""The folder through which the driver and the process of the range source talk: inputs, pace, the wish to stop."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from rowkind.catalog.kafka_table import KafkaTable
from rowkind.runtime.batches import Pace
from rowkind.runtime.watermarks import Account

FIRST_ROWS = 200_000
"""Rows of a table in the first batches, before the speed is known."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the range source must know of a job."""

    tables: tuple[KafkaTable, ...]
    splittable: tuple[bool, ...]
    interval: timedelta | None = None
    """Time from the start of one batch to the start of the next, unless there is more to read."""
    groups: tuple[tuple[int, ...], ...] = ()
    """Tables whose watermarks an operator follows, by number."""

    def tasks(self, cores: int) -> list[int]:
        """In how many tasks each table is read at most."""
        return [table.scan.parallelism or cores for table in self.tables]


class Control:
    """Written by the driver, read by the range source. Private to the user: the inputs hold connection secrets."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.inputs = folder / "inputs"
        self._pace = folder / "pace"
        self._stop = folder / "stop"
        self._time = folder / "time"
        self._waiting = folder / "waiting"

    @classmethod
    def create(cls, folder: Path, inputs: Inputs, cores: int) -> Control:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        control = cls(folder)
        control.inputs.touch(mode=0o600)
        control.inputs.write_bytes(pickle.dumps(inputs))
        caps = [t.scan.max_rows_per_batch for t in inputs.tables]
        control.set_pace([min(FIRST_ROWS, cap or FIRST_ROWS) for cap in caps], inputs.tasks(cores))
        return control

    def account(self) -> Account:
        """What is known of time; written before the first batch is asked for and after every batch."""
        return Account.of_json(json.loads(self._time.read_text()))

    def set_account(self, account: Account) -> None:
        fresh = self._time.with_suffix(".new")
        fresh.write_text(json.dumps(account.to_json()))
        os.replace(fresh, self._time)

    def pace(self, table: int) -> Pace:
        said = json.loads(self._pace.read_text())
        return Pace(said["rows"][table], said["tasks"][table])

    def set_pace(self, rows: Sequence[int], tasks: Sequence[int]) -> None:
        fresh = self._pace.with_suffix(".new")
        fresh.write_text(json.dumps({"rows": list(rows), "tasks": list(tasks)}))
        os.replace(fresh, self._pace)

    @property
    def waiting(self) -> str | None:
        """The servers that do not answer now, while the source waits for them."""
        try:
            return self._waiting.read_text()
        except FileNotFoundError:
            return None

    def set_waiting(self, servers: str | None) -> None:
        if servers is None:
            self._waiting.unlink(missing_ok=True)
            return
        fresh = self._waiting.with_suffix(".new")
        fresh.write_text(servers)
        os.replace(fresh, self._waiting)

    @property
    def stopping(self) -> bool:
        return self._stop.exists()

    def stop(self) -> None:
        """From now on the source has nothing new: the batch under way is the last."""
        with contextlib.suppress(FileNotFoundError):  # the job has just ended by itself
            self._stop.touch()


def adapted(rows: int, read: int, took: timedelta, wanted: timedelta, cap: int | None) -> int:
    """Rows for the next batch, so that it takes about the wanted time: at most four times as many, at least half."""
    if read < rows // 2:
        return rows
    ideal = int(read * wanted.total_seconds() / max(took.total_seconds(), 0.001))
    fitted = max(rows // 2, min(rows * 4, ideal), 1_000)
    return min(fitted, cap) if cap else fitted
