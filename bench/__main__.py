"""`python -m bench run | report | profile | migrations | dashboard`."""

import argparse
import asyncio
import signal
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import uvloop
from rich.console import Console

from bench.dashboard import measure_dashboard
from bench.figures import summarize
from bench.migrations import describe, measure_migrations
from bench.plan import STANDALONE_WORKLOADS, WORKLOADS
from bench.plot import plot_cpu
from bench.processes import ROOT
from bench.profile import profile
from bench.report import print_run, render_report
from bench.results import find_latest, read_run, update_run, write_run
from bench.rounds import run_rounds
from bench.systems import CLARION, PEOPLE, SQLITE
from clarion.db.revisions import list_known_revisions

_NAMES = [one.name for one in (*WORKLOADS, *STANDALONE_WORKLOADS)]
_DOCUMENT = ROOT / "docs" / "performance.md"
_PICTURE = ROOT / "docs" / "performance.svg"
_WIDE = 200
_console = Console() if sys.stdout.isatty() else Console(width=_WIDE)


def main() -> None:
    arguments = _arguments()
    if arguments.command == "run":
        run = _run_until_stopped(run_rounds(arguments.rounds, arguments.only, people=arguments.people))
        former = find_latest()
        if arguments.update and former is not None:
            run = update_run(read_run(former), run)
        print_run(run, _console)
        if arguments.update or not arguments.only:
            _console.print(f"Written to {write_run(run).relative_to(ROOT)}")
    elif arguments.command == "migrations":
        figures = _run_until_stopped(
            measure_migrations(arguments.rows, arguments.since, in_steps_only=arguments.in_steps)
        )
        _console.print(describe(figures, arguments.since))
    elif arguments.command == "dashboard":
        figures = _run_until_stopped(measure_dashboard(arguments.system, arguments.seconds, sizes=arguments.sizes))
        _console.print("\n".join(f"{one.name}: {one.text}" for one in figures))
    elif arguments.command == "report":
        _write_report(arguments.file or find_latest())
    else:
        _run_until_stopped(profile(arguments.workload, arguments.system))


def _write_report(result: Path | None) -> None:
    if result is None:
        sys.exit("There is no result yet: python -m bench run")
    run = read_run(result)
    plot_cpu(summarize(run.figures), _PICTURE)
    _DOCUMENT.write_text(render_report(run, _PICTURE.name))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="measure and print a table; a full run writes bench/results/<date>.json")
    run.add_argument("--rounds", type=int, default=6)
    run.add_argument("--only", type=_workloads, default=[], metavar="NAME,…", help=", ".join(_NAMES))
    run.add_argument("--update", action="store_true", help="replace these workloads in the newest result")
    run.add_argument("--people", type=int, default=PEOPLE, help="recipients of the largest broadcast of `scaling`")
    report = commands.add_parser(
        "report", help="write docs/performance.md from the newest result, or from a given file"
    )
    report.add_argument("file", type=Path, nargs="?")
    profiling = commands.add_parser("profile", help="flame graphs and SQL statements of one workload")
    profiling.add_argument("workload", choices=[one.name for one in WORKLOADS if SQLITE in one.systems])
    profiling.add_argument("system", choices=CLARION)
    migrations = commands.add_parser("migrations", help="how long writers wait while a PostgreSQL is migrated")
    migrations.add_argument("--rows", type=int, default=1_000_000)
    migrations.add_argument("--since", default=list_known_revisions()[-1], help="the schema to begin with")
    migrations.add_argument("--in-steps", action="store_true", help="only as the service does it")
    dashboard = commands.add_parser("dashboard", help="a live tail in a browser, and Activity with many runs")
    dashboard.add_argument("--system", choices=CLARION, default=SQLITE)
    dashboard.add_argument("--seconds", type=int, default=20, help="of load, six times; 0 leaves the tail out")
    dashboard.add_argument("--sizes", action="store_true", help="also open Activity with ten million runs")
    return parser.parse_args()


def _workloads(text: str) -> list[str]:
    names = text.split(",")
    unknown = [name for name in names if name not in _NAMES]
    if unknown:
        raise argparse.ArgumentTypeError(f"{unknown[0]} is none of {', '.join(_NAMES)}")
    return names


def _run_until_stopped(work: Coroutine[Any, Any, Any]) -> Any:
    """Run to the end, or until SIGINT or SIGTERM; then stop all started processes before leaving."""

    async def run() -> Any:
        task = asyncio.ensure_future(work)
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
        return await task

    try:
        return uvloop.run(run())
    except asyncio.CancelledError:
        sys.exit("Stopped.")


if __name__ == "__main__":
    main()
