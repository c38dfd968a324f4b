"""`isOnline` and `lastOnlineAt` follow the sockets: several tabs, several processes, and processes that die."""

import asyncio
from collections.abc import Callable
from typing import Any

from clarion.app import Application, build_application
from clarion.background import Supervisor
from clarion.clock import ManualClock
from clarion.db.port import Database, Dialect
from clarion.db.postgres.database import PostgresDatabase
from clarion.db.query import Insert, sql
from clarion.ids import SubscriberKey, new_id
from clarion.inbox.sockets.hosts import LIFETIME, Hosts
from clarion.inbox.sockets.presence import remove_earlier_hosts, remove_host
from clarion.providers.sending.gateway import ProviderGateway
from clarion.settings.model import Settings
from clarion.subscribers.model import Subscriber
from clarion.subscribers.store import get_subscriber
from clarion.vault import Vault
from tests.inbox.conftest import MakePerson, Person
from tests.inbox.sockets.clients import TIMEOUT_SECONDS, PlainClient, SocketIoClient
from tests.inbox.sockets.conftest import serve
from tests.records import NOW

COUNT_ROWS = sql("SELECT count(*) AS n FROM online_people WHERE environment_id = :environment_id")
SET_ONLINE = sql("UPDATE subscribers SET is_online = TRUE WHERE environment_id = :environment_id AND key = 'ada'")
INSERT_HOST = sql("INSERT INTO socket_hosts (id, environment_ids, seen_at) VALUES (:id, '[]', :seen_at)")
DELETE_HOST = sql("DELETE FROM socket_hosts WHERE id = :id")
LIST_HOSTS = sql("SELECT id FROM socket_hosts")
INSERT_ROW = Insert("online_people", "environment_id", "subscriber_id", "host_id")


async def read(database: Database, person: Person) -> Subscriber:
    return await database.read(lambda db: get_subscriber(db, person.environment.id, SubscriberKey(person.key)))


async def wait_until_online(database: Database, person: Person, *, is_online: bool) -> Subscriber:
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while True:
            found = await read(database, person)
            if bool(found.is_online) == is_online:
                return found
            await asyncio.sleep(0.02)


async def count_rows(database: Database, person: Person) -> int:
    row = await database.read(lambda db: db.fetch_one(COUNT_ROWS, environment_id=person.environment.id))
    return 0 if row is None else int(row["n"])


async def wait_for_rows(database: Database, person: Person, count: int) -> None:
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while await count_rows(database, person) != count:  # noqa: ASYNC110 - another process changes it
            await asyncio.sleep(0.02)


