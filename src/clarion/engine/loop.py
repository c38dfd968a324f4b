"""The loop of a worker: look for work again at once while there is some, else at a hint or after a while."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from clarion.errors import StoreUnavailable

PAUSE_SECONDS = 1.0
"""How long to wait after a failure before trying again."""

_IDLE_SECONDS = 0.5

log = logging.getLogger(__name__)


async def repeat(work: Callable[[], Awaitable[bool]], hint: asyncio.Event) -> None:
    """Work for ever; when there is none, wait for a hint, or look anyway after a moment."""
    while True:
        try:
            if not await work():
                # Not `wait_for`: in Python 3.11 it swallows a cancellation that comes together with the hint.
                with suppress(TimeoutError):
                    async with asyncio.timeout(_IDLE_SECONDS):
                        await hint.wait()
                hint.clear()
        except StoreUnavailable as error:
            log.warning("Work postponed", extra={"error": str(error)})
            await asyncio.sleep(PAUSE_SECONDS)
        except Exception:
            log.exception("Work failed")
            await asyncio.sleep(PAUSE_SECONDS)
