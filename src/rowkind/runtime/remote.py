"""Errors that cross the border between a Python worker and the driver, where only text gets through."""

from __future__ import annotations

import base64
import pickle
import re
from collections.abc import Callable, Iterator
from typing import Any

from rowkind.errors import RowkindError

_MARK = re.compile(r"<rowkind-error:([A-Za-z0-9+/=]+)>")

_REFUSED = re.compile(
    r"\[((?:DIVIDE_BY_ZERO|REMAINDER_BY_ZERO|INTERVAL_DIVIDED_BY_ZERO|ARITHMETIC_OVERFLOW|BINARY_ARITHMETIC_OVERFLOW"
    r"|INTERVAL_ARITHMETIC_OVERFLOW|CAST_INVALID_INPUT|CAST_OVERFLOW|NUMERIC_VALUE_OUT_OF_RANGE|DATETIME_OVERFLOW"
    r"|CANNOT_PARSE_TIMESTAMP|INVALID_ARRAY_INDEX|INVALID_FRACTION_OF_SECOND|UNEXPECTED_NEGATIVE_VALUE)[.\w]*)\]"
    r"\s*([^\n]*?\.)(?:\s|$)"
)
"""What a row's values may make an expression run into: the condition of Spark, and its first sentence."""


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


def refused_value(error: BaseException) -> RowkindError | None:
    """An expression that Spark could not compute for a row, such as a division by zero; in Spark's words, and named."""
    found = _REFUSED.search(str(error))
    return None if found is None else RowkindError("EXPRESSION_FAILED", error=found[1], reason=found[2].strip())


def reporting(function: Callable[..., Iterator[Any]], *args: Any) -> Iterator[Any]:
    """Run a worker's function so that its named errors reach the driver."""
    try:
        yield from function(*args)
    except RowkindError as error:
        raise WorkerError(error) from error
