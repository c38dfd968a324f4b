"""The engine of one process: lanes, sends and webhooks, for as long as there is work."""

import asyncio
import logging
import time
from collections.abc import Iterable, Sequence
from functools import partial

from msgspec import Struct

from clarion.background import IDLE_SECONDS, BackgroundService, ServiceName
from clarion.bus import Bus, Signal
from clarion.clock import SECOND, Clock, Millis, wall_nanoseconds
from clarion.content.environment import ContentSource
from clarion.db.port import Connection, Database, Dialect
from clarion.db.query import sql
from clarion.db.queue_plans import distinct_environments, due_environments
from clarion.engine.cancel import continue_cancel
from clarion.engine.membership import Membership
from clarion.engine.poison import isolate_poison
from clarion.engine.records import Run
from clarion.engine.run_traces import RunTracer
from clarion.engine.unit import MAX_RUNS, UnitResult, measure_unit, run_unit
from clarion.errors import StoreUnavailable
from clarion.ids import EnvironmentId
from clarion.inbox.sockets.announcements import Arrival, publish_arrivals, publish_new_contents
from clarion.integrations.store import IntegrationCache
from clarion.jobs.lanes import ALL_LANES, IN_LANES, LaneSet
from clarion.monitoring.metrics import Measures
from clarion.monitoring.traces.tracer import Tracer
from clarion.providers.sending.gateway import ProviderGateway
from clarion.sending.claim import LEASE
from clarion.sending.outgoing import ReceiptsUrl, nowhere
from clarion.sending.sender import Sender
from clarion.triggers.due import DueTriggers
from clarion.vault import Vault
from clarion.vocabulary import Channel
from clarion.waits.matcher import EventMatcher
from clarion.webhooks.sender import WebhookSender

