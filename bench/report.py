"""Reports of a run: a table in the terminal, and docs/performance.md."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console
from rich.table import Table

from bench.figures import Key, Summary, summarize
from bench.goals import MET, MISSED, NARROW, NOT_MEASURED, Verdict, judge
from bench.plan import LIMIT_MINUTES, Step
from bench.results import Record, Run
from bench.systems import CLARION, POSTGRES
from bench.workloads import pages, scaling

_OPENING = f"""\
# Performance

Written by `make bench` from one complete run of at most {LIMIT_MINUTES} minutes (`bench/results.jsonl`). It starts real
processes on loopback and loads one after the other, in interleaved rounds:

- **sqlite**: one `clarion serve`; **postgres**: one `clarion api`, one `clarion worker` and the database server.
- **baseline**: what a team would write itself (FastAPI, Celery on Redis, PostgreSQL), on the same database server.
- **floor http** and **floor storage** are the minimum cost of a trigger. The first is Clarion's own HTTP stack with no
  work behind it. The second writes the rows of a trigger with the bare driver, in batches of 128, into the real tables
  with the same durability: on SQLite into a copy of the store, on PostgreSQL into an empty database.

An in-app trigger is a realistic one: with idempotency key, condition, preferences, Liquid and the full log. It is
complete when its message is in the store, not when it is accepted.
"""

_METHOD = """\
## How to read this

- **CPU time per unit of work** is the most important figure: user and system time of all processes of a system,
  including the database server and children that have ended. It shows how much a core can do, and depends least on
  other work of the machine. Rates and latencies share the cores with the load client and its queries.
- Values are medians over the rounds, with the lowest and the highest in brackets. Compare only within one run. Goals
  that are ratios use the median of the ratios of each round.
- A goal is *narrow* if its value is within 10 % of the limit: another run may miss it. Nothing is measured again
  because a limit was missed.
- End-to-end times run from sending a trigger (in an open loop: when it was due) to the query that finds its message in
  the store. The store is queried every 4 ms, so times are too long by up to that and the length of a query, and never
  too short.
- These queries on PostgreSQL, and its checkpoints and autovacuum, count as CPU time of the system under measurement.
- SQL statements are all calls of the driver, including `BEGIN` and `COMMIT`; writing many rows at once is one call.
- The workload *20 environments* compares triggers of one environment (*alone*) with as many of twenty (*shared*). *Idle
  environments* sends 40 triggers a second, so that each costs a unit of work of its own: with two environments (*few*)
  and with 10 000 more (*many*). *Resting* is without any trigger. Its figures do not count the API.
- *Membership* has a backlog for four workers with a twentieth of a core each. A fifth starts, then one is killed.
  *Recovery* is the time until the rate is that of the workers that are alive. *Silence* is the longest time in which a
  lane with waiting work completed nothing. *Broken rules* counts lost and repeated work.
- *Hostile neighbour* sends 50 triggers a second and measures how long they take to be accepted: *alone*, and while
  another environment repeats requests that are as expensive as its limits allow (*attacked*).
- *Mails* compares one mail plain, as blocks in a layout, with a repeat of three items, and with six translated texts
  (*languages*: to people of eight languages), sent over SMTP to a server that takes 5 ms.
- Disk is the growth of the store for each completed trigger, after a checkpoint.
"""

_LISTS = """\
## Lists

The p95 in ms of one request at a time, at 10 000 messages (*small*) and at a million (*large*), and their ratio.
"""

_WORKERS = f"""\
## More workers

