"""Senders: claims, sends and records of one process, all going on at the same time.

What is claimed is carried at once, each job by itself, so that a slow provider holds up nobody but its own messages.
Results are recorded in groups: while one group is being written, the next one gathers.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby

from clarion.clock import SECOND, Clock
from clarion.db.loose_scan import distinct_environments
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.engine.loop import PAUSE_SECONDS, repeat
from clarion.engine.sending.claim import LEASE, claim_sends, renew_leases
from clarion.engine.sending.deliver import deliver, give_up, set_aside
from clarion.engine.sending.model import ClaimedSend
from clarion.engine.sending.outgoing import ReceiptsUrl, nowhere
from clarion.engine.sending.record import record_sends
from clarion.engine.tasks import Tasks
from clarion.errors import StoreUnavailable
from clarion.ids import EnvironmentId
from clarion.integrations.cache import IntegrationCache
from clarion.providers.sending.gateway import ProviderGateway

MAX_IN_FLIGHT = 512
"""Jobs that one process carries at a time, shared by the environments that have some."""

_MIN_SHARE = 8
_MAX_CLAIM = 128
_MANY = 16
_GATHER_SECONDS = 0.02
"""While many sends are under way, results wait for others this long: a larger group costs less for each."""

log = logging.getLogger(__name__)

# A scalar look-up rather than EXISTS, which PostgreSQL may turn into a scan of the whole queue.
LIST_SENDS = sql(f"""
    WITH RECURSIVE {distinct_environments("sending", "jobs WHERE queue = 2")}
    SELECT e.id FROM sending AS e
    WHERE (
        SELECT 1 FROM jobs AS j WHERE j.environment_id = e.id AND j.queue = 2 AND j.due_at <= :now LIMIT 1
    ) IS NOT NULL
    ORDER BY e.id
""")


class Sender:
    """Carries jobs of all environments to their providers."""

    def __init__(
        self,
        database: Database,
        *,
        clock: Clock,
        gateway: ProviderGateway,
        integrations: IntegrationCache,
        wake_lanes: Callable[[], None],
        receipts_url: ReceiptsUrl = nowhere,
    ) -> None:
        self._database = database
        self._clock = clock
        self._gateway = gateway
        self._integrations = integrations
        self._wake_lanes = wake_lanes
        self._receipts_url = receipts_url
        self._hint = asyncio.Event()
        self._is_full = False
        self._is_ending = False
        self._in_flight: set[ClaimedSend] = set()
        self._carried: list[ClaimedSend] = []
        self._tasks = Tasks()
        self._recorder: asyncio.Task[None] | None = None

    def wake(self) -> None:
        """There may be jobs to carry."""
        self._hint.set()

    async def run(self) -> None:
        """Carry until cancelled; what is under way then is finished and recorded first."""
        renewal = asyncio.create_task(self._keep_leases())
        try:
            await repeat(self.claim, self._hint)
        finally:
            self._is_ending = True
            await self._tasks.finish()
            renewal.cancel()

    async def work(self) -> bool:
        """Carry and record what is due at this moment; tells whether there was any."""
        has_claimed = await self.claim()
        await self._tasks.finish()
        return has_claimed

    async def claim(self) -> bool:
        """Take what there is room for and send it on its way; tells whether there was any."""
        waiting = await self._database.read(self._list_waiting)
        counts = Counter(send.environment_id for send in self._in_flight)
        share = max(_MIN_SHARE, MAX_IN_FLIGHT // max(len(counts.keys() | set(waiting)), 1))
        room = {one: min(share - counts[one], _MAX_CLAIM) for one in waiting if counts[one] < share}
        self._is_full = len(room) < len(waiting)
        return await self._tasks.claim([self._claim_of(one, limit) for one, limit in room.items()])

    async def _list_waiting(self, db: Connection) -> list[EnvironmentId]:
        return [EnvironmentId(row["id"]) for row in await db.fetch(LIST_SENDS, now=self._clock.now())]

    async def _claim_of(self, environment_id: EnvironmentId, limit: int) -> bool:
        claim = partial(claim_sends, integrations=self._integrations, limit=limit, now=self._clock.now())
        sends, has_found = await self._database.transaction(lambda db: claim(db, environment_id))
        self._in_flight.update(sends)
        for send in sends:
            self._tasks.start(self._carry(send))
        return has_found

    async def _carry(self, send: ClaimedSend) -> None:
        try:
            await deliver(send, self._gateway, self._clock.now(), self._receipts_url)
        except Exception as error:
            log.exception("Send failed", extra={"job_id": send.job.id.hex()})
            give_up(send, error, self._clock.now())
        self._carried.append(send)
        if self._recorder is None:
            self._recorder = self._tasks.start(self._record_carried())

    async def _record_carried(self) -> None:
        try:
            while self._carried:
                if len(self._in_flight) - len(self._carried) > _MANY:
                    await asyncio.sleep(_GATHER_SECONDS)
                group, self._carried = self._carried, []
                group.sort(key=lambda send: send.environment_id)
                for environment_id, sends in groupby(group, lambda send: send.environment_id):
                    await self._record(environment_id, list(sends))
        finally:
            self._recorder = None

    async def _record(self, environment_id: EnvironmentId, sends: Sequence[ClaimedSend]) -> None:
        try:
            await self._write(environment_id, sends)
        except Exception:
            log.exception("Results not recorded", extra={"environment_id": environment_id.hex()})
            await self._record_apart(environment_id, sends)
        self._in_flight.difference_update(sends)
        if self._is_full:
            self._hint.set()

    async def _record_apart(self, environment_id: EnvironmentId, sends: Sequence[ClaimedSend]) -> None:
        """Each alone, so that one that nobody foresaw does not take the others with it; it is set aside as failed."""
        for send in sends:
            try:
                if len(sends) == 1:
                    set_aside(send, self._clock.now())
                await self._write(environment_id, [send])
            except Exception:
                log.exception("Result not recorded", extra={"job_id": send.job.id.hex()})
                if len(sends) > 1:
                    await self._record_apart(environment_id, [send])

    async def _write(self, environment_id: EnvironmentId, sends: Sequence[ClaimedSend]) -> None:
        """Write results down, however long the store cannot be used; what is lost here would be sent again."""
        record = partial(record_sends, environment_id=environment_id, sends=sends, now=self._clock.now())
        while True:
            try:
                if await self._database.transaction(record):
                    self._wake_lanes()
            except StoreUnavailable as error:
                log.warning("Recording postponed", extra={"error": str(error), "count": len(sends)})
                if self._is_ending:
                    return
                await asyncio.sleep(PAUSE_SECONDS)
            else:
                return

    async def _keep_leases(self) -> None:
        while True:
            await asyncio.sleep(LEASE / SECOND / 3)
            renew = partial(renew_leases, sends=tuple(self._in_flight), now=self._clock.now())
            try:
                await self._database.transaction(renew)
            except StoreUnavailable as error:
                log.warning("Leases not renewed", extra={"error": str(error)})
