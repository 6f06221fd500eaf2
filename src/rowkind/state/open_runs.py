"""The runs that a process has open: mapped files, kept from batch to batch and let go when nobody needs them.

A file that was removed stays on the disk for as long as anyone has it mapped.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field

from rowkind.state.files import Folder
from rowkind.state.sorted_run import Place, Run, RunInfo, forget, open_run

LIMIT = 4096
"""Mapped runs of a process. A mapping costs address space, not memory."""
IDLE_SECONDS = 60.0
"""After so long without a task of a partition its runs are closed: another worker has it, or its job has ended."""


@dataclass(slots=True)
class _Opened:
    used: float
    runs: dict[RunInfo, Run] = field(default_factory=dict)


class OpenRuns:
    """By folder, the least recently used first."""

    def __init__(self) -> None:
        self._folders: OrderedDict[str, _Opened] = OrderedDict()

    def __len__(self) -> int:
        return sum(len(opened.runs) for opened in self._folders.values())

    def clear(self) -> None:
        self._folders.clear()

    def keep_only(self, folder: Folder, named: Iterable[RunInfo]) -> None:
        """A task begins with these runs: what else was open of the folder, a later version has dropped."""
        opened = self._of(folder)
        for info in opened.runs.keys() - set(named):
            del opened.runs[info]
            forget(folder, info)
        self._close_idle()

    def run(self, folder: Folder, info: RunInfo, place: Place) -> Run:
        opened = self._of(folder)
        if info not in opened.runs:
            opened.runs[info] = open_run(folder, info, place)
            while len(self) > LIMIT and len(self._folders) > 1:
                self._folders.popitem(last=False)
        return opened.runs[info]

    def _of(self, folder: Folder) -> _Opened:
        opened = self._folders.setdefault(folder.uri, _Opened(0.0))
        opened.used = time.monotonic()
        self._folders.move_to_end(folder.uri)
        return opened

    def _close_idle(self) -> None:
        horizon = time.monotonic() - IDLE_SECONDS
        for uri in [uri for uri, opened in self._folders.items() if opened.used < horizon]:
            del self._folders[uri]
