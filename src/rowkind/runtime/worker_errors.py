"""Errors that cross the border between a Python worker and the driver, where only text gets through."""

from __future__ import annotations

import base64
import json
import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rowkind.errors import RowkindError

_REFUSED = re.compile(
    r"\[((?:DIVIDE_BY_ZERO|REMAINDER_BY_ZERO|INTERVAL_DIVIDED_BY_ZERO|ARITHMETIC_OVERFLOW|BINARY_ARITHMETIC_OVERFLOW"
    r"|INTERVAL_ARITHMETIC_OVERFLOW|CAST_INVALID_INPUT|CAST_OVERFLOW|NUMERIC_VALUE_OUT_OF_RANGE|DATETIME_OVERFLOW"
    r"|CANNOT_PARSE_TIMESTAMP|INVALID_ARRAY_INDEX|INVALID_FRACTION_OF_SECOND|UNEXPECTED_NEGATIVE_VALUE)[.\w]*)\]"
    r"\s*([^\n]*?\.)(?:\s|$)"
)
"""What a row's values may make an expression run into: the condition of Spark, and its first sentence."""


def new_nonce() -> str:
    """What the errors of one job are marked with. No message can guess it, and it is never written down for later."""
    return secrets.token_hex(16)


class WorkerError(RuntimeError):
    """A named error on its way out of a worker: readable text, and after it the error itself.

    The text quotes messages, and messages may look like anything, so the mark holds the job's nonce. What it carries is
    JSON: whatever stands there, reading it makes nothing but plain values.
    """

    def __init__(self, error: RowkindError, nonce: str) -> None:
        said = json.dumps([error.condition, plain(error.params)])
        packed = base64.b64encode(said.encode()).decode()
        super().__init__(f"{error}\n<rowkind-error:{nonce}:{packed}>")


def plain(value: Any) -> Any:
    """A parameter of an error as JSON has it; what JSON does not have becomes the text that a message would show."""
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return value if value is None or type(value) in (str, bool, int, float) else str(value)


def carried(error: BaseException, nonce: str) -> RowkindError | None:
    """The named error behind whatever Spark raised, if there is one that this job's workers sent."""
    if isinstance(error, RowkindError):
        return error
    found = re.search(rf"<rowkind-error:{nonce}:([A-Za-z0-9+/=]+)>", str(error))
    if found is None:
        return None
    condition, params = json.loads(base64.b64decode(found[1]))
    return RowkindError(condition, **params)


def refused_value(error: BaseException) -> RowkindError | None:
    """An expression that Spark could not compute for a row, such as a division by zero; in Spark's words, and named."""
    found = _REFUSED.search(str(error))
    return None if found is None else RowkindError("EXPRESSION_FAILED", error=found[1], reason=found[2].strip())


def reporting(nonce: str, function: Callable[..., Iterator[Any]], *args: Any) -> Iterator[Any]:
    """Run a worker's function so that its named errors reach the driver."""
    try:
        yield from function(*args)
    except RowkindError as error:
        raise WorkerError(error, nonce) from error


def reported(nonce: str, function: Callable[[Any], Any], argument: Any) -> Any:
    """The same for a function that answers once."""
    try:
        return function(argument)
    except RowkindError as error:
        raise WorkerError(error, nonce) from error
