"""Child processes: each has its own session and is always stopped."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.client import make_request, send_one

ROOT = Path(__file__).parents[1]
_STOP_SECONDS = 25
_START_SECONDS = 60


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
