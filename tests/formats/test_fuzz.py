"""A short walk of the fuzzer; `python -m tests.formats.fuzz` goes on for as long as it is told."""

from __future__ import annotations

import pytest

from tests.formats.fuzz import TYPES, one_round
from tests.seeds import seeds


@pytest.mark.parametrize("seed", seeds(15))
@pytest.mark.parametrize("format", list(TYPES))
def test_decoders_only_call_messages_bad(format: str, seed: int) -> None:
    one_round(format, seed)
