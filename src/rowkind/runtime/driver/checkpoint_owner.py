"""Who runs on a checkpoint: so that a run that takes over can say from whom, and the other one by whom."""

from __future__ import annotations

import json
import os
import socket
import uuid
from dataclasses import asdict, dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Owner:
    """A run, as the file `owner` has it."""

    id: str
    host: str = ""
    process: int = 0
    since: str = ""
    ended: bool = False

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @property
    def may_run(self) -> bool:
        """Whether it has not said that it ended, and is not known to be dead."""
        if self.ended or not self.process:
            return False
        return self.host != socket.gethostname() or _alive(self.process)

    def __str__(self) -> str:
        if not self.process:
            return "an earlier run"
        return f"process {self.process} on {self.host}, which runs since {self.since}"


def this_process() -> Owner:
    now = datetime.now().astimezone().isoformat(timespec="seconds")
    return Owner(str(uuid.uuid4()), socket.gethostname(), os.getpid(), now)


def owner_of(written: bytes) -> Owner:
    """Versions before 0.2 wrote the id alone."""
    try:
        return Owner(**json.loads(written))
    except (ValueError, TypeError):
        return Owner(written.decode("utf-8", "replace"))


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
