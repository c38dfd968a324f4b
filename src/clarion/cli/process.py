"""What a process arranges with the operating system: how many files it may have open, and what SIGHUP does."""

import asyncio
import logging
import resource
import signal
import sys
from collections.abc import Callable
from contextlib import suppress

from clarion.errors import SettingsError
from clarion.monitoring.logs import follow_log_file
from clarion.settings.model import Settings

DEFAULT_MAX_CONNECTIONS = 10_000
DEFAULT_MAX_SOCKETS = 20_000
_MIN_RESERVED_FILES = 64

log = logging.getLogger(__name__)


def raise_open_files() -> None:
    """Raise the soft limit of open files to the hard one; where the system refuses that, it stays."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def choose_max_connections(settings: Settings, *, files: int | None = None) -> int:
    """How many connections to accept, so that files remain for the store, for providers and for operators."""
    if files is None:
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return settings.max_connections or DEFAULT_MAX_CONNECTIONS
    reserved = min(_MIN_RESERVED_FILES + settings.database_pool_size, files // 2)
    if settings.max_connections is None:
        return max(1, min(DEFAULT_MAX_CONNECTIONS, files - max(reserved, files // 4)))
    if settings.max_connections > files - reserved:
        raise SettingsError(
            f"CLARION_MAX_CONNECTIONS is {settings.max_connections}, but the process may have {files} files open and "
            f"needs {reserved} of them for other things; raise the limit of open files (`ulimit -n`)."
        )
    return settings.max_connections


def choose_max_sockets(settings: Settings, max_connections: int, *, files: int | None = None) -> int:
    """How many sockets of inboxes to accept beside the connections of requests."""
    if files is None:
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return settings.max_sockets or DEFAULT_MAX_SOCKETS
    reserved = min(_MIN_RESERVED_FILES + settings.database_pool_size, files // 2)
    free = files - reserved - max_connections
    if settings.max_sockets is None:
        return max(1, min(DEFAULT_MAX_SOCKETS, free))
    if settings.max_sockets > free:
        raise SettingsError(
            f"CLARION_MAX_SOCKETS is {settings.max_sockets}, but the process may have {files} files open and needs "
            f"{files - free} of them for requests and other things; raise the limit of open files (`ulimit -n`) or "
            "lower CLARION_MAX_CONNECTIONS."
        )
    return settings.max_sockets


def ignore_hangup() -> None:
    """Let a service survive a SIGHUP that comes before it is ready; in a terminal the signal ends the process."""
    if not _has_terminal():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)


def handle_hangup(loop: asyncio.AbstractEventLoop, stop: Callable[[], None]) -> None:
    if not _has_terminal():
        loop.add_signal_handler(signal.SIGHUP, _reopen_log)
    elif signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # as `nohup` sets it
        loop.add_signal_handler(signal.SIGHUP, stop)


def _reopen_log() -> None:
    has_file = follow_log_file()
    log.info("SIGHUP: settings stay as they are until a restart", extra={"log_file_reopened": has_file})


def _has_terminal() -> bool:
    return any(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))
