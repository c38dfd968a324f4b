"""The loop: lanes and sends in turn over all environments, for as long as there is work."""

import asyncio
import logging
from collections.abc import Sequence

from clarion.bus import Bus, Topic
from clarion.clock import SECOND, Clock, Millis
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.engine.lane import FULL_UNIT, SHARED_UNIT, UnitResult, run_lane
from clarion.engine.loop import repeat
from clarion.engine.poison import isolate_poison
from clarion.engine.sending.outgoing import ReceiptsUrl, nowhere
from clarion.engine.sending.sender import Sender
from clarion.engine.webhook_sender import WebhookSender
from clarion.errors import StoreUnavailable
from clarion.ids import EnvironmentId
from clarion.integrations.opened import OpenedIntegrations
from clarion.providers.sending.gateway import ProviderGateway
from clarion.vault import Vault

_MANY = 32
_GATHER_SECONDS = 0.003
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


class Engine:
    """Does the work of one process; any number of processes share a PostgreSQL."""

    def __init__(
        self,
        database: Database,
        *,
        clock: Clock,
        vault: Vault,
        bus: Bus,
        gateway: ProviderGateway,
        receipts_url: ReceiptsUrl = nowhere,
    ) -> None:
        self._database = database
        self._clock = clock
        self._last_lane = EnvironmentId(b"")
        self._active: dict[EnvironmentId, Millis] = {}
        self._lane_hint = asyncio.Event()
        self.sender = Sender(
            database,
            clock=clock,
            gateway=gateway,
            integrations=OpenedIntegrations(vault, clock, bus),
            wake_lanes=self.wake,
            receipts_url=receipts_url,
        )
        self.webhooks = WebhookSender(database, clock=clock, vault=vault, gateway=gateway)
        bus.listen(Topic.WORK, self.wake)

    def wake(self) -> None:
        """There may be work."""
        self._lane_hint.set()

    async def run(self) -> None:
        """Work until cancelled; what is under way to a provider is finished and recorded first."""
        async with asyncio.TaskGroup() as work:
            work.create_task(repeat(self.work_lanes, self._lane_hint))
            work.create_task(self.sender.run())
            work.create_task(self.webhooks.run())

    async def drain(self) -> None:
        """Work until nothing is due at this moment."""
        while await self.work_lanes() or await self.sender.work() or await self.webhooks.work():
            pass

    async def work_lanes(self) -> bool:
        """One unit of work in every lane that has some; tells whether there was any."""
        worked = False
        waiting = await self._database.read(self._list_lanes)
        self._remember(waiting)
        # Whoever was served last comes last: a lane with a backlog lets a new one in after one unit of work.
        for environment_id in sorted(waiting, key=lambda one: (one <= self._last_lane, one)):
            self._last_lane = environment_id
            done = await self._work_lane(environment_id)
            worked = worked or done.runs > 0
            if done.has_sends:
                self.sender.wake()
            if done.runs >= _MANY and not done.has_more:
                # More will have come by then, and a larger unit of work takes less for each.
                await asyncio.sleep(_GATHER_SECONDS)
        return worked

    async def _work_lane(self, environment_id: EnvironmentId) -> UnitResult:
        now = self._clock.now()
        try:
            size = SHARED_UNIT if len(self._active) > 1 else FULL_UNIT
            return await self._database.transaction(lambda db: run_lane(db, environment_id, now, size=size))
        except StoreUnavailable:
            raise
        except Exception:
            # One trigger or run that nobody foresaw must not hold up its environment.
            log.exception("Lane failed", extra={"environment_id": environment_id.hex()})
            return UnitResult(await isolate_poison(self._database, environment_id, now), has_sends=False)

    def _remember(self, waiting: Sequence[EnvironmentId]) -> None:
        """Which environments have had work lately: where there are several, nobody takes on much at a time."""
        now = self._clock.now()
        self._active |= dict.fromkeys(waiting, now)
        self._active = {one: at for one, at in self._active.items() if now - at <= _LATELY}

    async def _list_lanes(self, db: Connection) -> list[EnvironmentId]:
        return [EnvironmentId(row["id"]) for row in await db.fetch(LIST_LANES, now=self._clock.now())]
