"""Ends a server when its owner is gone, even by kill -9: `python -m rowkind.broker.guard OWNER PID MARK [FOLDER]`.

A process of its own, because nothing inside a killed owner could still do it.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path

from rowkind.broker.process import ServerProcess, running, spawn

SECONDS = 0.5


def guard(server: ServerProcess, owner: int, folder: Path | None = None) -> None:
    """Have a server stopped, and its folder removed, when process `owner` ends."""
    words = [str(owner), str(server.pid), server.mark, *([str(folder)] if folder else [])]
    spawn([sys.executable, "-m", __name__, *words], {}, log=Path(os.devnull), mark=server.mark)


def main(owner: str, pid: str, mark: str, *folders: str) -> None:
    server = ServerProcess(int(pid), mark)
    while running(int(owner)):
        if not server.alive():
            return
        time.sleep(SECONDS)
    server.stop()
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
