"""Seeds of random tests: the same in every run, unless ROWKIND_SEED says where to start; `make fuzz` has fresh ones."""

from __future__ import annotations

import os


def seeds(count: int) -> range:
    """So many seeds, or ROWKIND_CASES."""
    first = int(os.environ.get("ROWKIND_SEED", "0"))
    return range(first, first + int(os.environ.get("ROWKIND_CASES", count)))
