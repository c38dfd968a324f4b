"""Child processes, always stopped at the end; CPU time and memory of processes, by part of a system."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
from msgspec import Struct

from bench.client import make_request, send_one

ROOT = Path(__file__).parents[1]
_STOP_SECONDS = 25
_START_SECONDS = 60

Groups = Mapping[str, Sequence[int]]
"""Process ids by part: `{"api": [12], "worker": [13], "postgres": [9]}`. Children count with their parent."""


@contextmanager
def running(
    command: Sequence[str], *, environ: Mapping[str, str], log: Path, folder: Path = ROOT
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command while the body runs; its output goes to `log`."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            command, env=dict(environ), cwd=folder, stdout=output, stderr=output, start_new_session=True
        )
    try:
        yield process
    finally:
        stop(process)


def stop(process: subprocess.Popen[bytes]) -> None:
    """Terminate a process; kill it with all its children if it does not stop in time."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def python_command(module: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", module, *arguments]


def clean_environ(given: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables without CLARION_… settings, plus the given ones."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CLARION_")}
    return kept | dict(given)


async def wait_for_answer(address: str, path: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait for the first 200 response; raise with the end of the log if the process exits or takes too long."""
    until = time.monotonic() + _START_SECONDS
    request = make_request("GET", path)
    while time.monotonic() < until and process.poll() is None:
        try:
            if (await send_one(address, request)).status == 200:
                return
        except OSError:
            await asyncio.sleep(0.01)
    raise RuntimeError(f"it did not start: {log.read_text()[-2000:]}")


class Memory(Struct, frozen=True):
    """Resident bytes count a shared page for each process; proportional bytes divide it among them."""

    resident: int
    proportional: int


def cpu_seconds(groups: Groups) -> dict[str, float]:
    """Return the user and system time of each part so far, including children that have ended.

    When a parent has waited for a child, the child's time is part of the parent's, so nothing is lost or counted twice
    between two calls.
    """
    return {part: sum(map(_cpu_of, _trees(pids))) for part, pids in groups.items()}


def cpu_between(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    return {part: after[part] - before[part] for part in after}


def memory(groups: Groups) -> dict[str, Memory]:
    return {part: _memory_of(list(_trees(pids))) for part, pids in groups.items()}


@contextmanager
def suspended(*others: Groups) -> Iterator[None]:
    """Suspend processes while the body runs, so that their idle work does not disturb the measurement."""
    processes = [process for groups in others for pids in groups.values() for process in _trees(pids)]
    try:
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.suspend()
        yield
    finally:
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.resume()


def _trees(pids: Sequence[int]) -> Iterator[psutil.Process]:
    for pid in pids:
        with suppress(psutil.NoSuchProcess):
            process = psutil.Process(pid)
            yield process
            yield from process.children(recursive=True)


def _cpu_of(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    used: float = times.user + times.system + times.children_user + times.children_system
    return used


def _memory_of(processes: Sequence[psutil.Process]) -> Memory:
    resident = proportional = 0
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            found = process.memory_full_info()
            resident += found.rss
            proportional += found.pss
    return Memory(resident, proportional)
