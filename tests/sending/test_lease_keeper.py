"""Renewing the leases of what is in flight, also while the store is out or the event loop is blocked."""

import asyncio
import threading
from collections.abc import Callable

import pytest

from clarion.app import Application
from clarion.background import Supervisor
from clarion.clock import SECOND, Millis
from clarion.db.port import Database
from clarion.db.query import sql
from clarion.engine.worker import Engine
from clarion.errors import StoreUnavailable
from clarion.providers.sending.gateway import ProviderGateway
from clarion.sending.claim import LEASE
from clarion.sending.leases import MAX_BLOCKED, LeaseKeeper
from clarion.sending.model import ClaimedSend
from clarion.sending.places import Places
from clarion.vault import Vault
from tests.engine.providers import ADA, EMAIL
from tests.engine.support import World
from tests.sending.support import claim_email
from tests.sending.test_ownership import start_slow_send
from tests.sending.test_sender import Unsteady, running, until
from tests.sending.test_sends import integrate
from tests.sending.test_several import hooks

LIST_LEASES = sql("SELECT attempt, due_at FROM jobs WHERE environment_id = :environment_id AND status = 'running'")
EXTEND_LEASES = sql("UPDATE jobs SET due_at = :due_at WHERE environment_id = :environment_id AND status = 'running'")
SHORT = Millis(90)


async def list_leases(world: World, database: Database) -> list[tuple[int, int]]:
    """The attempts of jobs that are being sent, and until when they are claimed."""
    rows = await database.read(lambda db: db.fetch(LIST_LEASES, environment_id=world.api.environment.id))
    return [(row["attempt"], row["due_at"]) for row in rows]


class Apart(Unsteady):
    """A database that can be opened a second time, as PostgreSQL can; the second is the same."""

    def __init__(self, database: Database, error: Exception | None = None) -> None:
        super().__init__(database, error)
        self.is_out = False
        self.opened = self.closed = 0
        self.open_apart, self.close = self._open, self._close

    async def _open(self) -> "Apart":
        if self.is_out:
            raise StoreUnavailable("out for a moment")
        self.opened += 1
        return self

    async def _close(self) -> None:
        self.closed += 1


async def claim(world: World) -> tuple[ClaimedSend, Places]:
    await integrate(world, "svc-email", "email")
    await world.make_workflow(EMAIL)
    await world.trigger(ADA)
    await world.engine.work_lanes()
    (send,) = await claim_email(world)
    places = Places()
    places.take([send])
    return send, places


async def test_a_running_engine_renews_the_leases_of_what_is_in_flight(
    world: World, application: Application, database: Database, vault: Vault, gateway: ProviderGateway
) -> None:
    bus = application.services.bus
    engine = Engine(database, clock=world.clock, vault=vault, bus=bus, gateway=gateway, lease=SHORT)
    async with hooks(world, "slack") as (slack,):
        may_answer = await start_slow_send(World(world.api, engine, world.clock), slack)
        world.clock.move(SHORT - 1)
        renewed = [(1, world.clock.now() + SHORT)]

        async def is_renewed() -> bool:
            return await list_leases(world, database) == renewed

        async with running(engine):
            await until(is_renewed)
            may_answer.set()

        assert await world.statuses() == [["completed"]]


async def test_leases_that_cannot_be_renewed_are_kept_as_they_are_and_renewed_later(
    world: World, database: Database
) -> None:
    send, places = await claim(world)
    before = send.lease_until
    store = Unsteady(database)
    keeper = LeaseKeeper(store, places, world.clock, lease=LEASE)
    world.clock.move(10 * SECOND)

    store.failures = 1
    await keeper.renew(store)
    assert send.lease_until == before
    assert await list_leases(world, database) == [(1, before)]

    await keeper.renew(store)
    assert send.lease_until == before + 10 * SECOND
    assert await list_leases(world, database) == [(1, before + 10 * SECOND)]


async def test_without_sends_nothing_is_asked_of_the_store(world: World, database: Database) -> None:
    store = Unsteady(database)
    store.failures = 1

    await LeaseKeeper(store, Places(), world.clock, lease=LEASE).renew(store)

    assert store.failures == 1


@pytest.mark.parametrize(("blocked_for", "is_renewed"), [(MAX_BLOCKED, True), (MAX_BLOCKED + 1, False)])
async def test_the_leases_of_a_loop_that_is_blocked_for_too_long_lapse(
    world: World, database: Database, blocked_for: int, is_renewed: bool
) -> None:
    send, places = await claim(world)
    # The lease is long enough to be renewed, so that only the blocked loop decides.
    send.lease_until = Millis(send.lease_until + 2 * MAX_BLOCKED)
    store = Apart(database)
    keeper = LeaseKeeper(store, places, world.clock, lease=LEASE)
    scope = {"environment_id": world.api.environment.id, "due_at": send.lease_until}
    await database.transaction(lambda db: db.execute(EXTEND_LEASES, **scope))
    world.clock.move(blocked_for)

    await keeper._renew_apart()

    assert (send.lease_until == world.clock.now() + LEASE) is is_renewed
    assert store.opened == int(is_renewed)


async def test_a_second_database_is_opened_once_and_only_if_there_are_sends(world: World, database: Database) -> None:
    store = Apart(database)
    await LeaseKeeper(store, Places(), world.clock, lease=LEASE)._renew_apart()
    assert store.opened == 0

    send, places = await claim(world)
    keeper = LeaseKeeper(store, places, world.clock, lease=LEASE)
    store.is_out = True
    await keeper._renew_apart()
    assert send.lease_until == world.clock.now() + LEASE
    store.is_out = False
    for _ in range(2):
        world.clock.move(SECOND)
        await keeper._renew_apart()

    assert (store.opened, store.closed) == (1, 0)
    assert send.lease_until == world.clock.now() + LEASE


async def test_leases_are_renewed_until_the_end_whatever_fails_and_the_second_database_is_closed_then(
    world: World, database: Database, logged_errors: Callable[[], list[str]]
) -> None:
    send, places = await claim(world)
    store = Apart(database, RuntimeError("a bug"))
    store.failures = 1
    keeper = LeaseKeeper(store, places, world.clock, lease=SHORT)
    world.clock.move(1)
    stop = asyncio.Event()
    keeping = asyncio.create_task(keeper._keep(stop))

    async def is_renewed() -> bool:
        return send.lease_until == world.clock.now() + SHORT

    await until(is_renewed)
    assert (store.opened, store.closed) == (1, 0)
    stop.set()
    await keeping

    assert (store.opened, store.closed) == (1, 1)
    assert logged_errors() == ["Leases not renewed"]


async def test_the_thread_ends_with_the_keeper_and_keeps_no_process_from_ending(
    world: World, database: Database
) -> None:
    def find_threads() -> list[threading.Thread]:
        return [one for one in threading.enumerate() if one.name == "clarion-leases"]

    service = LeaseKeeper(database, Places(), world.clock, lease=LEASE).make_service()
    keeping = asyncio.create_task(Supervisor().run([service]))
    async with asyncio.timeout(30):
        while not find_threads():  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0)
    (thread,) = find_threads()
    # A process that ends without a stop, because its loop broke, would wait for any other thread for ever.
    assert thread.daemon

    keeping.cancel()
    await asyncio.wait([keeping])
    assert find_threads() == []
