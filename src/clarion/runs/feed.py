"""The reader of a live stream: one for each environment with listeners, in each process that serves them.

It looks for news a few times a second, however many listen, and encodes each row once. Listeners with the same filter
get the same bytes. Nothing is done for a stream where runs are made: the reader finds them in the store.
"""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from typing import TypeVar

from msgspec import Struct

from clarion.clock import SECOND, Clock, Millis
from clarion.db.port import Connection, Database, Dialect, Row, Work
from clarion.errors import StoreUnavailable
from clarion.http.streams import Broadcast
from clarion.ids import EnvironmentId, NotificationId
from clarion.providers.builtin import BuiltinNames
from clarion.runs.changes import OVERLAP, Changes, Replay, replay_runs
from clarion.runs.filters import has_row, read_filter
from clarion.runs.listeners import Chunk, Missed, RunListener, encode_event, encode_missed
from clarion.runs.model import RunFilter, RunRow
from clarion.runs.store import list_run_rows
from clarion.runs.wire import RunOut, RunsSampledOut

POLL_SECONDS = 0.5
MAX_ROWS = 100
"""That a listener is sent of one look: 200 in a second."""
MAX_LOADED = 500
"""Rows that are loaded to find those of a provider."""
HEARTBEAT = Millis(15 * SECOND)

T = TypeVar("T")
_Groups = dict[RunFilter, list[RunListener]]
_Encoded = dict[NotificationId, bytes]

log = logging.getLogger(__name__)


class _Chosen(Struct, frozen=True):
    ids: Sequence[NotificationId]
    left_out: int


