"""A server in the process of the test, and messages that arrive for people."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

from clarion.app import Application
from clarion.bus import InboxChange
from clarion.cli.serving import _make_server
from clarion.clock import ManualClock
from clarion.db.port import Database
from clarion.http.server.connections import ConnectionLimits, ConnectionTable
from tests.inbox.conftest import MakePerson, Person, ada, make_person
from tests.inbox.sockets.clients import SocketClient
from tests.records import MadeMessage, make_job, make_message, make_notification, make_subscriber
from tests.support import Site

__all__ = ["ada", "make_person"]

LIMITS = ConnectionLimits(max_connections=50, header_seconds=15, body_seconds=30, idle_seconds=60)


@asynccontextmanager
async def serve(application: Application, *, max_sockets: int = 100, is_alone: bool = False) -> AsyncIterator[str]:
    """Serve an application as `clarion api` does, on a free port; yields its address.

    One that is alone does not look for other processes. If it did, it would count everybody again a second after the
    first socket, which may be just before a message is announced: then the counts come first.
    """
    table = ConnectionTable(LIMITS, application.services.clock)
    server = _make_server(application, table)
    server.config.load()
    server.config.port = 0
    sockets = [server.config.bind_socket()]
    services = application.realtime.list_socket_services(max_sockets)
    if not is_alone:
        services += application.realtime.list_services()
    background = asyncio.create_task(application.background.run(services))
    serving = asyncio.create_task(server._serve(sockets))
    while not server.started:  # noqa: ASYNC110 - uvicorn does not report it
        await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{sockets[0].getsockname()[1]}"
    finally:
        background.cancel()
        await asyncio.gather(background, return_exceptions=True)
        server.should_exit = True
        await serving
        await application.realtime.close()


@pytest.fixture
async def address(application: Application) -> AsyncIterator[str]:
    async with serve(application, is_alone=True) as found:
        yield found


Deliver = Callable[..., Coroutine[Any, Any, MadeMessage]]


@pytest.fixture
def deliver(application: Application, database: Database) -> Deliver:
    """Store a message for a person and announce it, as the engine does."""

    async def run(person: Person, **fields: Any) -> MadeMessage:
        subscriber = await make_subscriber(database, person.environment, person.key)
        notification = await make_notification(database, person.environment, subscriber=subscriber)
        job = await make_job(database, person.environment, notification=notification)
        message = await make_message(database, person.environment, job=job, **fields)
        change = InboxChange(environment_id=person.environment.id, subscriber_id=subscriber.id, arrived=(message.id,))
        application.services.bus.publish_inbox_changes([change])
        return message

    return run


__all__ += ["Deliver", "MakePerson", "ManualClock", "Person", "Site", "SocketClient"]
