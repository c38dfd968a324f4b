"""The chart in docs/performance.md: CPU time of a unit of work on each system."""

from collections.abc import Mapping
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure as Picture

from bench.figures import Key, Summary

_WORKLOADS = {
    "trigger": "in-app trigger",
    "bulk": "trigger in bulk",
    "fan-out 100000": "recipient of a fan-out",
    "digest": "digested event",
}
_COLOURS = {
    "baseline": "#9aa0a6",
    "postgres": "#336791",
    "sqlite": "#0f9d7a",
    "floor storage postgres": "#c8d6e5",
    "floor storage sqlite": "#bfe5da",
    "floor http": "#e6dcc3",
}


def plot_cpu(summaries: Mapping[Key, Summary], path: Path) -> None:
    """Draw the CPU time of every system for every workload, on a logarithmic scale."""
    bars = [
        (f"{label}, {system}", summaries[Key(workload, system, "cpu_ms")], colour)
        for workload, label in _WORKLOADS.items()
        for system, colour in _COLOURS.items()
        if Key(workload, system, "cpu_ms") in summaries
    ]
    picture = Picture(figsize=(9, 0.6 + 0.34 * len(bars)), layout="constrained")
    axes = picture.subplots()
    for place, (_, summary, colour) in enumerate(bars):
        axes.barh(place, summary.median, color=colour)
        axes.text(summary.median, place, f" {summary.median:.3g}", va="center", fontsize=8)
    axes.set_yticks(range(len(bars)), [label for label, _, _ in bars], fontsize=8)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel("CPU time per unit of work in ms, all processes, median of the rounds (logarithmic)", fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    # A fixed salt: the same figures give the same file.
    with mpl.rc_context({"svg.hashsalt": "clarion"}):
        picture.savefig(path, format="svg", metadata={"Date": None})
