"""A log file that is rotated by a real rename, SIGHUP, and what the log says of variables that are no settings."""

import asyncio
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from tests.processes import COMMAND, clean_environ


async def until(condition: Callable[[], bool], address: str) -> None:
    """Send requests, each of which is a line of the log, until the condition holds."""
    async with asyncio.timeout(30), httpx.AsyncClient() as client:
        while not condition():
            assert (await client.get(f"{address}/v1/health-check")).status_code == 200
            await asyncio.sleep(0.05)


class Service(NamedTuple):
    """A `clarion serve` without a terminal, as a supervisor runs it."""

    popen: subprocess.Popen[bytes]
    address: str

    def stop(self) -> int:
        self.popen.terminate()
        return self.popen.wait(timeout=30)


@pytest.fixture
def serve() -> Iterator[Callable[..., Service]]:
    """Start a service, and wait until its log says that it has started."""
    with ExitStack() as running:

        def run(log: Path, **environ: str) -> Service:
            process = subprocess.Popen(
                [*COMMAND, "serve"],
                env=clean_environ(environ | {"CLARION_LOG_FILE": str(log)}),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            running.callback(process.wait)
            running.callback(process.kill)
            while not (log.exists() and (found := re.search(r'"address":"(http[^"]+)"', log.read_text()))):
                assert process.poll() is None
                time.sleep(0.05)
            return Service(process, found[1])

        yield run


async def test_a_renamed_log_file_is_opened_again_with_a_signal_and_without(
    serve: Callable[..., Service], tmp_path: Path
) -> None:
    log, older, old = (tmp_path / name for name in ("clarion.log", "clarion.log.2", "clarion.log.1"))
    process = serve(log, CLARION_DATA_DIR=str(tmp_path / "data"), CLARION_PROT="1")
    await until(lambda: "/v1/health-check" in log.read_text(), process.address)

    log.rename(older)
    process.popen.send_signal(signal.SIGHUP)
    await until(lambda: log.exists() and "/v1/health-check" in log.read_text(), process.address)
    log.rename(old)
    await until(lambda: log.exists() and "/v1/health-check" in log.read_text(), process.address)

    assert process.stop() == 0
    assert '"variable":"CLARION_PROT","nearest":"CLARION_PORT"' in older.read_text()
    assert "SIGHUP" in old.read_text()
    assert "SIGHUP" not in log.read_text()


async def test_a_log_file_whose_folder_is_gone_fails_no_request(serve: Callable[..., Service], tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    process = serve(folder / "clarion.log", CLARION_DATA_DIR=str(tmp_path / "data"))
    (folder / "clarion.log").unlink()
    folder.rmdir()

    await until(lambda: True, process.address)
    process.popen.send_signal(signal.SIGHUP)
    async with httpx.AsyncClient() as client:
        assert (await client.get(f"{process.address}/v1/health-check")).status_code == 200
        folder.mkdir()
        await until((folder / "clarion.log").exists, process.address)


def test_a_log_file_that_cannot_be_written_is_refused_with_its_setting(
    run_command: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    done = run_command("serve", CLARION_DATA_DIR=str(tmp_path), CLARION_LOG_FILE=str(tmp_path / "none" / "x.log"))

    assert done.returncode == 2
    assert "CLARION_LOG_FILE" in done.stderr


def test_a_terminal_that_closes_ends_the_process_in_order(tmp_path: Path) -> None:
    master, terminal = os.openpty()
    # The process inherits this; under `nohup` the signal would be ignored.
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    process = subprocess.Popen(
        [*COMMAND, "serve"],
        env=clean_environ({"CLARION_DATA_DIR": str(tmp_path)}),
        stdin=terminal,
        stdout=terminal,
        stderr=subprocess.DEVNULL,
    )
    os.close(terminal)
    signal.signal(signal.SIGHUP, before)
    try:
        with os.fdopen(master) as output:
            while "API reference" not in output.readline():
                assert process.poll() is None
            process.send_signal(signal.SIGHUP)
            assert process.wait(timeout=30) == 0
    finally:
        process.kill()
        process.wait()
