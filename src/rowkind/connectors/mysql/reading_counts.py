"""What is counted while values are read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Counts:
    """What was changed on the way: each is to be shown as a counter."""

    zero_dates: int = 0
