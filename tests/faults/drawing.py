"""Series as small drawings, one below the other, in one SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT, LEFT, TOP = 640, 90, 230, 16


@dataclass(frozen=True, slots=True)
class Panel:
    """One series, from zero to its highest value."""

    title: str
    values: Sequence[float]

    def lines(self, top: int) -> list[str]:
        highest = max(self.values, default=0.0) or 1.0
        step = (WIDTH - LEFT - 20) / max(1, len(self.values) - 1)
        base = top + HEIGHT - TOP
        points = " ".join(
            f"{LEFT + i * step:.1f},{base - value / highest * (HEIGHT - 2 * TOP):.1f}"
            for i, value in enumerate(self.values)
        )
        last = self.values[-1] if self.values else 0.0
        return [
            f'<text x="8" y="{top + HEIGHT // 2}">{escape(self.title)}</text>',
            f'<text x="8" y="{top + HEIGHT // 2 + 16}" fill="#777">highest {highest:.4g}, last {last:.4g}</text>',
            f'<line x1="{LEFT}" y1="{base}" x2="{WIDTH - 20}" y2="{base}" stroke="#bbb"/>',
            f'<polyline points="{points}" fill="none" stroke="#1f6feb" stroke-width="1.5"/>',
        ]


def drawing(panels: Sequence[Panel], caption: str) -> str:
    height = HEIGHT * len(panels) + 2 * TOP
    lines = [line for number, panel in enumerate(panels) for line in panel.lines(HEIGHT * number)]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" '
            f'font-size="12">',
            f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
            *lines,
            f'<text x="{LEFT}" y="{height - TOP // 2}" fill="#777">{escape(caption)}</text>',
            "</svg>\n",
        ]
    )
