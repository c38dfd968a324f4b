"""What is new in the runs of an environment since the last look, and what a listener who comes back has missed.

New runs are found in the order of their ids, changed ones in the order of `updated_at`, of which an index has only the
runs that changed after they were inserted. Transactions do not become visible in the order of either, and clocks of
machines differ a little: the last seconds are counted at each look, and read again if there are more than before.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from clarion.clock import SECOND, Millis
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.ids import EnvironmentId, NotificationId, first_id, id_millis
from clarion.runs.filters import select_runs
from clarion.runs.model import RunFilter
from clarion.runs.store import RunWindow, find_runs

OVERLAP = Millis(5 * SECOND)
"""How late a transaction may become visible."""
MAX_READ = 2_000
"""Rows of one look. If there are more, those in between are counted and not read."""
MAX_COUNTED = 200_000

_COLUMNS = "id, status, step_types, workflow_id, subscriber_id, trigger_id, topics, updated_at"
_BEGAN = "environment_id = :environment_id AND id > :low"
_CHANGED = """
    environment_id = :environment_id AND updated_at <> created_at AND (updated_at, id) > (:low_at, :low)
"""
LIST_BEGAN = sql(f"SELECT {_COLUMNS} FROM notifications WHERE {_BEGAN} ORDER BY id LIMIT :limit")
LIST_CHANGED = sql(f"SELECT {_COLUMNS} FROM notifications WHERE {_CHANGED} ORDER BY updated_at, id LIMIT :limit")
LIST_LAST_BEGAN = sql(f"SELECT id FROM notifications WHERE {_BEGAN} ORDER BY id DESC LIMIT 1")
LIST_LAST_CHANGED = sql(
    f"SELECT id, updated_at FROM notifications WHERE {_CHANGED} ORDER BY updated_at DESC, id DESC LIMIT 1"
)
COUNT_BEGAN = sql(f"""
    SELECT count(*) AS n FROM (
        SELECT 1 FROM notifications WHERE {_BEGAN} AND id <= :high ORDER BY id LIMIT {MAX_COUNTED}
    ) AS found
""")
COUNT_CHANGED = sql(f"""
    SELECT count(*) AS n FROM (
        SELECT 1 FROM notifications WHERE {_CHANGED} AND (updated_at, id) <= (:high_at, :high)
        ORDER BY updated_at, id LIMIT {MAX_COUNTED}
    ) AS found
