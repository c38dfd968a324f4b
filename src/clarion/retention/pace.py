"""How much is deleted at once, and how long others have the store to themselves in between."""

import asyncio

TARGET_SECONDS = 0.01
"""How long a unit of work may take: on SQLite all other writers wait for it."""
SHARE = 0.25
"""Of the time; the rest are pauses."""
MAX_PAUSE_SECONDS = 0.25
"""Deletion that never gets on would fill the disk."""
MIN_BATCH = 10
MAX_BATCH = 500
_FIRST_BATCH = 40
_MIN_PAUSE_SECONDS = 0.002


class Pace:
    """Adapts the number of rows of a unit of work to the time that the last ones took."""

    def __init__(self, *, share: float = SHARE) -> None:
        self.batch = _FIRST_BATCH
        self._share = share

    def note(self, rows: int, seconds: float) -> None:
        """Learn how long a unit of work for so many rows took."""
        if seconds > TARGET_SECONDS:
            self.batch = max(MIN_BATCH, self.batch // 2)
        elif seconds < TARGET_SECONDS / 2 and rows >= self.batch:
            self.batch = min(MAX_BATCH, self.batch + self.batch // 4 + 1)

    async def pause(self, seconds: float) -> None:
        """Wait after work that took so long."""
        await asyncio.sleep(min(max(seconds * (1 / self._share - 1), _MIN_PAUSE_SECONDS), MAX_PAUSE_SECONDS))
