"""Telling what a run has found: a table in the terminal, and docs/performance.md."""

from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console
from rich.table import Table

from bench.figures import Key, Summary, summarize
from bench.goals import Verdict, judge
from bench.results import Run

_OPENING = """\
# Performance

Made by `make bench` (`python -m bench report` renews this page from the newest file in `bench/results/`). One command
starts real processes on loopback and puts them under load one after the other, in interleaved rounds:

- **sqlite**: one `clarion serve`; **postgres**: one `clarion api`, one `clarion worker` and the database server.
- **baseline**: what a team would write instead (FastAPI, Celery on Redis, PostgreSQL), on the same database server.
- **floor http**: Clarion's own HTTP stack with nothing behind it; **floor storage**: the rows of a trigger written
  in batches of 128 by the bare driver into the real tables, as durably: on SQLite into a copy of the store that the
  others write to, on PostgreSQL into an empty database.

An in-app trigger has all that a real one has: an idempotency key, a condition, preferences, Liquid, the full log. It is
complete when its message is in the store, not when it is accepted.
"""

_METHOD = """\
## How to read this

- **CPU time per unit of work** is the figure that counts: user and system time of all processes of a system, the
  database server included, children that have ended too. It says what a core can carry, and moves least with whatever
  else the machine does. Rates and latencies share the cores with the load client and its database look-ups.
- Values are medians over the rounds, with the lowest and the highest in brackets; compare only within one run. The
  ratios of the goals are taken within each round, and their median is told.
- End-to-end times run from sending a trigger (when it was due, in an open loop) to a look into the store that finds its
  message. Looks are 4 ms apart, so times are too long by up to that and the length of a look, and never too short.
- The look-ups on PostgreSQL and its own upkeep (checkpoints, autovacuum) count as CPU time of whoever is measured then.
- SQL statements are all calls of the driver, `BEGIN` and `COMMIT` among them; writing many rows at once is one call.
- Disk is what the store has grown by a completed trigger, its log written back.
"""


def print_run(run: Run, console: Console) -> None:
    summaries = summarize(run.figures)
    systems = _systems(summaries)
    table = Table("workload", "figure", *systems, title=f"{run.date}, {run.rounds} rounds")
    for row in _rows(summaries, systems):
        table.add_row(*row)
    console.print(table)
    goals = Table("goal", "limit", "measured", "", title="Goals")
    for one in judge(summaries):
        goals.add_row(one.goal.text, _limit(one), _measured(one), one.word)
    console.print(goals)
    for note in run.notes:
        console.print(note)


def render_report(run: Run, picture: str) -> str:
    summaries = summarize(run.figures)
    systems = _systems(summaries)
    goals = [[one.goal.text, _limit(one), _measured(one), one.word] for one in judge(summaries)]
    parts = [
        _OPENING,
        f"![CPU time per unit of work]({picture})\n",
        "## Goals\n",
        _markdown(["Goal", "Limit", "Measured", ""], goals),
        "## Figures\n",
        _markdown(["Workload", "Figure", *systems], _rows(summaries, systems)),
        _METHOD,
        "## The run\n",
        _markdown(["", ""], [*_facts(run)]),
        *(f"{note}\n" for note in run.notes),
    ]
    return "\n".join(parts)


def _facts(run: Run) -> Iterable[list[str]]:
    yield ["Date", f"{run.date} UTC"]
    yield ["Rounds", str(run.rounds)]
    yield ["Took", f"{run.seconds / 60:.0f} minutes"]
    for name, value in run.machine.items():
        yield [name, value]


def _systems(summaries: Mapping[Key, Summary]) -> list[str]:
    return list(dict.fromkeys(key.system for key in summaries))


def _rows(summaries: Mapping[Key, Summary], systems: Sequence[str]) -> list[list[str]]:
    """A line for each figure, a column for each system."""
    lines = dict.fromkeys((key.workload, key.name) for key in summaries)
    rows = []
    for workload, name in sorted(lines, key=lambda line: _place(line[0], summaries)):
        cells = [summaries.get(Key(workload, system, name)) for system in systems]
        unit = next(cell.unit for cell in cells if cell is not None)
        rows.append([workload, _label(name, unit), *("" if cell is None else _cell(cell) for cell in cells)])
    return rows


def _place(workload: str, summaries: Mapping[Key, Summary]) -> int:
    """Where a workload was first seen, so that its figures stand together."""
    return [key.workload for key in summaries].index(workload)


def _label(name: str, unit: str) -> str:
    """`cpu_ms` is shown as `cpu (ms)`; a unit that the name says in words is not repeated."""
    if not unit or name.endswith(("per_second", "seconds")):
        return name.replace("_", " ")
    return f"{name.removesuffix(f'_{unit.lower()}').replace('_', ' ')} ({unit})"


def _cell(summary: Summary) -> str:
    middle = _number(summary.median)
    if len(summary.values) == 1:
        return middle
    return f"{middle} ({_number(summary.lowest)}–{_number(summary.highest)})"


def _limit(verdict: Verdict) -> str:
    goal = verdict.goal
    return f"{goal.sign} {_number(goal.limit)} {goal.unit}".rstrip()


def _measured(verdict: Verdict) -> str:
    return "–" if verdict.value is None else f"{_number(verdict.value)} {verdict.goal.unit}".rstrip()


def _number(value: float) -> str:
    """Three figures are more than such measurements are good for."""
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}"


def _markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