""")

_Key = tuple[int, bytes]
"""The place of a row in one of the two orders: `updated_at`, which is 0 in the order of ids, and the id."""


class News(Struct, frozen=True, kw_only=True):
    rows: Sequence[Row]
    """Each run once, oldest first."""
    left_out: int
    """How many more there were."""


class _Order:
    """One of the two orders: how far it was read, and what was seen of its last seconds."""

    def __init__(self, *, by_change: bool) -> None:
        self._by_change = by_change
        self._list, self._last, self._count = (
            (LIST_CHANGED, LIST_LAST_CHANGED, COUNT_CHANGED)
            if by_change
            else (LIST_BEGAN, LIST_LAST_BEGAN, COUNT_BEGAN)
        )
        self._seen: dict[bytes, _Key] = {}
        """Where each run of the last seconds is; one that changes again moves."""
        self._floor: _Key = (0, bytes(16))
        self._high: _Key = (0, bytes(16))

    async def start(self, db: Connection, scope: dict[str, Any], now: Millis) -> None:
        """Begin now: what is there already is not news."""
        self._floor = self._high = self._key_at(now - OVERLAP)
        rows, _ = await self._read(db, scope)
        self._note(rows)

    async def read(self, db: Connection, scope: dict[str, Any], now: Millis) -> tuple[Sequence[Row], int]:
        """What is new, and how much more there is."""
        late = await self._read_late(db, scope)
        rows, left_out = await self._read(db, scope)
        self._note(rows)
        self._forget(self._key_at(now - OVERLAP))
        return [*late, *rows], left_out

    async def _read(self, db: Connection, scope: dict[str, Any]) -> tuple[Sequence[Row], int]:
        rows = await db.fetch(self._list, **scope, **self._low(self._high), limit=MAX_READ)
        if len(rows) < MAX_READ:
            return rows, 0
        last = await db.fetch_one(self._last, **scope, **self._low(self._high))
        end = self._key(rows[-1] if last is None else last)
        counted = await db.fetch_one(self._count, **scope, **self._low(self._high), **self._upto(end))
        # What was skipped is not looked for again.
        self._seen.clear()
        self._floor = self._high = end
        return rows, max(0, (counted["n"] if counted else 0) - len(rows))

    async def _read_late(self, db: Connection, scope: dict[str, Any]) -> list[Row]:
        """Rows that became visible behind the position."""
        if self._high <= self._floor:
            return []
        counted = await db.fetch_one(self._count, **scope, **self._low(self._floor), **self._upto(self._high))
        if counted is None or counted["n"] <= len(self._seen):
            return []
        rows = await db.fetch(self._list, **scope, **self._low(self._floor), limit=2 * MAX_READ)
        late = [row for row in rows if (key := self._key(row)) <= self._high and self._seen.get(key[1]) != key]
        self._note(late)
        return late

    def _note(self, rows: Iterable[Row]) -> None:
        for row in rows:
            key = self._key(row)
            self._high = max(self._high, key)
            if key > self._floor:
                self._seen[key[1]] = key

    def _forget(self, floor: _Key) -> None:
        if floor > self._floor:
            self._floor = floor
            self._seen = {one: key for one, key in self._seen.items() if key > floor}
            self._high = max(self._high, floor)

    def _key(self, row: Row) -> _Key:
        return (row["updated_at"], bytes(row["id"])) if self._by_change else (0, bytes(row["id"]))

    def _key_at(self, moment: int) -> _Key:
        return (moment, bytes(16)) if self._by_change else (0, first_id(Millis(moment)))

    def _low(self, key: _Key) -> dict[str, Any]:
        return {"low_at": key[0], "low": key[1]} if self._by_change else {"low": key[1]}

    def _upto(self, key: _Key) -> dict[str, Any]:
        return {"high_at": key[0], "high": key[1]} if self._by_change else {"high": key[1]}


class Changes:
    """Both orders of one environment."""

    def __init__(self, environment_id: EnvironmentId) -> None:
        self._scope = {"environment_id": environment_id}
        self._orders = (_Order(by_change=False), _Order(by_change=True))
        self._has_started = False

    async def start(self, db: Connection, now: Millis) -> None:
        for order in self._orders:
            await order.start(db, self._scope, now)
        self._has_started = True

    async def read(self, db: Connection, now: Millis) -> News:
        if not self._has_started:
            await self.start(db, now)
        runs: dict[NotificationId, Row] = {}
        left_out = 0
        for order in self._orders:
            rows, more = await order.read(db, self._scope, now)
            runs |= {row["id"]: row for row in rows}
            left_out += more
        return News(rows=list(runs.values()), left_out=left_out)


MAX_REPLAYED = 500
MAX_COUNTED_MISSED = 20_000


class Replay(Struct, frozen=True, kw_only=True):
    ids: list[NotificationId]
    """Oldest first."""
    missed_count: int
    """How many more there were; those are older."""
    is_at_least: bool
    missed_until: Millis


async def replay_runs(db: Connection, wanted: RunFilter, since: Millis) -> Replay:
    """The newest runs that began or changed since a moment, and how many others there were."""
    newest = await find_runs(db, wanted, RunWindow(after=since), limit=MAX_REPLAYED)
    changed, has_more = await _list_changed(db, wanted, since)
    ids = sorted({*newest.ids, *changed})[-MAX_REPLAYED:]
    left_out = len({*newest.ids, *changed}) - len(ids)
    if newest.next is None:
        until = since if not left_out else id_millis(ids[0])
        return Replay(ids=ids, missed_count=left_out, is_at_least=has_more, missed_until=until)
    window = RunWindow(after=since, below=newest.next)
    rest = await find_runs(db, wanted, window, limit=MAX_COUNTED_MISSED, max_examined=MAX_COUNTED_MISSED)
    is_at_least = rest.next is not None or has_more
    return Replay(
        ids=ids,
        missed_count=len(rest.ids) + left_out,
        is_at_least=is_at_least,
        missed_until=id_millis(newest.next),
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
            ORDER BY t.updated_at DESC, t.id DESC LIMIT {MAX_COUNTED_MISSED}
        ) AS found WHERE is_match LIMIT :limit
    """)
    rows = await db.fetch(query, **selection.parameters, since=since, limit=MAX_REPLAYED + 1)
    return [row["id"] for row in rows[:MAX_REPLAYED]], len(rows) > MAX_REPLAYED
