"""SIGHUP: a terminal that closes ends the process, as SIGTERM would; a service opens its log file again."""

import asyncio
import logging
import signal
import sys
from collections.abc import Callable

from clarion.monitoring.logs import follow_log_file

log = logging.getLogger(__name__)


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
