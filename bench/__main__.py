"""`python -m bench run | report | compare | profile | migrations | dashboard`."""

import argparse
import asyncio
import signal
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import uvloop
from rich.console import Console

from bench.baseline import install_baseline
from bench.chart import draw_cpu
from bench.compare import compare
from bench.dashboard import measure_dashboard
from bench.figures import summarize
from bench.migrations import describe, measure_migrations
from bench.plan import LIMIT_MINUTES, SHARED, WORKLOADS, plan_steps
from bench.processes import ROOT
from bench.profile import profile
from bench.report import print_plan, print_run, render_report
from bench.results import FILE, PartialRunError, read_run, require_complete, write_run
from bench.run import run_plan
from bench.systems import BASELINE, CLARION, SQLITE, open_site
from clarion.db.migrations.revisions import list_known_revisions

_NAMES = [workload.name for workload in WORKLOADS]
_DOCUMENT = ROOT / "docs" / "performance.md"
_PICTURE = ROOT / "docs" / "performance.svg"
_MESSAGES = 1_000_000
_QUICK_SCALE = 0.05
_COMPARED_SCALE = 0.25
_WIDE = 200
_console = Console() if sys.stdout.isatty() else Console(width=_WIDE)


def main() -> None:
    arguments = _arguments()
    if arguments.command == "run":
        _run(arguments)
    elif arguments.command == "migrations":
        figures = _run_until_stopped(
            measure_migrations(arguments.rows, arguments.since, in_steps_only=arguments.in_steps)
        )
        _console.print(describe(figures, arguments.since))
    elif arguments.command == "dashboard":
        figures = _run_until_stopped(measure_dashboard(arguments.system, arguments.seconds, sizes=arguments.sizes))
        _console.print("\n".join(f"{one.name}: {one.text}" for one in figures))
    elif arguments.command == "compare":
        with open_site(scale=arguments.scale) as site:
            work = compare(site, arguments.system, arguments.revision, rounds=arguments.rounds)
            _console.print("\n".join(one.describe() for one in _run_until_stopped(work)))
    elif arguments.command == "report":
        _write_report(arguments.file)
    else:
        _run_until_stopped(profile(arguments.workload, arguments.system))


def _run(arguments: argparse.Namespace) -> None:
    """Only a complete run is written to the file that the page is made from."""
    steps = plan_steps(arguments.only, rounds=1 if arguments.quick else arguments.rounds)
    print_plan(steps, arguments.minutes, _console)
    if any(step.system == BASELINE for step in steps):
        install_baseline()
    with open_site(scale=_QUICK_SCALE if arguments.quick else 1.0, messages=arguments.messages) as site:
        run = _run_until_stopped(run_plan(site, steps, limit_seconds=arguments.minutes * 60))
        print_run(run, _console)
        if not (arguments.quick or arguments.only):
            write_run(run)
            _console.print(f"Written to {FILE.relative_to(ROOT)}")
    if arguments.quick and any(record.problem for record in run.records if record.system != BASELINE):
        sys.exit("Not all workloads ran through.")


def _write_report(result: Path) -> None:
    if not result.exists():
        sys.exit("There is no result yet: python -m bench run")
    run = read_run(result)
    try:
        require_complete(run, _NAMES)
    except PartialRunError as error:
        sys.exit(f"The page is made from a complete run; in this one, {error}.")
    _PICTURE.write_text(draw_cpu(summarize(run.figures)))
    _DOCUMENT.write_text(render_report(run, _PICTURE.name))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help=f"measure and print a table; a complete run writes {FILE.relative_to(ROOT)}")
    run.add_argument("--only", type=_workloads, default=[], metavar="NAME,…", help=", ".join(_NAMES))
    run.add_argument("--quick", action="store_true", help="try the workloads with small counts")
    run.add_argument("--rounds", type=int, help="of the workloads that are measured in rounds; with --only")
    run.add_argument(
        "--messages", type=int, default=_MESSAGES, help="in the store of `pages` and `retention`; with --only"
    )
    run.add_argument("--minutes", type=float, default=LIMIT_MINUTES, help="after which the run is cut")
    report = commands.add_parser("report", help="write docs/performance.md from the result of a complete run")
    report.add_argument("file", type=Path, nargs="?", default=FILE)
    comparing = commands.add_parser("compare", help="CPU time beside that of an earlier revision, in turns")
    comparing.add_argument("revision")
    comparing.add_argument("--system", choices=CLARION, default=SQLITE)
    comparing.add_argument("--rounds", type=int, default=20)
    comparing.add_argument("--scale", type=float, default=_COMPARED_SCALE, help="1 is as large as in a run")
    profiling = commands.add_parser("profile", help="flame graphs and SQL statements of one workload")
    profiling.add_argument("workload", choices=[workload.name for workload in SHARED if SQLITE in workload.systems])
    profiling.add_argument("system", choices=CLARION)
    migrations = commands.add_parser("migrations", help="how long writers wait while a PostgreSQL is migrated")
    migrations.add_argument("--rows", type=int, default=1_000_000)
    before_the_newest = list_known_revisions()[-2:][0]
    migrations.add_argument("--since", default=before_the_newest, help="the schema to begin with")
    migrations.add_argument("--in-steps", action="store_true", help="only as the service does it")
    dashboard = commands.add_parser("dashboard", help="a live tail in a browser, and Activity with many runs")
    dashboard.add_argument("--system", choices=CLARION, default=SQLITE)
    dashboard.add_argument("--seconds", type=int, default=20, help="of load, six times; 0 leaves the tail out")
    dashboard.add_argument("--sizes", action="store_true", help="also open Activity with ten million runs")
    arguments = parser.parse_args()
    if arguments.command == "run" and not arguments.only and (arguments.rounds or arguments.messages != _MESSAGES):
        parser.error("--rounds and --messages need --only: a complete run follows the plan")
    return arguments


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
