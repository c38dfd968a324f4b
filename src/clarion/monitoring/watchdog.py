"""Notices when the event loop is blocked: logs where, and counts how often."""

import asyncio
import logging
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from clarion.monitoring.metrics import LAG_SECONDS, Histogram

MAX_BLOCKED_SECONDS = 0.25
_INTERVAL_SECONDS = 0.05
_MAX_FRAMES = 12
_RECENT_SECONDS = 5.0

log = logging.getLogger(__name__)


class LoopWatchdog:
    """A thread that asks the event loop for a sign of life, over and over."""

    def __init__(self, *, max_blocked_seconds: float = MAX_BLOCKED_SECONDS) -> None:
        self._max_blocked_seconds = max_blocked_seconds
        self._answered = threading.Event()
        self._stopping = threading.Event()
        self._loop_thread = 0
        self.blocked_count = 0
        """How often the loop was blocked for longer than allowed."""
        self.blocked_seconds = 0.0
        """How long it was blocked then, in all."""
        self.lag_seconds = Histogram(LAG_SECONDS)
        """How long the loop took to answer, each time that it was asked."""
        self._last_lag = 0.0
        self._lagged_at = time.monotonic()

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Watch the event loop that runs in this thread, while the body runs."""
        loop = asyncio.get_running_loop()
        self._loop_thread = threading.get_ident()
        thread = threading.Thread(target=self._run, args=(loop,), name="clarion-watchdog", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._stopping.set()
            # The thread may wait for the answer of this loop, which is busy with stopping.
            self._answered.set()
            thread.join()

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        while not self._stopping.wait(_INTERVAL_SECONDS):
            self._answered.clear()
            asked, used = time.monotonic(), time.process_time()
            try:
                loop.call_soon_threadsafe(self._answered.set)
            except RuntimeError:  # the loop is closed
                return
            # The loop may be blocked since just after it answered the last time.
            if not self._answered.wait(self._max_blocked_seconds - _INTERVAL_SECONDS):
                self._observe(asked, used)
            self._note_lag(time.monotonic() - asked)

    def find_recent_lag(self) -> float:
        """The longest time that the loop took to answer within the last seconds."""
        return self._last_lag if time.monotonic() - self._lagged_at < _RECENT_SECONDS else 0.0

    def _note_lag(self, seconds: float) -> None:
        if self._stopping.is_set():
            return
        self.lag_seconds.observe(seconds)
        if seconds >= self.find_recent_lag():
            self._last_lag, self._lagged_at = seconds, time.monotonic()

    def _observe(self, asked: float, used: float) -> None:
        """Log where the loop is now, wait until it goes on, and count that."""
        if self._stopping.is_set():
            return
        waited = time.monotonic() - asked
        if waited > 2 * self._max_blocked_seconds and time.process_time() - used < waited / 4:
            # This thread was not run either, without the process using the time: it was suspended, or had no CPU.
            log.info("Process was suspended", extra={"ms": round(waited * 1000)})
            self._answered.wait()
            return
        log.warning("Event loop is blocked", extra={"stack": self._describe_stack()})
        self._answered.wait()
        seconds = time.monotonic() - asked
        self.blocked_count += 1
        self.blocked_seconds += seconds
        cpu_ms = round((time.process_time() - used) * 1000)
        log.warning("Event loop was blocked", extra={"ms": round(seconds * 1000), "cpu_ms": cpu_ms})

    def _describe_stack(self) -> list[str]:
        """The innermost functions of the loop's thread, the innermost first."""
        frame = sys._current_frames().get(self._loop_thread)  # noqa: SLF001 - the only way to see another thread
        return [f"{one.f_code.co_filename}:{one.f_lineno} {one.f_code.co_qualname}" for one in _list_frames(frame)]


def _list_frames(frame: FrameType | None) -> Iterator[FrameType]:
    for _ in range(_MAX_FRAMES):
        if frame is None:
            return
        yield frame
        frame = frame.f_back
