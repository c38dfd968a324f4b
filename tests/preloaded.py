"""Starts `clarion` processes as copies of one that has imported its modules: that takes a fraction of the CPU time.

They are processes of their own like any other. `python -m tests.preloaded FD` is the one that is copied: it reads what
to start from the socket FD, and answers on a socket of each process with its number and, at its end, its exit status.
"""

import atexit
import gc
import os
import resource
import selectors
import signal
import socket
import subprocess
import sys
import tty
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import IO

import msgspec
from msgspec import Struct

_MAX_BYTES = 100_000
_IMPORTED_LATER = ("uvloop",)
"""By the server."""


class Start(Struct):
    """What to start."""

    arguments: list[str]
    environ: dict[str, str]
    folder: str
    open_files: tuple[int, int] | None = None
    """The soft and the hard limit of open files."""


def open_terminal() -> tuple[int, int]:
    """A terminal for the output of a process, and the end to read it from: there it shows keys and links."""
    readable, writable = os.openpty()
    tty.setraw(writable)
    return readable, writable


class PreloadedProcess:
    """A started process, with what tests use of `subprocess.Popen`."""

    def __init__(self, answers: socket.socket, stdout: IO[str]) -> None:
        self._answers = answers
        self.pid = int(answers.recv(16))
        self.returncode: int | None = None
        self.stdout = stdout

    def poll(self) -> int | None:
        if self.returncode is None:
            self._receive_end(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            self._receive_end(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired("clarion", timeout or 0)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            # It may have ended a moment ago, before its end is reported.
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _receive_end(self, timeout: float | None) -> None:
        self._answers.settimeout(timeout)
        try:
            status = int(self._answers.recv(16))
        except (TimeoutError, BlockingIOError):
            return
        self._answers.close()
        self.returncode = status


class Starter:
    """Starts processes; the one that they are copies of starts with the first of them."""

    def __init__(self) -> None:
        self._requests: socket.socket | None = None
        self._original: subprocess.Popen[bytes] | None = None

    def start(self, start: Start, errors: IO[str], *, at_terminal: bool = False) -> PreloadedProcess:
        """Start a process that prints its errors to a file; its output, to a terminal, can be read from `stdout`."""
        if self._requests is None:
            self._requests = self._start_original()
        readable, writable = open_terminal() if at_terminal else os.pipe()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, os.fdopen(writable), Path(os.devnull).open() as nothing:
            files = [nothing.fileno(), writable, errors.fileno(), theirs.fileno()]
            socket.send_fds(self._requests, [msgspec.json.encode(start)], files)
        return PreloadedProcess(ours, os.fdopen(readable))

    def close(self) -> None:
        """End the one that is copied; its copies go on."""
        if self._requests is not None and self._original is not None:
            self._requests.close()
            self._original.wait()

    def _start_original(self) -> socket.socket:
        # One message is one request, so threads can start processes at the same time.
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._original = subprocess.Popen(
                [sys.executable, "-m", __name__, str(theirs.fileno())],
                cwd=Path(__file__).parents[1],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
        return ours


class _Original:
    """The process that is copied."""

    def __init__(self, requests: socket.socket) -> None:
        self._requests = requests
        self._selector = selectors.DefaultSelector()
        self._selector.register(requests, selectors.EVENT_READ)
        self._copies: dict[int, tuple[int, socket.socket]] = {}
        """By a file that is readable at their end: their number and where to answer."""

    def serve(self) -> Start | None:
        """Start what is asked for until nobody can ask any more; returns in each copy with what it is to be."""
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is not self._requests:
                    self._report_end(key.fd)
                    continue
                message, files, _, _ = socket.recv_fds(self._requests, _MAX_BYTES, 4)
                if not message:
                    return None
                answers = socket.socket(fileno=files.pop())
                process_id = os.fork()
                if process_id == 0:
                    answers.close()
                    self._become_copy(files)
                    return msgspec.json.decode(message, type=Start)
                for one in files:
                    os.close(one)
                _answer(answers, process_id)
                end = os.pidfd_open(process_id)
                self._copies[end] = (process_id, answers)
                self._selector.register(end, selectors.EVENT_READ)

    def _report_end(self, end: int) -> None:
        process_id, answers = self._copies.pop(end)
        self._selector.unregister(end)
        os.close(end)
        _, status = os.waitpid(process_id, 0)
        with answers:
            _answer(answers, os.waitstatus_to_exitcode(status))

    def _become_copy(self, files: list[int]) -> None:
        """Leave no open files but standard input, output and errors."""
        self._requests.close()
        self._selector.close()
        for end, (_, answers) in self._copies.items():
            os.close(end)
            answers.close()
        for standard, one in enumerate(files):
            os.dup2(one, standard)
            os.close(one)


def _answer(answers: socket.socket, number: int) -> None:
    # The test may have ended.
    with suppress(OSError):
        answers.send(str(number).encode())


class _QuickEnd:
    """Ends a copy after its threads and exit functions; to take its modules apart, it would have to copy them first."""

    def __init__(self) -> None:
        self.status: int | None = None
        atexit.register(self._end)

    def _end(self) -> None:
        if self.status is not None:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(self.status)


def main() -> None:
    """Import what processes import, then start copies; in each of them, run its command."""
    # Exit functions run in reverse order, so it comes before those of other modules.
    end = _QuickEnd()
    clarion = import_module("clarion.__main__")
    commands = import_module("clarion.cli.commands").COMMANDS.values()
    for name in (*(target.partition(":")[0] for target in commands), *_IMPORTED_LATER):
        import_module(name)
    # The collector would write to every object, and so make each copy copy all of the memory.
    gc.collect()
    gc.freeze()
    requests = socket.socket(fileno=int(sys.argv[1]))
    start = _Original(requests).serve()
    if start is None:
        return
    os.chdir(start.folder)
    os.environ.clear()
    os.environ.update(start.environ)
    if start.open_files:
        resource.setrlimit(resource.RLIMIT_NOFILE, start.open_files)
    sys.argv = ["clarion", *start.arguments]
    try:
        clarion.main()
        end.status = 0
    except SystemExit as error:
        end.status = error.code if isinstance(error.code, int) else None
        raise


if __name__ == "__main__":
    main()
