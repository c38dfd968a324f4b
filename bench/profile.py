"""Profiles a workload: a flame graph for each process, and its SQL statements."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.plan import SHARED, SharedWorkload
from bench.processes import ROOT
from bench.stores import open_store
from bench.systems import System, open_site, start_clarion
from bench.traced import Statement, read_statements, reset_statements, traced_system

FOLDER = ROOT / "bench" / "profiles"
_SAMPLES_A_SECOND = "250"
_MAX_STATEMENTS = 40

_console = Console() if sys.stdout.isatty() else Console(width=200)


async def profile(name: str, kind: str) -> None:
    """Run the workload twice, so that counting statements does not show in the flame graphs."""
    (workload,) = [one for one in SHARED if one.name == name]
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open_site() as site:
        async with start_clarion(kind, site, "plain") as system:
            await _prepare(workload, system)
            with _recording(workload.name, system):
                await workload.measure(system)
        async with traced_system(kind, site) as system:
            await _prepare(workload, system)
            await reset_statements(system)
            before = await _count_messages(system)
            await workload.measure(system)
            messages = await _count_messages(system) - before
        _print_statements(read_statements(system.folder), messages, f"{name} on {kind}")


async def _prepare(workload: SharedWorkload, system: System) -> None:
    """Prepare single triggers first, because other workloads use what they prepare."""
    for one in dict.fromkeys((SHARED[0], workload)):
        await one.prepare(system)


@contextmanager
def _recording(name: str, system: System) -> Iterator[None]:
    """Sample all Clarion processes while the body runs."""
    with ExitStack() as recorders:
        for part, pids in system.own_groups.items():
            path = FOLDER / f"{name}-{system.kind}-{part}.svg"
            recorders.enter_context(_recorder(pids[0], path))
        yield


@contextmanager
def _recorder(pid: int, path: Path) -> Iterator[None]:
    command = [str(Path(sys.executable).with_name("py-spy")), "record", "--pid", str(pid), "--output", str(path)]
    options = ["--threads", "--rate", _SAMPLES_A_SECOND, "--nonblocking"]
    process = subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)
    if not path.exists():
        raise RuntimeError(f"py-spy wrote no {path.name}; it needs the right to trace processes (ptrace)")
    _console.print(f"Flame graph: {path.relative_to(ROOT)}")


async def _count_messages(system: System) -> int:
    async with open_store(system) as store:
        return await store.count_messages()


def _print_statements(statements: list[Statement], messages: int, title: str) -> None:
    """Print the cost of each statement, in total and for each message; without messages the workload is one unit."""
    units = max(messages, 1)
    table = Table("calls", "ms", "calls a message", "µs a message", "SQL", title=f"{title}: {messages} messages")
    for one in statements[:_MAX_STATEMENTS]:
        shares = (f"{one.calls / units:.3f}", f"{one.seconds * 1e6 / units:.1f}")
        table.add_row(str(one.calls), f"{one.seconds * 1000:.0f}", *shares, one.text[:160])
    total = sum(one.calls for one in statements)
    _console.print(table)
    _console.print(f"{total} calls of the driver, {total / units:.2f} a message")
