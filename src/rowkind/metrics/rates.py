"""How much there was per second in the last minute."""

from __future__ import annotations

from collections import deque

WINDOW = 60.0
"""Seconds."""


class Rate:
    """A mean over the last minute, or over the time since the start where that is less.

    Times are seconds of a clock that nobody sets. What came within a second is kept as one number.
    """

    def __init__(self, start: float) -> None:
        self._start = start
        self._seconds: deque[tuple[int, int]] = deque()
        self._sum = 0

    def add(self, amount: int, now: float) -> None:
        second = int(now)
        if self._seconds and self._seconds[-1][0] == second:
            self._seconds[-1] = second, self._seconds[-1][1] + amount
        else:
            self._seconds.append((second, amount))
        self._sum += amount

    def per_second(self, now: float) -> float:
        while self._seconds and self._seconds[0][0] <= now - WINDOW:
            self._sum -= self._seconds.popleft()[1]
        return self._sum / max(1.0, min(WINDOW, now - self._start))
