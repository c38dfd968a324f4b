"""Fixtures: both databases, an application on each, and new environments for every test."""

import asyncio
import base64
import itertools
import os
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import httpx
import pytest

from clarion.app import Application, build_application
from clarion.clock import ManualClock, Millis
from clarion.db.migrations.migrate import migrate_postgres, migrate_sqlite
from clarion.db.port import Connection, Database
from clarion.db.postgres.database import PostgresDatabase
from clarion.db.query import sql
from clarion.db.sqlite.database import SqliteDatabase
from clarion.environments import actions
from clarion.environments.model import Environment
from clarion.integrations.actions import create_in_app_integration
from clarion.providers.sending.gateway import ProviderGateway
from clarion.providers.transport.egress import EgressGuard
from clarion.settings.model import Settings
from clarion.vault import Vault
from clarion.vocabulary import GIVEN_BY_NAME, Scope
from tests.servers import WITHOUT_SYNC, database_name, empty_database, postgres_server
from tests.support import Api, MakeApi, Site

pytest_plugins = ["tests.overhead", "tests.processes", "tests.scheduling"]

BACKENDS = ("sqlite", "postgresql")
CANCEL_DUE_WORK = (
    sql("UPDATE triggers SET state = 'canceled' WHERE environment_id {any:environment_ids} AND state <> 'done'"),
    sql("DELETE FROM trigger_parts WHERE environment_id {any:environment_ids}"),
    sql("UPDATE jobs SET queue = NULL WHERE environment_id {any:environment_ids} AND queue IN (1, 2)"),
    sql("UPDATE schedules SET next_at = NULL WHERE environment_id {any:environment_ids}"),
    sql("UPDATE messages SET snoozed_until = NULL WHERE environment_id {any:environment_ids}"),
    sql("""
        UPDATE webhook_deliveries SET status = 'failed'
        WHERE environment_id {any:environment_ids} AND status = 'queued'
    """),
)
VAULT_KEYS = f"test:{base64.b64encode(bytes(range(32))).decode()}"
EVERY_SCOPE = frozenset({Scope.ALL, *GIVEN_BY_NAME})
_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A real PostgreSQL: the one of CLARION_TEST_DATABASE_URL, or one that this test worker starts from a wheel."""
    given = os.environ.get("CLARION_TEST_DATABASE_URL")
    if given:
        yield given
        return
    with postgres_server(settings=WITHOUT_SYNC) as server:
        yield server.url


@pytest.fixture(scope="session")
def template(postgres_url: str) -> Iterator[str]:
    """The name of a migrated database without rows; a copy of it is made faster than migrations run."""
    opened = AsyncExitStack()

    async def create() -> str:
        url = await opened.enter_async_context(empty_database(postgres_url))
        await migrate_postgres(url)
        return database_name(url)

    # Fixtures that need it run in an event loop, so it has one of its own in a thread.
    with ThreadPoolExecutor(1) as thread, asyncio.Runner() as runner:
        yield thread.submit(runner.run, create()).result()
        thread.submit(runner.run, opened.aclose()).result()
        thread.submit(runner.close).result()


@pytest.fixture(scope="session", params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="session")
async def database(
    backend: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Database]:
    """A migrated store that the tests of one worker share; each test has its own environments in it."""
    async with open_store(backend, request, tmp_path_factory) as opened:
        yield opened


@asynccontextmanager
async def open_store(
    backend: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Database]:
    """Open a new migrated store."""
    if backend == "sqlite":
        opening = _open_sqlite(tmp_path_factory.mktemp("sqlite"))
    else:
        opening = _open_postgres(request.getfixturevalue("postgres_url"), request.getfixturevalue("template"))
    async with opening as opened:
        yield opened


@asynccontextmanager
async def _open_sqlite(folder: Path) -> AsyncIterator[Database]:
    path = folder / "clarion.db"
    migrate_sqlite(path)
    opened = SqliteDatabase(path)
    yield opened
    await opened.close()


@asynccontextmanager
async def _open_postgres(server_url: str, template: str) -> AsyncIterator[Database]:
    """Parallel workers may share one server, never one database: an engine would claim the jobs of other tests."""
    async with empty_database(server_url, template) as url:
        opened = await PostgresDatabase.connect(url, pool_size=8)
        yield opened
        await opened.close()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(Millis(1_767_225_600_000))  # 2026-01-01T00:00:00Z


@pytest.fixture
def vault() -> Vault:
    """Each test has its own, because a vault remembers the keys that it lacked, and readiness says so."""
    return Vault.parse(VAULT_KEYS)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path)


@pytest.fixture
async def gateway(clock: ManualClock) -> AsyncIterator[ProviderGateway]:
    """A gateway that can only reach the loopback servers of tests."""
    async with ProviderGateway(EgressGuard(("127.0.0.0/8",)), clock=clock) as entered:
        yield entered


@pytest.fixture
def application(
    database: Database, settings: Settings, vault: Vault, gateway: ProviderGateway, clock: ManualClock
) -> Application:
    return build_application(settings, database, vault, gateway, clock=clock)


@pytest.fixture
async def site(database: Database, vault: Vault, clock: ManualClock) -> AsyncIterator[Site]:
    async def create(db: Connection) -> Site:
        development, production = await actions.create_without_inboxes(
            db, name="Test", identifiers={}, vault=vault, now=clock.now()
        )
        for environment in (development, production):
            await create_in_app_integration(db, environment.id, vault=vault, now=clock.now())
        return Site(development, production)

    made = await database.transaction(create)
    yield made

    async def cancel_due_work(db: Connection) -> None:
        """Later tests share the store, and their engines would process what is still due here."""
        for query in CANCEL_DUE_WORK:
            await db.execute(query, environment_ids=[made.development.id, made.production.id])

    await database.transaction(cancel_due_work)


@pytest.fixture
async def make_api(
    application: Application, database: Database, site: Site, vault: Vault, clock: ManualClock
) -> AsyncIterator[MakeApi]:
    """Create clients, each with a new API key: `await make_api(environment, scopes)`."""
    clients: list[Api] = []

    async def make(environment: Environment | None = None, scopes: frozenset[Scope] | None = None) -> Api:
        chosen = environment or site.development
        request = actions.KeyRequest(name=f"key {next(_numbers)}", scopes=scopes or EVERY_SCOPE)
        made = await database.transaction(
            lambda db: actions.create_api_key(db, chosen.id, request, vault=vault, now=clock.now())
        )
        transport = httpx.ASGITransport(app=application.asgi, raise_app_exceptions=False)
        headers = {"Authorization": f"ApiKey {made.text}"}
        api = Api(transport=transport, base_url="http://clarion.test", headers=headers)
        api.environment, api.key = chosen, made.text
        clients.append(api)
        return api

    yield make
    for client in clients:
        await client.aclose()


@pytest.fixture
async def api(make_api: MakeApi) -> Api:
    """A client of the Development environment with all scopes."""
    client: Api = await make_api()
    return client


@pytest.fixture
async def other_api(make_api: MakeApi, site: Site) -> Api:
    """A client of another environment of the same organization."""
    client: Api = await make_api(site.production)
    return client
