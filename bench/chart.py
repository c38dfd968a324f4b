"""The chart in docs/performance.md: CPU time of a unit of work on each system."""

import math
from collections.abc import Mapping
from html import escape

from bench.figures import Key, Summary
from bench.workloads import fanout

_WORKLOADS = {
    "trigger": "in-app trigger",
    fanout.NAME: "recipient of a fan-out",
    "external mail": "e-mail over SMTP",
    "external chat": "chat message",
}
_COLOURS = {
    "baseline": "#9aa0a6",
    "postgres": "#336791",
    "sqlite": "#0f9d7a",
    "floor storage postgres": "#c8d6e5",
    "floor storage sqlite": "#bfe5da",
    "floor http": "#e6dcc3",
}
_LEFT, _WIDTH, _RIGHT = 230, 560, 60
_BAR, _GAP, _FOOT = 18, 7, 28


def draw_cpu(summaries: Mapping[Key, Summary]) -> str:
    """Return an SVG with the CPU time of every system for every workload, on a logarithmic scale."""
    bars = [
        (f"{label}, {system}", summaries[Key(workload, system, "cpu_ms")].median, colour)
        for workload, label in _WORKLOADS.items()
        for system, colour in _COLOURS.items()
        if Key(workload, system, "cpu_ms") in summaries
    ]
    lowest = min((value for _, value, _ in bars if value), default=1.0)
    highest = max((value for _, value, _ in bars), default=1.0)
    start = math.floor(math.log10(lowest))
    scale = _WIDTH / max(math.log10(max(highest, lowest)) - start, 1)
    height = len(bars) * (_BAR + _GAP) + _FOOT
    box = f"0 0 {_LEFT + _WIDTH + _RIGHT} {height}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for place, (label, value, colour) in enumerate(bars):
        top = place * (_BAR + _GAP)
        width = max((math.log10(value) - start) * scale, 1) if value else 1
        middle = top + _BAR - 5
        parts += [
            f'<text x="{_LEFT - 8}" y="{middle}" text-anchor="end">{escape(label)}</text>',
            f'<rect x="{_LEFT}" y="{top}" width="{width:.1f}" height="{_BAR}" fill="{colour}"/>',
            f'<text x="{_LEFT + width + 5:.1f}" y="{middle}">{value:.3g}</text>',
        ]
    foot = "CPU time per unit of work in ms, all processes, median of the rounds (logarithmic)"
    return "\n".join([*parts, f'<text x="{_LEFT}" y="{height - 8}">{foot}</text>', "</svg>\n"])
