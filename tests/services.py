"""Running services that several tests share; each test has an organization of its own in them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import NamedTuple

import pytest

from clarion.clock import SystemClock
from clarion.db.port import Connection, Database
from clarion.db.postgres.database import PostgresDatabase
from clarion.db.sqlite.database import SqliteDatabase
from clarion.environments.actions import KeyRequest, create_api_key, create_organization
from clarion.environments.model import Environment
from clarion.vault import Vault
from tests.conftest import EVERY_SCOPE, VAULT_KEYS
from tests.processes import Process
from tests.servers import empty_database


class Tenant(NamedTuple):
    """The Development environment of an organization, and an API key of it."""

    environment: Environment
    key: str


class Service(NamedTuple):
    """A running `clarion serve`, and its store: to insert what only the engine or the command line writes."""

    process: Process
    database: Database

    async def make_tenant(self) -> Tenant:
        """Create an organization with two environments, as the first start does."""
        vault, now = Vault.parse(VAULT_KEYS), SystemClock().now()

        async def create(db: Connection) -> Tenant:
            made = await create_organization(db, name="Test", identifiers={}, vault=vault, now=now)
            request = KeyRequest(name="test", scopes=EVERY_SCOPE)
            key = await create_api_key(db, made[0].id, request, vault=vault, now=now)
            return Tenant(made[0], key.text)

        return await self.database.transaction(create)


@asynccontextmanager
async def running_service(
    backend: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, **environ: str
) -> AsyncIterator[Service]:
    """Start `clarion serve` on a new store."""
    folder = tmp_path_factory.mktemp("service")
    options = ["--data-dir", str(folder)]
    async with AsyncExitStack() as opened:
        if backend == "postgresql":
            server = map(request.getfixturevalue, ("postgres_url", "template"))
            options += ["--database-url", await opened.enter_async_context(empty_database(*server))]
        variables = {"CLARION_ENCRYPTION_KEYS": VAULT_KEYS, **environ}
        process = await asyncio.to_thread(Process, ["serve", *options], variables)
        opened.callback(process.close)
        database: Database
        if backend == "postgresql":
            database = await PostgresDatabase.connect(options[-1], pool_size=2)
        else:
            database = SqliteDatabase(folder / "clarion.db")
        opened.push_async_callback(database.close)
        yield Service(process, database)
