"""Places where a test may kill the process with SIGKILL, to see that nothing is lost; nothing happens otherwise.

`ROWKIND_FAIL_AT=<place>:<batch>:<file>` kills the first process that comes by that place in that batch; the file says
that it has happened.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

_AT = os.environ.get("ROWKIND_FAIL_AT", "")


def failpoint(place: str, version: int) -> None:
    wanted, _, file = _AT.rpartition(":")
    if wanted == f"{place}:{version}" and not Path(file).exists():
        Path(file).touch()
        os.kill(os.getpid(), signal.SIGKILL)
