"""The pipeline of sends: many at a time, recorded as they come in, finished before the process ends."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

import pytest

from clarion.app import Application
from clarion.background import Supervisor
from clarion.clock import SECOND
from clarion.db.port import Database, Work
from clarion.engine.worker import Engine
from clarion.errors import StoreUnavailable
from clarion.providers.definition.outgoing import Outgoing
from clarion.providers.definition.result import Sent
from clarion.providers.sending.gateway import ProviderGateway
from clarion.providers.transport.egress import EgressGuard
from clarion.sending.claim import LEASE
from clarion.webhooks.sender import WebhookSender
from tests.engine.support import World, details, step
from tests.providers.loopback import WebServer, answering, web_server
from tests.sending.support import claim_email
from tests.sending.test_sends import EMAIL, integrate

CHAT = step("chat", body="Ping {{subscriber.subscriberId}}")
ADA = {"subscriberId": "ada", "email": "ada@example.com"}


async def make_chatter(world: World, chat: WebServer, key: str, path: str = "/hook") -> None:
    await world.api.post("/v2/subscribers", json={"subscriberId": key})
    hook = {"providerId": "slack", "credentials": {"webhookUrl": chat.url(path)}}
    response = await world.api.patch(f"/v1/subscribers/{key}/credentials", json=hook)
    assert response.status_code == 200, response.text


@asynccontextmanager
async def slow_chat(is_slow: bytes = b"/slow") -> AsyncIterator[tuple[WebServer, asyncio.Event]]:
    """A webhook that answers requests to one path only when it is told to."""
    may_answer = asyncio.Event()

    async def respond(request: bytes, writer: asyncio.StreamWriter) -> None:
        if is_slow in request.partition(b"\r\n")[0]:
            await may_answer.wait()
        await answering(200)(request, writer)

    async with web_server(respond) as chat:
        yield chat, may_answer


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(20):
        while not await condition():  # noqa: ASYNC110 - it is asked over HTTP
            await asyncio.sleep(0.01)


@asynccontextmanager
async def running(engine: Engine | WebhookSender) -> AsyncIterator["asyncio.Task[None]"]:
    services = engine.list_services() if isinstance(engine, Engine) else [engine.make_service()]
    task = asyncio.create_task(Supervisor().run(services))
    try:
        yield task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_a_slow_provider_does_not_hold_up_the_others(world: World) -> None:
    async with slow_chat() as (chat, may_answer):
        await integrate(world, "slack", "chat", applicationId="a", clientId="c", secretKey="s")
        await world.make_workflow(CHAT)
        for key in ("slow", "quick"):
            await make_chatter(world, chat, key, f"/{key}")
        async with running(world.engine):
            await world.trigger("slow")
            await until(partial(has_requests, chat, 1))
            await world.trigger("quick")

            await until(partial(has_statuses, world, [["running"], ["completed"]]))
            may_answer.set()
            await until(partial(has_statuses, world, [["completed"], ["completed"]]))


async def test_what_is_under_way_at_the_end_is_finished_and_recorded(world: World) -> None:
    async with slow_chat() as (chat, may_answer):
        await integrate(world, "slack", "chat", applicationId="a", clientId="c", secretKey="s")
        await world.make_workflow(CHAT)
        await make_chatter(world, chat, "ada", "/slow")
        async with running(world.engine) as task:
            await world.trigger("ada")
            await until(partial(has_requests, chat, 1))
            task.cancel()
            await asyncio.sleep(0.05)
            assert not task.done()
            may_answer.set()

        assert await world.statuses() == [["completed"]]


async def test_a_job_claimed_by_a_process_that_died_is_sent_when_its_lease_ends(world: World) -> None:
    await integrate(world, "svc-email", "email")
    await world.make_workflow(EMAIL)
    await world.trigger(ADA)
    await world.engine.work_lanes()
    await claim_email(world)

    await world.work(after=LEASE - SECOND)
    assert await world.statuses() == [["running"]]
    await world.work(after=SECOND)

    assert await world.statuses() == [["completed"]]


async def test_results_wait_for_a_store_that_cannot_be_used_and_nothing_is_sent_twice(
    world: World, application: Application, database: Database, vault: Any
) -> None:
    class Faltering(ProviderGateway):
        """Has the store fail once a message went out."""

        async def send(self, provider_id: str, outgoing: Outgoing) -> Sent:
            store.failures = 1
            sent.append(outgoing.message_id)
            return await super().send(provider_id, outgoing)

    sent: list[str] = []
    store = Unsteady(database)
    async with Faltering(EgressGuard()) as gateway:
        engine = Engine(store, clock=world.clock, vault=vault, bus=application.services.bus, gateway=gateway)
        await integrate(world, "svc-email", "email")
        await world.make_workflow(EMAIL)
        await world.trigger(ADA)
        await engine.drain()

    assert (store.failures, len(sent)) == (0, 1)
    assert await world.statuses() == [["completed"]]


@pytest.mark.usefixtures("logged_errors")
async def test_a_send_that_fails_in_a_way_that_nobody_foresaw_is_an_attempt(
    world: World, application: Application, database: Database, vault: Any
) -> None:
    class Broken(ProviderGateway):
        async def send(self, provider_id: str, outgoing: Outgoing) -> Sent:
            raise RuntimeError("a bug")

    async with Broken(EgressGuard()) as gateway:
        engine = Engine(database, clock=world.clock, vault=vault, bus=application.services.bus, gateway=gateway)
        await integrate(world, "svc-email", "email")
        await world.make_workflow(EMAIL)
        await world.trigger(ADA)
        await engine.drain()

    (event,) = await world.events()
    assert event["jobs"][0]["status"] == "queued"
    assert details(event["jobs"][0])[-1] == "Unexpected error"


async def test_only_the_next_step_of_a_run_is_let_go(world: World) -> None:
    await integrate(world, "svc-email", "email")
    await world.make_workflow(EMAIL, step("delay", type="regular", amount=1, unit="hours"), EMAIL, EMAIL)
    await world.trigger(ADA)
    await world.work()

    assert await world.statuses() == [["completed", "delayed", "pending", "pending"]]


async def test_many_sends_of_several_steps_each_happen_once(world: World) -> None:
    async with web_server(answering(200)) as chat:
        await integrate(world, "slack", "chat", applicationId="a", clientId="c", secretKey="s")
        await world.make_workflow(CHAT, CHAT)
        for number in range(20):
            await make_chatter(world, chat, f"p{number}")
        async with running(world.engine):
            await world.trigger([f"p{number}" for number in range(20)])
            await until(partial(has_statuses, world, [["completed", "completed"]] * 20))

    assert len(chat.requests) == 40


async def has_statuses(world: World, wanted: list[list[str]]) -> bool:
    return sorted(await world.statuses()) == sorted(wanted)


async def has_requests(chat: WebServer, count: int) -> bool:
    return len(chat.requests) >= count


class Unsteady:
    """A database that refuses the next transactions."""

    def __init__(self, database: Database, error: Exception | None = None) -> None:
        self._database = database
        self._error = error or StoreUnavailable("out for a moment")
        self.failures = 0
        self.dialect = database.dialect
        self.read, self.scan, self.close = database.read, database.scan, database.close
        self.sandbox = database.sandbox
        self.notify_workers, self.listen_for_work = database.notify_workers, database.listen_for_work
        self.notify, self.listen = database.notify, database.listen
        self.update_statistics, self.open_apart = database.update_statistics, database.open_apart

    async def transaction(self, work: Work[Any]) -> Any:
        if self.failures:
            self.failures -= 1
            raise self._error
        return await self._database.transaction(work)