STEAL_AFTER = Millis(SECOND // 2)
"""Work that waits this long in another worker's lanes is taken by a worker that has nothing to do."""

_LARGE_UNIT = 32
_UNITS_ALONE = 8
_GATHER_SECONDS = 0.003
_RECENT = 5 * SECOND

log = logging.getLogger(__name__)


class BusyEnvironment(Struct, frozen=True):
    """An environment with work."""

    environment_id: EnvironmentId
    is_own: bool
    """Whether some of it is in the given lanes, or belongs to no lane yet."""
    has_canceling: bool
    """Whether jobs of a canceled fan-out are left to be canceled."""


# Look-ups of the first row in the order of an index: asked for any row, PostgreSQL may read a whole queue for it.
LIST_BUSY = sql(f"""
    WITH RECURSIVE
    {distinct_environments("queued", "triggers WHERE state = 'queued'")},
    {distinct_environments("splitting", "triggers WHERE state = 'splitting'")},
    {distinct_environments("canceling", "triggers WHERE state = 'canceling'")},
    {distinct_environments("parted", "trigger_parts WHERE lane >= 0")},
    {due_environments("due", "jobs WHERE queue = 1")},
    busy (id) AS (
        SELECT id FROM queued UNION SELECT id FROM splitting UNION SELECT id FROM canceling UNION SELECT id FROM parted
        UNION SELECT id FROM due
    )
    SELECT busy.id AS environment_id, COALESCE(
        (
            SELECT 1 FROM triggers WHERE environment_id = busy.id AND state = 'queued' AND {IN_LANES}
            ORDER BY priority, id LIMIT 1
        ),
        (SELECT 1 FROM triggers WHERE environment_id = busy.id AND state = 'splitting' ORDER BY priority, id LIMIT 1),
        (
            SELECT 1 FROM trigger_parts WHERE environment_id = busy.id AND {IN_LANES}
            ORDER BY priority, trigger_id, id LIMIT 1
        ),
        (
            SELECT 1 FROM jobs WHERE environment_id = busy.id AND queue = 1 AND due_at <= :now AND {IN_LANES}
            ORDER BY due_at, id LIMIT 1
        )
    ) IS NOT NULL AS is_own, busy.id IN (SELECT id FROM canceling WHERE id IS NOT NULL) AS has_canceling
    FROM busy
    WHERE busy.id IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM environments WHERE id = busy.id AND deleted_at IS NOT NULL)
    ORDER BY busy.id
""")


async def list_busy(db: Connection, lanes: LaneSet, now: Millis) -> list[BusyEnvironment]:
    """The environments that have something to decide at this moment."""
    rows = await db.fetch(LIST_BUSY, now=now, **lanes.parameters)
    return [
        BusyEnvironment(EnvironmentId(row["environment_id"]), bool(row["is_own"]), bool(row["has_canceling"]))
        for row in rows
    ]


class UnitSizes:
    """How many runs a unit takes on: few enough that other environments do not wait long for it.

    An environment that is busy alone gets full units. On SQLite everyone waits for the writer, so units are shorter.
    """

    MIN_RUNS = 8
    _FIRST_GUESS_MILLISECONDS = 0.4
    _WEIGHT_OF_NEWEST = 0.3

    def __init__(self, dialect: Dialect) -> None:
        self._budget = 10.0 if dialect is Dialect.SQLITE else 25.0
        self._active: dict[EnvironmentId, Millis] = {}
        self._milliseconds_per_run: dict[EnvironmentId, float] = {}

    def note_busy(self, busy: Sequence[BusyEnvironment], now: Millis) -> None:
        """Remember which environments have had work recently."""
        self._active |= {one.environment_id: now for one in busy}
        self._active = {one: at for one, at in self._active.items() if now - at <= _RECENT}
        self._milliseconds_per_run = {
            one: cost for one, cost in self._milliseconds_per_run.items() if one in self._active
        }

    def note_unit(self, environment_id: EnvironmentId, runs: int, milliseconds: float) -> None:
        if runs >= self.MIN_RUNS:
            before = self._milliseconds_per_run.get(environment_id, milliseconds / runs)
            self._milliseconds_per_run[environment_id] = before + self._WEIGHT_OF_NEWEST * (
                milliseconds / runs - before
            )

    def size_for(self, environment_id: EnvironmentId) -> int:
        if len(self._active) <= 1:
            return MAX_RUNS
        cost = self._milliseconds_per_run.get(environment_id, self._FIRST_GUESS_MILLISECONDS)
        return max(self.MIN_RUNS, min(MAX_RUNS, int(self._budget / max(cost, 0.01))))


class Engine:
    """Does the work of one process; any number of processes share a PostgreSQL."""

    def __init__(  # noqa: PLR0913 - what it is composed of
        self,
        database: Database,
        *,
        clock: Clock,
        vault: Vault,
        bus: Bus,
        gateway: ProviderGateway,
        receipts_url: ReceiptsUrl = nowhere,
        public_url: str | None = None,
        lease: Millis = LEASE,
        tracer: Tracer | None = None,
        measures: Measures | None = None,
    ) -> None:
        self._database = database
        self.source = ContentSource(vault=vault, public_url=public_url)
        self._measures = measures or Measures()
        self._clock = clock
        self._traces = None if tracer is None else RunTracer(database, tracer)
        self._bus = bus
        self._announce_work = partial(bus.publish, Signal.WORK)
        self._last_served = EnvironmentId(b"")
        self._sizes = UnitSizes(database.dialect)
        self._foreign_since: dict[EnvironmentId, Millis] = {}
        self._hint = asyncio.Event()
        self.membership = Membership(database, clock.now())
        self.sender = Sender(
            database,
            clock=clock,
            gateway=gateway,
            integrations=IntegrationCache(vault),
            wake_lanes=self._announce_work,
            receipts_url=receipts_url,
            public_url=public_url,
            lease=lease,
            tracer=tracer,
            measures=self._measures,
        )
        self.webhooks = WebhookSender(
            database, clock=clock, vault=vault, gateway=gateway, tracer=tracer, measures=self._measures
        )
        self.due_triggers = DueTriggers(database, clock=clock, bus=bus)
        self.events = EventMatcher(database, clock=clock, bus=bus, membership=self.membership)
        bus.listen(Signal.WORK, self.wake)

    def wake(self) -> None:
        """There may be work."""
        self._hint.set()
        self.due_triggers.wake()
        self.events.wake()

    def list_services(self, grace_seconds: float | None = None) -> list[BackgroundService]:
        """The work of the engine; at the end, calls of providers that are under way have the grace period."""
        lanes = BackgroundService(
            name=ServiceName.LANES,
            run_once=partial(self.work_lanes, units_alone=_UNITS_ALONE),
            interval=IDLE_SECONDS,
            wake_up=self._hint,
            finish=None if self._traces is None else self._traces.finish,
        )
        return [
            lanes,
            self.due_triggers.make_service(),
            self.events.make_service(),
            *self.membership.list_services(),
            *self.sender.list_services(grace_seconds),
            self.webhooks.make_service(grace_seconds),
        ]

    async def drain(self) -> None:
        """Work until nothing is due at this moment."""
        works = (self.due_triggers.work, self.events.work, self.work_lanes, self.sender.work, self.webhooks.work)
        while any([await work() for work in works]):
            pass
        if self._traces is not None:
            await self._traces.finish()

    async def work_lanes(self, *, units_alone: int = 1) -> bool:
        """One unit of work in every environment that has some; returns whether there was any.

        An environment that has work alone gets up to `units_alone` of them, as long as no other work is announced.
        """
        now, lanes, worked = self._clock.now(), self.membership.lanes, False
        self._hint.clear()
        busy = await self._database.read(lambda db: list_busy(db, lanes, now))
        self._sizes.note_busy(busy, now)
        # The environment that was served last comes last: one with a backlog lets others in after one unit.
        for environment in sorted(busy, key=lambda one: (one.environment_id <= self._last_served, one.environment_id)):
            if environment.has_canceling:
                await self._database.transaction(
                    partial(continue_cancel, environment_id=environment.environment_id, now=self._clock.now())
                )
                worked = True
            takes = lanes if environment.is_own else self._lanes_to_steal(environment.environment_id, now)
            if not takes:
                continue
            self._last_served = environment.environment_id
            done = await self._run_unit(environment.environment_id, takes)
            for _ in range(units_alone - 1 if len(busy) == 1 else 0):
                if not done.has_more or self._hint.is_set():
                    break
                done = await self._run_unit(environment.environment_id, takes)
            worked = worked or done.runs > 0
            if done.runs >= _LARGE_UNIT and not done.has_more:
                # More will have come after a moment, and a larger unit costs less per run.
                await asyncio.sleep(_GATHER_SECONDS)
        self._foreign_since = {
            one.environment_id: self._foreign_since.get(one.environment_id, now) for one in busy if not one.is_own
        }
        return worked

    def _lanes_to_steal(self, environment_id: EnvironmentId, now: Millis) -> LaneSet:
        """All lanes, where work of other workers has waited for long: they may be dead, or have too much to do."""
        waits_since = self._foreign_since.get(environment_id)
        return ALL_LANES if waits_since is not None and now - waits_since >= STEAL_AFTER else LaneSet(0)

    async def _run_unit(self, environment_id: EnvironmentId, lanes: LaneSet) -> UnitResult:
        now, started = self._clock.now(), time.perf_counter()
        limit = self._sizes.size_for(environment_id)
        announce = partial(self._announce, environment_id, 0 if self._traces is None else wall_nanoseconds())
        try:
            done = await self._database.transaction(
                lambda db: run_unit(db, environment_id, now, lanes=lanes, source=self.source, limit=limit)
            )
        except StoreUnavailable:
            raise
        except Exception:
            # One trigger or run that fails unexpectedly must not hold up its environment.
            log.exception("Unit of work failed", extra={"environment_id": environment_id.hex()})
            runs = await isolate_poison(
                self._database, environment_id, lanes, now, source=self.source, announce=announce
            )
            return UnitResult(runs=runs)
        announce(done)
        self._sizes.note_unit(environment_id, done.runs, (time.perf_counter() - started) * 1000)
        if done.has_batches:
            self._announce_work()
        if done.has_sends:
            self.sender.wake()
        return done

    def _announce(self, environment_id: EnvironmentId, started_at: int, done: UnitResult) -> None:
        if done.runs:
            measure_unit(self._measures, done, self._clock.now())
        if self._traces is not None:
            self._traces.trace(environment_id, done.delivered, started_at)
        if done.changed:
            publish_new_contents(self._bus, environment_id, done.changed)
        if done.delivered and self._bus.is_watched(environment_id):
            publish_arrivals(self._bus, _list_arrivals(environment_id, done.delivered))


def _list_arrivals(environment_id: EnvironmentId, runs: Iterable[Run]) -> list[Arrival]:
    """Return the in-app messages of runs, in the order in which they were made."""
    return [
        Arrival(environment_id, run.subscriber.id, message.id)
        for run in runs
        for message in run.messages
        if message.channel is Channel.IN_APP
    ]