class RunFeed:
    """Reads the runs of an environment for all who listen to them."""

    def __init__(self, database: Database, clock: Clock, names: BuiltinNames, environment_id: EnvironmentId) -> None:
        self._database = database
        self._clock = clock
        self._names = names
        self._environment_id = environment_id
        self._changes = Changes(environment_id)
        self._looked_at = Millis(0)

    async def run(self, broadcast: Broadcast[RunListener]) -> None:
        """Look for news until cancelled."""
        while True:
            try:
                await self.look(list(broadcast.listeners))
            except StoreUnavailable as error:
                # The next look finds what this one did not.
                log.warning("Stream postponed", extra={"error": str(error)})
            await asyncio.sleep(POLL_SECONDS)

    async def look(self, listeners: Sequence[RunListener]) -> None:
        """Send what is new since the last look; those who are new are first sent what they missed."""
        now = self._clock.now()
        news = await self._read(lambda db: self._changes.read(db, now))
        old = [one for one in listeners if one.has_joined]
        if news.rows:
            await self._resolve(old)
            groups: _Groups = {}
            for one in old:
                groups.setdefault(one.wanted, []).append(one)
            await self._send(groups, news.rows, news.left_out, now)
        await self._welcome([one for one in listeners if not one.has_joined], now)
        self._keep_alive(listeners, now)
        self._looked_at = now

    async def _read(self, work: Work[T]) -> T:
        """SQLite reads a few rows on the event loop; these may be many."""
        is_sqlite = self._database.dialect is Dialect.SQLITE
        return await (self._database.scan(work) if is_sqlite else self._database.read(work))

    async def _resolve(self, listeners: Iterable[RunListener]) -> None:
        """Look up again what filters name and what did not exist yet."""
        for listener in listeners:
            if listener.has_unknown:
                query = listener.query

                async def read(db: Connection) -> RunFilter:
                    return await read_filter(db, self._environment_id, query, self._names)  # noqa: B023 - awaited here

                listener.wanted = await self._read(read)

    async def _send(self, groups: _Groups, rows: Sequence[Row], skipped: int, now: Millis) -> None:
        matching = {wanted: [row["id"] for row in rows if has_row(wanted, row)] for wanted in groups}
        loaded = await self._load(
            one for wanted, ids in matching.items() for one in _spread(ids, _limit_of(wanted)).ids
        )
        encoded: _Encoded = {}
        for wanted, ids in matching.items():
            chosen = _choose(wanted, ids, loaded)
            left_out = chosen.left_out + round(skipped * len(ids) / len(rows))
            if not chosen.ids and not left_out:
                continue
            for run_id in chosen.ids:
                if run_id not in encoded:
                    encoded[run_id] = self._encode(loaded[run_id])
            data = b"".join(encoded[run_id] for run_id in chosen.ids) + _encode_end(left_out, now)
            chunk = Chunk(data=data, rows=len(chosen.ids), after=self._looked_at or now, before=now)
            for listener in groups[wanted]:
                listener.put(chunk)
                listener.sent_at = now

    async def _load(self, ids: Iterable[NotificationId]) -> dict[NotificationId, RunRow]:
        wanted = list(dict.fromkeys(ids))
        return await self._read(lambda db: list_run_rows(db, self._environment_id, wanted)) if wanted else {}

    def _encode(self, row: RunRow) -> bytes:
        return encode_event("run", RunOut.of(row, self._names))

    async def _welcome(self, listeners: Iterable[RunListener], now: Millis) -> None:
        """Begin to send; those who come back are sent what they missed, as far as that is possible."""
        replays: dict[tuple[RunFilter, Millis | None], Chunk] = {}
        for listener in listeners:
            key = (listener.wanted, listener.after)
            if listener.after is not None and key not in replays:
                replays[key] = await self._replay(listener.wanted, listener.after, now)
            listener.put(replays.get(key) or Chunk(data=_encode_end(0, now), rows=0, after=now, before=now))
            listener.has_joined, listener.sent_at = True, now

    async def _replay(self, wanted: RunFilter, after: Millis, now: Millis) -> Chunk:
        since = Millis(after - OVERLAP)
        replay: Replay = await self._database.scan(lambda db: replay_runs(db, wanted, since))
        loaded = await self._load(replay.ids)
        data = b"".join(self._encode(loaded[run_id]) for run_id in replay.ids if run_id in loaded)
        if replay.missed_count:
            missed = Missed(
                count=replay.missed_count, at_least=replay.is_at_least, after=after, before=replay.missed_until
            )
            data = encode_missed(missed) + data
        return Chunk(data=data + _encode_end(0, now), rows=len(replay.ids), after=after, before=now)

    def _keep_alive(self, listeners: Iterable[RunListener], now: Millis) -> None:
        beat = Chunk(data=_encode_end(0, now), rows=0, after=now, before=now)
        for listener in listeners:
            if now - listener.sent_at >= HEARTBEAT:
                listener.put(beat)
                listener.sent_at = now


def _limit_of(wanted: RunFilter) -> int:
    return MAX_ROWS if wanted.providers is None else MAX_LOADED


def _choose(wanted: RunFilter, ids: Sequence[NotificationId], loaded: dict[NotificationId, RunRow]) -> _Chosen:
    """Those of the matching rows that are sent, evenly spread."""
    first = _spread(ids, _limit_of(wanted))
    found = [one for one in first.ids if one in loaded and _has_provider(wanted, loaded[one])]
    chosen = _spread(found, MAX_ROWS)
    return _Chosen(chosen.ids, first.left_out + chosen.left_out)


def _has_provider(wanted: RunFilter, row: RunRow) -> bool:
    return wanted.providers is None or any(one.provider_id in wanted.providers for one in row.steps)


def _spread(ids: Sequence[NotificationId], limit: int) -> _Chosen:
    if len(ids) <= limit:
        return _Chosen(ids, 0)
    return _Chosen([ids[number * len(ids) // limit] for number in range(limit)], len(ids) - limit)


def _encode_end(left_out: int, now: Millis) -> bytes:
    """The end of a chunk: its position, from which a client that comes back goes on, and what it was not sent."""
    if not left_out:
        return encode_event("position", {}, position=now)
    return encode_event("sampled", RunsSampledOut(left_out=left_out), position=now)
