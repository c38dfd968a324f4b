"""A store of each database with an environment that the demo filled, beside another one with a person."""

from collections.abc import AsyncIterator

import pytest
from msgspec import Struct

from clarion.audit.model import Actor, ActorType, Author
from clarion.clock import Millis
from clarion.db.port import Connection, Database
from clarion.demo.filling import Contents, fill_environment
from clarion.environments.actions import create_organization
from clarion.environments.model import Environment
from clarion.ids import SubscriberKey
from clarion.subscribers.store import ensure_subscribers
from clarion.vault import Vault
from tests.conftest import VAULT_KEYS, open_store

UNTIL = Millis(1_773_502_013_000)  # 2026-03-14T15:26:53Z
AUTHOR = Author(actor=Actor(type=ActorType.COMMAND_LINE, name="ada@laptop"))


class Filled(Struct, frozen=True):
    database: Database
    environment: Environment
    contents: Contents


@pytest.fixture(scope="session")
async def filled(
    backend: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Filled]:
    vault = Vault.parse(VAULT_KEYS)

    async def prepare(db: Connection) -> Environment:
        environment, other = await create_organization(db, name="Larkspur", identifiers={}, vault=vault, now=UNTIL)
        await ensure_subscribers(db, other.id, [SubscriberKey("somebody")], UNTIL)
        return environment

    async with open_store(backend, request, tmp_path_factory) as database:
        environment = await database.transaction(prepare)
        made = await fill_environment(database, environment, vault=vault, until=UNTIL, author=AUTHOR)
        yield Filled(database, environment, made)


@pytest.fixture(scope="session")
def weeks() -> list[object]:
    """A summary of the week on each database."""
    return []
