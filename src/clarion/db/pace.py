"""How much is deleted at once, and how long others have the store to themselves in between."""

import asyncio

from msgspec import Struct

from clarion.db.port import Dialect

SHARE = 0.3
"""Of the time, if nobody else writes; the rest are pauses."""
BUSY_SECONDS = 0.003
"""A unit of work that had to wait for longer was not alone."""
MAX_PAUSE_SECONDS = 0.25
"""Deletion that never gets on would fill the disk."""
MIN_BATCH = 10
MAX_BATCH = 500
_FIRST_BATCH = 40
_MIN_PAUSE_SECONDS = 0.002


class Effort(Struct, frozen=True):
    """What a database bears without others noticing."""

    target_seconds: float
    """How long a unit of work may take."""
    busy_share: float
    """Of the time, if others write too."""


EFFORTS = {
    # All other writers wait for a unit of work, and it makes their commits and checkpoints longer.
    Dialect.SQLITE: Effort(target_seconds=0.0025, busy_share=0.1),
    # Others do not wait for it; most of the time goes into sending statements, however many rows they are for.
    Dialect.POSTGRES: Effort(target_seconds=0.05, busy_share=0.25),
}


class Pace:
    """Adapts the number of rows of a unit of work, and the pauses, to how long the last ones took."""

    def __init__(self, effort: Effort, *, share: float = SHARE, batch: int = _FIRST_BATCH) -> None:
        self.batch = batch
        self._effort = effort
        self._share = share

    def note(self, rows: int, seconds: float) -> None:
        """Learn how long a unit of work for so many rows took."""
        if seconds > self._effort.target_seconds:
            self.batch = max(MIN_BATCH, self.batch // 2)
        elif seconds < self._effort.target_seconds / 2 and rows >= self.batch:
            self.batch = min(MAX_BATCH, self.batch + self.batch // 4 + 1)

    async def pause(self, seconds: float, *, waited: float = 0.0) -> None:
        """Leave the store to others after work that took so long, and that waited so long for them."""
        await asyncio.sleep(self.choose_pause(seconds, waited))

    def choose_pause(self, seconds: float, waited: float) -> float:
        share = min(self._effort.busy_share, self._share) if waited > BUSY_SECONDS else self._share
        return min(max(seconds * (1 / share - 1), _MIN_PAUSE_SECONDS), MAX_PAUSE_SECONDS)
