"""Whose state a folder is: the id of its checkpoint is in a file of the folder, and in the listing of every version.

On several machines one path may be several folders. State that is in another one would look like state that was never
written, or, where an earlier job left some there, like state of this job.
"""

from __future__ import annotations

import socket

from rowkind.errors import RowkindError
from rowkind.state.files import Folder

_FILE = "checkpoint"
_known: set[tuple[str, str]] = set()
"""Folders, with the checkpoint, that this process has looked into."""


def mark(root: str, checkpoint: str, sync: bool = True) -> None:
    """The driver's word, before any task runs."""
    Folder(root, sync=sync).write_bytes(_FILE, checkpoint.encode())


def marked(root: str) -> str | None:
    """What this process finds."""
    try:
        return Folder(root).read_bytes(_FILE).decode()
    except OSError:
        return None


def require_mark(root: str, checkpoint: str) -> None:
    """In a worker, once a process: that it sees the folder that the driver sees."""
    if (root, checkpoint) in _known:
        return
    found = marked(root)
    if found != checkpoint:
        raise not_shared(root, socket.gethostname(), found)
    _known.add((root, checkpoint))


def not_shared(root: str, host: str, found: str | None) -> RowkindError:
    seen = "finds nothing there" if found is None else f"finds the state of checkpoint {found} there"
    return RowkindError("CHECKPOINT_NOT_SHARED", folder=root, host=host, found=seen)
