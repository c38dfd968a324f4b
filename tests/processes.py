"""Fixtures that start, stop and kill real `clarion` processes."""

import os
import re
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile

import httpx
import pytest

from tests import preloaded
from tests.preloaded import PreloadedProcess, Starter
from tests.servers import empty_database

COMMAND = [sys.executable, "-m", "clarion"]
FIRST_LINES = 12
_COMMAND_SECONDS = 60
_starter = Starter()


def clean_environ(given: dict[str, str]) -> dict[str, str]:
    """Return the environment variables without CLARION_… settings, with a free port and the given variables."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CLARION_")}
    return kept | {"CLARION_PORT": "0"} | given


class Process:
    """A running `clarion serve`, `clarion api` or `clarion worker`, and the first lines of its output."""

    def __init__(
        self,
        arguments: list[str],
        environ: dict[str, str],
        *,
        log: Path | None = None,
        open_files: tuple[int, int] | None = None,
        entry: Sequence[str] = (),
    ) -> None:
        """Start it, or what `entry` says; `open_files` are the soft and the hard limit that it starts with."""
        if entry and open_files:
            raise ValueError("limits of open files are set by the preloaded process, which runs no other entry")
        variables = clean_environ(environ)
        with Path(log or os.devnull).open("w") as errors:
            if entry:
                readable, writable = preloaded.open_terminal()
                self.popen: subprocess.Popen[str] | PreloadedProcess = subprocess.Popen(
                    [sys.executable, *entry, *arguments],
                    env=variables,
                    stdin=subprocess.DEVNULL,
                    stdout=writable,
                    stderr=errors,
                    text=True,
                )
                os.close(writable)
                self.popen.stdout = os.fdopen(readable)
            else:
                asked = preloaded.Start(arguments, variables, str(Path.cwd()), open_files)
                self.popen = _starter.start(asked, errors, at_terminal=True)
        self.output = self._read_start()
        found = re.search(r"http://[\d.]+:\d+| works on ", self.output)
        if not found:
            self.close()
        assert found, f"it did not start: {self.output!r}"
        self.address = found[0]

    @property
    def keys(self) -> dict[str, str]:
        return dict(re.findall(r"^ +(Development|Production) +(\S+)$", self.output, re.MULTILINE))

    @property
    def curl_line(self) -> list[str]:
        (line,) = [line for line in self.output.splitlines() if "curl" in line and "Authorization" in line]
        return shlex.split(line)

    def client(self, key: str) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=self.address, headers={"Authorization": f"ApiKey {key}"}, timeout=30)

    def kill(self) -> None:
        self.popen.kill()
        self.popen.wait()

    def pause(self) -> None:
        self.popen.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self.popen.send_signal(signal.SIGCONT)

    def stop(self) -> int:
        self.popen.send_signal(signal.SIGTERM)
        return self.popen.wait(timeout=30)

    def close(self) -> None:
        if self.popen.poll() is None:
            self.kill()
        assert self.popen.stdout is not None
        self.popen.stdout.close()

    def _read_start(self) -> str:
        assert self.popen.stdout is not None
        lines = []
        for _ in range(FIRST_LINES):
            line = ""
            # The other end of a terminal that closes is an error.
            with suppress(OSError):
                line = self.popen.stdout.readline()
            lines.append(line)
            if not line or "API reference" in line or " works on " in line:
                break
        return "".join(lines)


Start = Callable[..., Process]


@pytest.fixture(scope="session", autouse=True)
def _starter_end() -> Iterator[None]:
    yield
    _starter.close()


@pytest.fixture
def start() -> Iterator[Start]:
    """Start `clarion` with arguments on a free port; processes that still run at the end of the test are killed."""
    running: list[Process] = []

    def run(*arguments: str, **environ: str) -> Process:
        process = Process([*arguments], environ)
        running.append(process)
        return process

    yield run
    for process in running:
        process.close()


@pytest.fixture
def run_command() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a `clarion` command to its end."""

    def run(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        with TemporaryFile("w+") as errors:
            start = preloaded.Start([*arguments], clean_environ(environ), str(Path.cwd()))
            process = _starter.start(start, errors)
            deadline = threading.Timer(_COMMAND_SECONDS, process.kill)
            deadline.start()
            with process.stdout as output:
                printed = output.read()
            status = process.wait()
            deadline.cancel()
            if status == -signal.SIGKILL:
                raise subprocess.TimeoutExpired(arguments, _COMMAND_SECONDS, printed)
            errors.seek(0)
            return subprocess.CompletedProcess(arguments, status, printed, errors.read())

    return run


@pytest.fixture
async def fresh_postgres_url(postgres_url: str) -> AsyncIterator[str]:
    """An empty PostgreSQL database for one test."""
    async with empty_database(postgres_url) as url:
        yield url


@pytest.fixture
async def migrated_postgres_url(postgres_url: str, template: str) -> AsyncIterator[str]:
    """A migrated PostgreSQL database without rows, for one test."""
    async with empty_database(postgres_url, template) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    """Command-line options for a store without rows; on PostgreSQL it is migrated."""
    options = ["--data-dir", str(tmp_path / "data")]
    if request.param == "postgresql":
        options += ["--database-url", request.getfixturevalue("migrated_postgres_url")]
    return options
