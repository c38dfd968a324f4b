"""Clients of the inbox: people with a session of their own."""

from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import httpx
import pytest

from clarion.app import Application
from clarion.clock import ManualClock
from clarion.db.port import Connection, Database
from clarion.environments.model import Environment
from clarion.http.caller import SubscriberSession
from clarion.ids import SubscriberKey
from clarion.inbox.sessions.tokens import SessionTokens
from clarion.subscribers.store import ensure_subscribers
from clarion.vault import Vault
from tests.support import Site


class Person(httpx.AsyncClient):
    """An HTTP client with the session of one subscriber."""

    key: str
    token: str
    environment: Environment


MakePerson = Callable[..., Coroutine[Any, Any, Person]]


@pytest.fixture
async def make_person(
    application: Application, database: Database, site: Site, vault: Vault, clock: ManualClock
) -> AsyncIterator[MakePerson]:
    """Begin sessions: `await make_person("ada", environment)`."""
    clients: list[Person] = []

    async def make(
        key: str = "ada",
        environment: Environment | None = None,
        *,
        context_keys: tuple[str, ...] = (),
        is_proven: bool = True,
    ) -> Person:
        chosen = environment or site.development

        async def ensure(db: Connection) -> Any:
            return await ensure_subscribers(db, chosen.id, [SubscriberKey(key)], clock.now())

        subscriber = (await database.transaction(ensure))[SubscriberKey(key)]
        session = SubscriberSession(
            subscriber_id=subscriber.id, epoch=0, context_keys=context_keys, is_proven=is_proven
        )
        token = SessionTokens(vault, clock).issue(session, chosen.id, chosen.organization_id)
        transport = httpx.ASGITransport(app=application.asgi, raise_app_exceptions=False)
        person = Person(
            transport=transport, base_url="http://clarion.test", headers={"Authorization": f"Bearer {token}"}
        )
        person.key, person.token, person.environment = key, token, chosen
        clients.append(person)
        return person

    yield make
    for client in clients:
        await client.aclose()


@pytest.fixture
async def ada(make_person: MakePerson) -> Person:
    """The session of a subscriber of the Development environment."""
    person: Person = await make_person("ada")
    return person
