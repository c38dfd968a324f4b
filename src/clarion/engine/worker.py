"""The loop: lanes and sends in turn over all environments, for as long as there is work."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial

from clarion.bus import Bus, Topic
from clarion.clock import SECOND, Clock, Millis
from clarion.db.port import Connection, Database
from clarion.db.query import Query, sql
from clarion.engine.deliver import LEASE, Parcel, carry, claim_sends, renew_leases
from clarion.engine.lane import ALONE, AMONG_OTHERS, Worked, run_lane
from clarion.engine.record import record_sends
from clarion.engine.rescue import rescue_lane
from clarion.errors import StoreUnavailable
from clarion.ids import EnvironmentId
from clarion.providers.sending import Carrier
from clarion.vault import Vault

MOST_SENDS = 64
_IDLE_SECONDS = 0.5
_PAUSE_SECONDS = 1.0
_LATELY = 5 * SECOND

log = logging.getLogger(__name__)

# Scalar look-ups rather than EXISTS, which PostgreSQL may turn into a scan of the whole queue.
LIST_LANES = sql("""
    SELECT e.id FROM environments AS e
    WHERE (SELECT 1 FROM triggers AS t WHERE t.environment_id = e.id AND t.state = 'queued' LIMIT 1) IS NOT NULL
    OR (
        SELECT 1 FROM jobs AS j WHERE j.environment_id = e.id AND j.runnable = 1 AND j.due_at <= :now LIMIT 1
    ) IS NOT NULL
    ORDER BY e.id
""")
LIST_SENDS = sql("""
    SELECT e.id FROM environments AS e
    WHERE (
        SELECT 1 FROM jobs AS j WHERE j.environment_id = e.id AND j.runnable = 2 AND j.due_at <= :now LIMIT 1
    ) IS NOT NULL
    ORDER BY e.id
""")


class Engine:
    """Does the work of one process; any number of processes share a PostgreSQL."""

    def __init__(self, database: Database, *, clock: Clock, vault: Vault, bus: Bus, carrier: Carrier) -> None:
        self._database = database
        self._clock = clock
        self._vault = vault
        self._carrier = carrier
        self._last_lane = EnvironmentId(b"")
        self._active: dict[EnvironmentId, Millis] = {}
        self._lane_hint = asyncio.Event()
        self._send_hint = asyncio.Event()
        bus.listen(Topic.WORK, self.wake)

    def wake(self) -> None:
        """There may be work."""
        self._lane_hint.set()

    async def run(self) -> None:
        """Work until cancelled; what is under way to a provider is finished and recorded first."""
        lanes = asyncio.create_task(_repeat(self.work_lanes, self._lane_hint))
        sends = asyncio.create_task(_repeat(self.work_sends, self._send_hint))
        try:
            await asyncio.gather(lanes, sends)
        finally:
            for task in (lanes, sends):
                task.cancel()
            await asyncio.gather(lanes, sends, return_exceptions=True)

    async def drain(self) -> None:
        """Work until nothing is due at this moment."""
        while await self.work_lanes() or await self.work_sends():
            pass

    async def work_lanes(self) -> bool:
        """One unit of work in every lane that has some; tells whether there was any."""
        worked = False
        waiting = await self._list(LIST_LANES)
        self._remember(waiting)
        # Whoever was served last comes last: a lane with a backlog lets a new one in after one unit of work.
        for environment_id in sorted(waiting, key=lambda one: (one <= self._last_lane, one)):
            self._last_lane = environment_id
            done = await self._work_lane(environment_id)
            worked = worked or done.runs > 0
            if done.has_sends:
                self._send_hint.set()
        return worked

    async def work_sends(self) -> bool:
        """One batch of sends for every environment that has some; tells whether there was any."""
        sent = await asyncio.gather(*(self._send(one) for one in await self._list(LIST_SENDS)))
        return any(sent)

    async def _work_lane(self, environment_id: EnvironmentId) -> Worked:
        now = self._clock.now()
        try:
            size = AMONG_OTHERS if len(self._active) > 1 else ALONE
            return await self._database.transaction(lambda db: run_lane(db, environment_id, now, size=size))
        except StoreUnavailable:
            raise
        except Exception:
            # One trigger or run that nobody foresaw must not hold up its environment.
            log.exception("Lane failed", extra={"environment_id": environment_id.hex()})
            return Worked(await rescue_lane(self._database, environment_id, now), has_sends=False)

    def _remember(self, waiting: Sequence[EnvironmentId]) -> None:
        """Which environments have had work lately: where there are several, nobody takes on much at a time."""
        now = self._clock.now()
        self._active |= dict.fromkeys(waiting, now)
        self._active = {one: at for one, at in self._active.items() if now - at <= _LATELY}

    async def _send(self, environment_id: EnvironmentId) -> bool:
        claim = partial(claim_sends, vault=self._vault, most=MOST_SENDS, now=self._clock.now())
        parcels = await self._database.transaction(lambda db: claim(db, environment_id))
        if not parcels:
            return False
        await asyncio.shield(self._carry_and_record(environment_id, parcels))
        return True

    async def _carry_and_record(self, environment_id: EnvironmentId, parcels: Sequence[Parcel]) -> None:
        attempts = [parcel.job.attempt for parcel in parcels]
        renewal = asyncio.create_task(self._keep_leases(environment_id, parcels))
        try:
            carried = await asyncio.gather(*(carry(one, self._carrier, self._clock.now()) for one in parcels))
        finally:
            renewal.cancel()
        done = list(zip(carried, attempts, strict=True))
        now = self._clock.now()
        await self._database.transaction(lambda db: record_sends(db, environment_id, done, now))
        self._lane_hint.set()

    async def _keep_leases(self, environment_id: EnvironmentId, parcels: Sequence[Parcel]) -> None:
        while True:
            await asyncio.sleep(LEASE / SECOND / 3)
            with suppress(StoreUnavailable):
                renew = partial(renew_leases, environment_id=environment_id, parcels=parcels, now=self._clock.now())
                await self._database.transaction(renew)

    async def _list(self, query: Query) -> list[EnvironmentId]:
        now = self._clock.now()

        async def fetch(db: Connection) -> list[EnvironmentId]:
            return [EnvironmentId(row["id"]) for row in await db.fetch(query, now=now)]

        return await self._database.read(fetch)


async def _repeat(work: Callable[[], Awaitable[bool]], hint: asyncio.Event) -> None:
    """Work for ever; when there is none, wait for a hint, or look anyway after a moment."""
    while True:
        try:
            if not await work():
                with suppress(TimeoutError):
                    await asyncio.wait_for(hint.wait(), _IDLE_SECONDS)
                hint.clear()
        except StoreUnavailable as error:
            log.warning("Work postponed", extra={"error": str(error)})
            await asyncio.sleep(_PAUSE_SECONDS)
        except Exception:
            log.exception("Work failed")
            await asyncio.sleep(_PAUSE_SECONDS)
