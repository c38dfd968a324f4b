"""Pages of runs: a walk from the newest to the oldest that looks at a limited number of rows."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.listing import Listing, select_ids
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import NotificationId, first_id, last_id
from clarion.runs.filters import Selection, select_runs
from clarion.runs.model import RunFilter

MAX_EXAMINED = 20_000
"""How many rows a page looks at, whether they match or not."""
_CHUNK = 2_000


class RunWindow(Struct, frozen=True, kw_only=True):
    """The runs that began within a time, by the time in their ids."""

    after: Millis | None = None
    before: Millis | None = None
    below: NotificationId | None = None
    """Only older runs than this one."""

    @property
    def bounds(self) -> tuple[bytes, bytes]:
        """The first id, and the one behind the last."""
        low = first_id(self.after or Millis(0))
        high = b"\xff" * 16 if self.before is None else last_id(self.before)
        return low, high if self.below is None else min(high, self.below)


class Found(Struct, frozen=True, kw_only=True):
    ids: list[NotificationId]
    """Newest first."""
    next: NotificationId | None
    """Where to go on; None if there is nothing older."""
    searched: NotificationId | None
    """The oldest row that was looked at."""


async def find_runs(
    db: Connection, wanted: RunFilter, window: RunWindow, *, limit: int, max_examined: int = MAX_EXAMINED
) -> Found:
    """The newest runs that match, as far as `max_examined` rows have them."""
    low, high = window.bounds
    selection = await select_runs(db, wanted)
    if wanted.is_empty or not selection.parts:
        return Found(ids=[], next=None, searched=None)
    ids: list[NotificationId] = []
    left, last, chunk = max_examined, None, limit + 1
    while left > 0:
        chunk = min(chunk, left) if selection.conditions else chunk
        rows = await _list_candidates(db, selection, low, high, chunk)
        for row in rows:
            if len(ids) == limit:
                return Found(ids=ids, next=last, searched=last)
            last = NotificationId(row["id"])
            ids += [last] if row["is_match"] else []
        if len(rows) < chunk or last is None:
            return Found(ids=ids, next=None, searched=last)
        high, left, chunk = last, left - len(rows), min(4 * chunk, _CHUNK)
    return Found(ids=ids, next=last, searched=last)


async def _list_candidates(db: Connection, selection: Selection, low: bytes, high: bytes, limit: int) -> Sequence[Any]:
    """The next rows of the walk, with whether they match."""
    listing = Listing(
        columns="t.id",
        source="notifications AS t",
        where="t.environment_id = :environment_id AND t.id >= :low AND t.id < :high",
        parameters={},
        parts=selection.parts,
    )
    ids = f"{select_ids(db.dialect, listing, 'DESC')} LIMIT :reach"
    if selection.conditions:
        ids = f"""
            SELECT t.id, ({selection.match}) AS is_match FROM ({ids}) AS found
            JOIN notifications AS t ON t.environment_id = :environment_id AND t.id = found.id ORDER BY t.id DESC
        """
    else:
        ids = f"SELECT id, TRUE AS is_match FROM ({ids}) AS found ORDER BY id DESC"
    return await db.fetch(sql(ids), **selection.parameters, low=low, high=high, reach=limit)
