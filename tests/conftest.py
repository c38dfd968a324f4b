"""Fixtures: both databases, an application on each, and an environment of its own for every test."""

import base64
import itertools
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest

from clarion.app import Application, build_application
from clarion.clock import ManualClock, Millis
from clarion.db.migrate import migrate_postgres, migrate_sqlite
from clarion.db.port import Connection, Database
from clarion.db.postgres import PostgresDatabase
from clarion.db.query import sql
from clarion.db.sqlite import SqliteDatabase
from clarion.environments import actions
from clarion.environments.model import Environment
from clarion.integrations.actions import create_in_app_integration
from clarion.providers.sending.gateway import ProviderGateway
from clarion.providers.transport.egress import EgressGuard
from clarion.settings import Settings
from clarion.vault import Vault
from clarion.vocabulary import Scope
from tests.servers import postgres_server
from tests.support import Api, MakeApi, Site

pytest_plugins = ["tests.processes"]

BACKENDS = ("sqlite", "postgresql")
LEAVE_NOTHING_TO_DO = (
    sql("UPDATE triggers SET state = 'canceled' WHERE environment_id {any:environment_ids} AND state = 'queued'"),
    sql("UPDATE jobs SET runnable = NULL WHERE environment_id {any:environment_ids} AND runnable IN (1, 2)"),
    sql("""
        UPDATE webhook_deliveries SET status = 'failed'
        WHERE environment_id {any:environment_ids} AND status = 'queued'
    """),
)
_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def postgres_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real PostgreSQL: the one of CLARION_TEST_DATABASE_URL, or one started from a wheel."""
    given = os.environ.get("CLARION_TEST_DATABASE_URL")
    if given:
        yield given
        return
    with postgres_server(tmp_path_factory.mktemp("postgres")) as server:
        yield server.url


@pytest.fixture(scope="session", params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="session")
async def database(
    backend: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Database]:
    """A migrated store, shared by the tests of its kind: environments keep them apart."""
    opened: Database
    if backend == "sqlite":
        path: Path = tmp_path_factory.mktemp("sqlite") / "clarion.db"
        migrate_sqlite(path)
        opened = SqliteDatabase(path)
    else:
        url: str = request.getfixturevalue("postgres_url")
        await migrate_postgres(url)
        opened = await PostgresDatabase.connect(url, pool_size=8)
    yield opened
    await opened.close()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(Millis(1_767_225_600_000))  # 2026-01-01T00:00:00Z


@pytest.fixture(scope="session")
def vault() -> Vault:
    return Vault.parse(f"test:{base64.b64encode(bytes(range(32))).decode()}")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path)


@pytest.fixture
async def gateway(clock: ManualClock) -> AsyncIterator[ProviderGateway]:
    """Reaches the loopback servers of tests, and nothing else."""
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
        development, production = await actions.create_organization(db, name="Test", identifiers={}, now=clock.now())
        for environment in (development, production):
            await create_in_app_integration(db, environment.id, vault=vault, now=clock.now())
        return Site(development, production)

    made = await database.transaction(create)
    yield made

    async def leave_nothing_to_do(db: Connection) -> None:
        """Engines of later tests share the store: what is due here would be theirs to send."""
        for query in LEAVE_NOTHING_TO_DO:
            await db.execute(query, environment_ids=[made.development.id, made.production.id])

    await database.transaction(leave_nothing_to_do)


@pytest.fixture
async def make_api(
    application: Application, database: Database, site: Site, clock: ManualClock
) -> AsyncIterator[MakeApi]:
    """Clients with keys of their own: `await make_api()`, for an environment, with scopes."""
    clients: list[Api] = []

    async def make(environment: Environment | None = None, scopes: frozenset[Scope] | None = None) -> Api:
        chosen = environment or site.development
        request = actions.KeyRequest(name=f"key {next(_numbers)}", scopes=scopes or frozenset({Scope.ALL}))
        made = await database.transaction(lambda db: actions.create_api_key(db, chosen.id, request, clock.now()))
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
    """A client of the Development environment that may do everything."""
    client: Api = await make_api()
    return client


@pytest.fixture
async def other_api(make_api: MakeApi, site: Site) -> Api:
    """A client of another environment of the same organization."""
    client: Api = await make_api(site.production)
    return client
