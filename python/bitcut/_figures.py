# SPDX-License-Identifier: BSD-3-Clause
"""Figures of results for notebooks: SVG as text, in the colours of the page around them."""

from __future__ import annotations

import html
import math
from typing import Optional, Sequence, Tuple

from ._results import cell

# One colour that is seen on white and on black; text and lines are of the page's.
MARK = "#4a90d9"
WIDTH, ROW, MARGIN, DIGIT = 640, 24, 10, 7


def _text(x: float, y: float, said: str, anchor: str = "start", turned: bool = False) -> str:
    turn = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turned else ""
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{turn}>{html.escape(said)}'
            "</text>")


def _line(x1: float, y1: float, x2: float, y2: float, strong: bool = False) -> str:
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
            f'stroke="currentColor" stroke-opacity="{0.7 if strong else 0.2}"/>')


def _svg(title: str, height: int, body: Sequence[str]) -> str:
    said = html.escape(title)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            f'width="{WIDTH}" height="{height}" role="img" aria-label="{said}" '
            'fill="currentColor" font-family="sans-serif" font-size="12" '
            f'style="max-width:100%;height:auto"><title>{said}</title>'
            f'<text x="{MARGIN}" y="16" font-weight="bold">{said}</text>{"".join(body)}</svg>')


def _ticks(low: float, high: float, most: int) -> list:
    """At most so many round numbers from low to high, 1, 2 or 5 times a power of ten apart."""
    step = 10.0 ** math.floor(math.log10((high - low) / most))
    step *= next(times for times in (1, 2, 5, 10) if (high - low) / (times * step) <= most)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [i * step for i in range(first, last + 1)]


def bars(title: str, rows: Sequence[Tuple[str, float]], axis: str) -> str:
    """A bar for each number, 0 and more, with its name and value; `axis` says the unit."""
    finite = [value for _, value in rows if math.isfinite(value)]
    top = max(finite, default=0) or 1
    left = MARGIN + DIGIT * max((len(name) for name, _ in rows), default=0) + 8
    room, body = WIDTH - left - 14 * DIGIT, []
    for i, (name, value) in enumerate(rows):
        y = 28 + i * ROW
        size = room * value / top if math.isfinite(value) else 0
        body.append(_text(left - 8, y + 15, name, "end"))
        body.append(f'<rect x="{left}" y="{y + 3}" width="{size:.1f}" height="{ROW - 7}" '
                    f'fill="{MARK}"><title>{html.escape(name)}: {cell(value)}</title></rect>')
        body.append(_text(left + size + 6, y + 15, cell(value)))
    bottom = 28 + len(rows) * ROW
    body += [_line(left, 26, left, bottom, True), _text(left, bottom + 18, axis)]
    return _svg(title, bottom + 28, body)


def points(title: str, rows: Sequence[Tuple[str, float]], axis: str) -> str:
    """A point for each number above 0, on an axis of powers of ten."""
    finite = [value for _, value in rows if 0 < value < math.inf]
    low = math.floor(math.log10(min(finite, default=1)))
    high = max(math.ceil(math.log10(max(finite, default=1))), low + 1)
    left = MARGIN + DIGIT * max((len(name) for name, _ in rows), default=0) + 8
    room, bottom, body = WIDTH - left - 14 * DIGIT, 28 + len(rows) * ROW, []
    for power in range(low, high + 1, (high - low) // 10 + 1):
        x = left + room * (power - low) / (high - low)
        body += [_line(x, 26, x, bottom), _text(x, bottom + 15, cell(10.0 ** power), "middle")]
    for i, (name, value) in enumerate(rows):
        y = 28 + i * ROW + ROW / 2
        body.append(_text(left - 8, y + 4, name, "end"))
        if not 0 < value < math.inf:
            body.append(_text(left + 6, y + 4, cell(value)))
            continue
        x = left + room * (math.log10(value) - low) / (high - low)
        body.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{MARK}">'
                    f"<title>{html.escape(name)}: {cell(value)}</title></circle>")
        body.append(_text(x + 9, y + 4, cell(value)))
    body += [_line(left, bottom, left + room, bottom, True), _text(left, bottom + 33, axis)]
    return _svg(title, bottom + 43, body)


def line(title: str, at: Sequence[Tuple[float, float]], x_axis: str, y_axis: str,
         top: Optional[float] = None) -> str:
    """Numbers, 0 and more, over others, joined by a line."""
    xs = [x for x, _ in at] or [0]
    low, high = min(xs), max(max(xs), min(xs) + 1)
    most = top or max((y for _, y in at), default=0) or 1
    left, bottom, height = 56, 250, 216
    room, body = WIDTH - left - 2 * MARGIN, []

    def place(x, y):
        return left + room * (x - low) / (high - low), bottom - height * y / most

    for x in _ticks(low, high, 12):
        body.append(_text(place(x, 0)[0], bottom + 16, cell(x), "middle"))
    for y in _ticks(0, most, 6):
        body += [_line(left, place(low, y)[1], left + room, place(low, y)[1], y == 0),
                 _text(left - 6, place(low, y)[1] + 4, cell(y), "end")]
    joined = " ".join("{:.1f},{:.1f}".format(*place(x, y)) for x, y in at)
    body.append(f'<polyline points="{joined}" fill="none" stroke="{MARK}" stroke-width="2"/>')
    for x, y in at:
        cx, cy = place(x, y)
        body.append(f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="3" fill="{MARK}"><title>'
                    f"{cell(x)}: {cell(y)}</title></circle>")
    body += [_text(left + room / 2, bottom + 36, x_axis, "middle"),
             _text(14, bottom - height / 2, y_axis, "middle", True)]
    return _svg(title, bottom + 46, body)
