"""The watchdog of the event loop."""

import asyncio
import logging
import threading
import time

import pytest

from clarion.monitoring.watchdog import LoopWatchdog


def hold_the_loop_until(released: threading.Event) -> None:
    released.wait()


def wait_until_counted(watchdog: LoopWatchdog) -> None:
    while watchdog.blocked_count == 0:
        time.sleep(0.01)


async def test_a_blocked_loop_is_logged_with_where_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    watchdog, released = LoopWatchdog(max_blocked_seconds=0.1), threading.Event()

    def release_when_noticed() -> None:
        while not any(one.message == "Event loop is blocked" for one in caplog.records):
            time.sleep(0.01)
        released.set()

    with caplog.at_level(logging.WARNING), watchdog.watch():
        threading.Thread(target=release_when_noticed).start()
        hold_the_loop_until(released)
        await asyncio.to_thread(wait_until_counted, watchdog)

    assert any("hold_the_loop_until" in str(one.__dict__.get("stack")) for one in caplog.records)
    assert "Event loop was blocked" in [one.message for one in caplog.records]
    assert watchdog.blocked_seconds >= 0.05


async def test_a_loop_that_goes_on_is_not_counted() -> None:
    watchdog = LoopWatchdog(max_blocked_seconds=30)

    with watchdog.watch():
        await asyncio.sleep(0.3)

    assert watchdog.blocked_count == 0
    assert "clarion-watchdog" not in {one.name for one in threading.enumerate()}