A backlog waits on PostgreSQL, then one, four and eight `clarion worker` processes complete it. A control group holds
each worker to {scaling.SHARE:.0%} of a core. Ratios compare with one worker. *Quota used* is the CPU time of the
workers as a share of what the quotas allow: well below 1, something else is the limit, which is PostgreSQL or the cores
of the machine. *PostgreSQL* is its CPU time for each unit of work, then the number of cores that it keeps busy.
"""


def print_plan(steps: Sequence[Step], limit_minutes: float, console: Console) -> None:
    """Print what a run will take, before it begins."""
    planned: Counter[str] = Counter()
    for step in steps:
        planned[step.workload] += round(step.seconds)
    table = Table("workload", "systems", "planned minutes", title="Plan")
    for workload, seconds in planned.items():
        systems = dict.fromkeys(step.system for step in steps if step.workload == workload)
        table.add_row(workload, ", ".join(systems), f"{seconds / 60:.1f}")
    console.print(table)
    console.print(f"{planned.total() / 60:.0f} minutes are planned; what is not done after {limit_minutes:.0f} is cut.")


def print_run(run: Run, console: Console) -> None:
    summaries = summarize(run.figures)
    systems = _systems(summaries)
    table = Table("workload", "figure", *systems, title=f"{run.date}, {run.commit}")
    for row in _rows(summaries, systems):
        table.add_row(*row)
    console.print(table)
    goals = Table("goal", "limit", "measured", "", title="Goals")
    for verdict in judge(summaries):
        if verdict.value is not None:
            goals.add_row(verdict.goal.text, _limit(verdict), _measured(verdict), verdict.word)
    console.print(goals)
    for line in _list_problems(run.records):
        console.print(line, markup=False)


def render_report(run: Run, picture: str) -> str:
    summaries = summarize(run.figures)
    verdicts = judge(summaries)
    own_tables = {pages.NAME, *(scaling.workload_name(kind, of) for kind in scaling.TITLES for of in scaling.WORKERS)}
    others = {key: summary for key, summary in summaries.items() if key.workload not in own_tables}
    systems = _systems(others)
    goals = [[one.goal.text, _limit(one), _measured(one), one.word] for one in verdicts]
    parts = [
        _OPENING,
        f"![CPU time per unit of work]({picture})\n",
        "## Goals\n",
        _count_verdicts(verdicts),
        *(f"- {line}" for line in _list_problems(run.records)),
        "",
        _markdown(["Goal", "Limit", "Measured", ""], goals),
        "## Figures\n",
        _markdown(["Workload", "Figure", *systems], _rows(others, systems)),
        *_render_lists(summaries),
        *_render_scaling(summaries),
        _METHOD,
        "## The run\n",
        _markdown(["", ""], [*_facts(run)]),
        _markdown(["Workload", "Planned minutes", "Took"], _list_times(run.records)),
    ]
    return "\n".join(parts)


def _count_verdicts(verdicts: Sequence[Verdict]) -> str:
    words = Counter(verdict.word for verdict in verdicts)
    return (
        f"Of {len(verdicts)} goals, {words[MET] + words[NARROW]} are met ({words[NARROW]} of them narrowly), "
        f"{words[MISSED]} missed and {words[NOT_MEASURED]} not measured.\n"
    )


def _list_problems(records: Sequence[Record]) -> list[str]:
    """Return a line for each reason why something was not measured."""
    workloads: dict[tuple[str, str], list[str]] = {}
    for record in records:
        if record.problem:
            workloads.setdefault((record.system, record.problem), []).append(record.workload)
    return [
        f"Not measured on {system}: {', '.join(names)}: {' '.join(problem.split())[:500]}."
        for (system, problem), names in workloads.items()
    ]


def _render_lists(summaries: Mapping[Key, Summary]) -> list[str]:
    names = dict.fromkeys(key.name.partition(":")[0] for key in summaries if key.workload == pages.NAME)
    parts = ("small", "large", "ratio")
    rows = [
        [
            name,
            *(
                "" if found is None else _number(found.median)
                for system in CLARION
                for part in parts
                for found in [summaries.get(Key(pages.NAME, system, f"{name}: p95 {part}"))]
            ),
        ]
        for name in names
    ]
    head = ["List", *(f"{system}, {part}" for system in CLARION for part in parts)]
    return [_LISTS, _markdown(head, rows)] if rows else []


def _render_scaling(summaries: Mapping[Key, Summary]) -> list[str]:
    head = ["Work", "Workers", "Per second", "Ratio", "Worker CPU", "PostgreSQL", "PostgreSQL cores", "Quota used"]
    rows = [
        row for kind in scaling.TITLES for workers in scaling.WORKERS if (row := _scaling_row(summaries, kind, workers))
    ]
    return [_WORKERS, _markdown(head, rows)] if rows else []


def _scaling_row(summaries: Mapping[Key, Summary], kind: str, workers: int) -> list[str]:
    """Return the figures of a number of workers, nothing if they were not measured."""

    def median(name: str, of: int = workers) -> float:
        return summaries[Key(scaling.workload_name(kind, of), POSTGRES, name)].median

    if Key(scaling.workload_name(kind, workers), POSTGRES, "per_second") not in summaries:
        return []
    return [
        scaling.TITLES[kind],
        str(workers),
        _number(median("per_second")),
        f"{median('per_second') / median('per_second', 1):.2f}",
        f"{_number(median('cpu_worker_ms'))} ms",
        f"{_number(median('cpu_postgres_ms'))} ms",
        _number(median("postgres_cores")),
        _number(median("quota_used")),
    ]


def _facts(run: Run) -> Iterable[list[str]]:
    yield ["Commit", run.commit]
    yield ["Date", f"{run.date} UTC"]
    yield ["Took", f"{run.seconds / 60:.0f} minutes"]
    for name, value in run.machine.items():
        yield [name, value]


def _list_times(records: Sequence[Record]) -> list[list[str]]:
    planned: Counter[str] = Counter()
    took: Counter[str] = Counter()
    for record in records:
        planned[record.workload] += round(record.planned_seconds)
        took[record.workload] += round(record.seconds)
    return [[name, f"{planned[name] / 60:.1f}", f"{took[name] / 60:.1f}"] for name in planned]


def _systems(summaries: Mapping[Key, Summary]) -> list[str]:
    return list(dict.fromkeys(key.system for key in summaries))


def _rows(summaries: Mapping[Key, Summary], systems: Sequence[str]) -> list[list[str]]:
    """Return a row for each figure, with a column for each system."""
    lines = dict.fromkeys((key.workload, key.name) for key in summaries)
    rows = []
    for workload, name in sorted(lines, key=lambda line: _place(line[0], summaries)):
        cells = [summaries.get(Key(workload, system, name)) for system in systems]
        unit = next(cell.unit for cell in cells if cell is not None)
        rows.append([workload, _label(name, unit), *("" if cell is None else _cell(cell) for cell in cells)])
    return rows


def _place(workload: str, summaries: Mapping[Key, Summary]) -> int:
    """Return the position of a workload's first figure, so that its figures are listed together."""
    return [key.workload for key in summaries].index(workload)


def _label(name: str, unit: str) -> str:
    """Return `cpu (ms)` for `cpu_ms`; a unit that is part of the name in words is not repeated."""
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
    """Round to three digits, which is more than these measurements are precise."""
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}"


def _markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
