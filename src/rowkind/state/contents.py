"""Small JSON values in a folder, each under the digest of what it says: written once, named by many."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from typing import Any

from rowkind.errors import RowkindError
from rowkind.state.files import Folder


def keep_contents(folder: str, kind: str, said: Any, sync: bool) -> str:
    """Write a value down, unless it is there; its digest."""
    text = json.dumps(said, sort_keys=True).encode()
    digest = hashlib.blake2b(text, digest_size=12).hexdigest()
    files = Folder(folder, sync=sync)
    if not files.exists(_name(kind, digest)):
        files.write_bytes(_name(kind, digest), text)
    return digest


@lru_cache(maxsize=64)
def contents(folder: str, kind: str, digest: str) -> Any:
    """The value with that digest. Not to be changed by the caller."""
    try:
        return json.loads(Folder(folder).read_bytes(_name(kind, digest)))
    except FileNotFoundError:
        raise RowkindError("CHECKPOINT_FILE_MISSING", checkpoint=folder, file=_name(kind, digest)) from None


def _name(kind: str, digest: str) -> str:
    return f"{kind}-{digest}.json"
