"""What a listener who comes back has missed."""

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import NotificationId, id_millis
from clarion.runs.filters import select_runs
from clarion.runs.model import RunFilter
from clarion.runs.walk import RunWindow, find_runs

MAX_REPLAYED = 500
MAX_COUNTED = 20_000


class Replay(Struct, frozen=True, kw_only=True):
    ids: list[NotificationId]
    """Oldest first."""
    missed_count: int
    """How many more there were; those are older."""
    is_at_least: bool
    missed_until: Millis


async def replay_runs(db: Connection, wanted: RunFilter, since: Millis) -> Replay:
    """The newest runs that began or changed since a moment, and how many others there were."""
    found = await find_runs(db, wanted, RunWindow(after=since), limit=MAX_REPLAYED)
    changed, has_more = await _list_changed(db, wanted, since)
    ids = sorted({*found.ids, *changed})[-MAX_REPLAYED:]
    left_out = len({*found.ids, *changed}) - len(ids)
    if found.next is None:
        until = since if not left_out else id_millis(ids[0])
        return Replay(ids=ids, missed_count=left_out, is_at_least=has_more, missed_until=until)
    window = RunWindow(after=since, below=found.next)
    rest = await find_runs(db, wanted, window, limit=MAX_COUNTED, max_examined=MAX_COUNTED)
    is_at_least = rest.next is not None or has_more
    return Replay(
        ids=ids,
        missed_count=len(rest.ids) + left_out,
        is_at_least=is_at_least,
        missed_until=id_millis(found.next),
    )


async def _list_changed(db: Connection, wanted: RunFilter, since: Millis) -> tuple[list[NotificationId], bool]:
    """The runs that changed last, and whether there are more."""
    if wanted.is_empty:
        return [], False
    selection = await select_runs(db, wanted)
    parts = " OR ".join(f"({one})" for one in selection.parts) or "FALSE"
    query = sql(f"""
        SELECT id FROM (
            SELECT t.id, ({selection.match}) AND ({parts}) AS is_match FROM notifications AS t
            WHERE t.environment_id = :environment_id AND t.updated_at <> t.created_at AND t.updated_at > :since
            ORDER BY t.updated_at DESC, t.id DESC LIMIT {MAX_COUNTED}
        ) AS found WHERE is_match LIMIT :limit
    """)
    rows = await db.fetch(query, **selection.parameters, since=since, limit=MAX_REPLAYED + 1)
    return [row["id"] for row in rows[:MAX_REPLAYED]], len(rows) > MAX_REPLAYED