async def wait_for_flush(application: Application) -> None:
    """Wait until what happened so far is written."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while application.realtime.presence._changed:  # noqa: ASYNC110 - changed by another task
            await asyncio.sleep(0.02)


async def test_a_person_is_online_until_their_last_tab_is_closed(
    address: str, ada: Person, application: Application, database: Database, clock: ManualClock
) -> None:
    before = await read(database, ada)
    async with PlainClient.open(address, ada.token):
        async with SocketIoClient.open(address, ada.token):
            online = await wait_until_online(database, ada, is_online=True)
        clock.move(5000)
        await asyncio.sleep(0)
        await wait_for_flush(application)
        assert (await read(database, ada)).is_online
    offline = await wait_until_online(database, ada, is_online=False)

    assert (bool(before.is_online), before.last_online_at, online.last_online_at) == (False, None, None)
    assert offline.last_online_at == clock.now()
    # Nobody edited the subscriber.
    assert (offline.version, offline.updated_at) == (before.version, before.updated_at)


async def test_many_people_are_written_in_few_transactions(
    address: str, make_person: MakePerson, application: Application, database: Database
) -> None:
    people = [await make_person(f"person-{number}") for number in range(40)]
    writes: list[int] = []
    presence: Any = application.realtime.presence
    exchange = presence._exchange

    async def count(db: Any, came: Any, left: Any, now: Any) -> None:
        writes.append(len(came) + len(left))
        await exchange(db, came, left, now)

    presence._exchange = count
    sockets = [PlainClient.open(address, one.token) for one in people]
    await asyncio.gather(*(one.__aenter__() for one in sockets))
    for one in people:
        await wait_until_online(database, one, is_online=True)
    await asyncio.gather(*(one.__aexit__(None, None, None) for one in sockets))
    for one in people:
        await wait_until_online(database, one, is_online=False)

    assert sum(writes) == 80
    assert len(writes) < 20


async def test_a_deleted_person_leaves_no_row(
    address: str, ada: Person, api: Any, application: Application, database: Database
) -> None:
    async with PlainClient.open(address, ada.token):
        await wait_until_online(database, ada, is_online=True)
        await api.delete("/v2/subscribers/ada")

    await wait_for_flush(application)
    assert await count_rows(database, ada) == 0


async def test_a_person_stays_online_while_another_process_has_their_socket(
    ada: Person,
    database: Database,
    vault: Vault,
    gateway: ProviderGateway,
    clock: ManualClock,
    settings: Settings,
) -> None:
    first, second = [build_application(settings, database, vault, gateway, clock=clock) for _ in range(2)]
    async with serve(first) as one, serve(second) as other:
        async with PlainClient.open(one, ada.token):
            await wait_for_rows(database, ada, 1)
            async with PlainClient.open(other, ada.token):
                await wait_for_rows(database, ada, 2)
            await wait_for_rows(database, ada, 1)
            assert (await read(database, ada)).is_online
        await wait_until_online(database, ada, is_online=False)


async def test_what_a_dead_process_left_is_removed(
    ada: Person, make_person: MakePerson, database: Database, clock: ManualClock
) -> None:
    bob = await make_person("bob")
    dead, alive = new_id(clock.now()), new_id(clock.now())
    rows = []
    for person, hosts in ((ada, [dead]), (bob, [dead, alive])):
        subscriber = await read(database, person)
        rows += [(person.environment.id, subscriber.id, host) for host in hosts]
    await database.transaction(lambda db: db.insert_many(INSERT_ROW, rows))
    await database.transaction(lambda db: db.execute(SET_ONLINE, environment_id=ada.environment.id))

    assert await remove_host(database, dead, NOW) == 2

    found = await read(database, ada)
    assert (found.is_online, found.last_online_at) == (False, NOW)
    assert (await read(database, bob)).last_online_at is None
    assert await count_rows(database, ada) == 1
    await remove_host(database, alive, NOW)


async def test_on_sqlite_a_start_removes_what_a_crash_left(ada: Person, database: Database, clock: ManualClock) -> None:
    subscriber = await read(database, ada)
    row = (ada.environment.id, subscriber.id, new_id(clock.now()))
    await database.transaction(lambda db: db.insert_many(INSERT_ROW, [row]))
    await database.transaction(lambda db: db.execute(SET_ONLINE, environment_id=ada.environment.id))

    await remove_earlier_hosts(database, clock.now())

    is_removed = database.dialect is Dialect.SQLITE
    assert await count_rows(database, ada) == (0 if is_removed else 1)
    assert (await read(database, ada)).is_online is not is_removed


async def run_hosts(database: Database, own_id: bytes, is_done: Callable[[], Any]) -> list[str]:
    """Send heartbeats until something is the case; returns what was reported."""
    reported: list[str] = []
    hosts = Hosts(
        database,
        own_id,
        list_watched=list,
        on_new=lambda _: reported.append("new"),
        on_removed=lambda: reported.append("removed"),
    )
    running = asyncio.create_task(Supervisor().run([hosts.make_service()]))
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while not await is_done():  # noqa: ASYNC110 - another task changes it
                await asyncio.sleep(0.02)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    return reported


async def test_a_live_process_cleans_up_after_a_dead_one(fresh_postgres_url: str, clock: ManualClock) -> None:
    from clarion.db.migrations.migrate import migrate_postgres

    await migrate_postgres(fresh_postgres_url)
    database = await PostgresDatabase.connect(fresh_postgres_url, pool_size=2)
    dead, own = new_id(clock.now()), new_id(clock.now())
    await database.transaction(lambda db: db.execute(INSERT_HOST, id=dead, seen_at=NOW - LIFETIME))

    async def is_alone() -> bool:
        return [row["id"] for row in await database.read(lambda db: db.fetch(LIST_HOSTS))] == [own]

    try:
        assert await run_hosts(database, own, is_alone) == []
    finally:
        await database.close()


async def test_a_process_that_was_taken_to_be_dead_enters_again(fresh_postgres_url: str, clock: ManualClock) -> None:
    from clarion.db.migrations.migrate import migrate_postgres

    await migrate_postgres(fresh_postgres_url)
    database = await PostgresDatabase.connect(fresh_postgres_url, pool_size=2)
    reported: list[str] = []
    hosts = Hosts(
        database,
        new_id(clock.now()),
        list_watched=list,
        on_new=lambda _: None,
        on_removed=lambda: reported.append("removed"),
    )

    try:
        await hosts.beat()
        await hosts.beat()
        assert reported == []
        await database.transaction(lambda db: db.execute(DELETE_HOST, id=hosts.own_id))
        await hosts.beat()
    finally:
        await database.close()

    assert reported == ["removed"]
