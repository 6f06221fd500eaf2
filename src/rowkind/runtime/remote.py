"""Errors that cross the border between a Python worker and the driver, where only text gets through."""

from __future__ import annotations

import base64
import pickle
import re
from collections.abc import Callable, Iterator
from typing import Any

from rowkind.errors import RowkindError

_MARK = re.compile(r"<rowkind-error:([A-Za-z0-9+/=]+)>")


class WorkerError(RuntimeError):
    """A named error on its way out of a worker: readable text, and behind it the error itself."""

    def __init__(self, error: RowkindError) -> None:
        packed = base64.b64encode(pickle.dumps((error.condition, error.params))).decode()
        super().__init__(f"{error}\n<rowkind-error:{packed}>")


def carried(error: BaseException) -> RowkindError | None:
    """The named error behind whatever Spark raised, if there is one."""
    if isinstance(error, RowkindError):
        return error
    found = _MARK.search(str(error))
    if found is None:
        return None
    condition, params = pickle.loads(base64.b64decode(found.group(1)))
    return RowkindError(condition, **params)


def reporting(function: Callable[..., Iterator[Any]], *args: Any) -> Iterator[Any]:
    """Run a worker's function so that its named errors reach the driver."""
    try:
        yield from function(*args)
    except RowkindError as error:
        raise WorkerError(error) from error
