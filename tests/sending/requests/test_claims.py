"""Requests that are claimed by workers which die or are stopped, and what is left when runs are deleted."""

import asyncio
from functools import partial
from typing import Any

import pytest

from clarion.background import Supervisor
from clarion.clock import MINUTE
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.ids import id_text
from clarion.jobs.model import Priority
from clarion.sending.claim import LEASE
from clarion.sending.places import Places, Room, SendQueue
from clarion.sending.requests.claim import claim_requests
from clarion.sending.requests.model import ClaimedRequest
from clarion.vocabulary import Scope
from tests.engine.support import World, in_app
from tests.providers.loopback import answering
from tests.sending.requests.support import fetch, jobs_of, last_raw, serving, silent
from tests.sending.test_sender import until
from tests.sending.test_shutdown import stop
from tests.support import MakeApi

COUNT = sql("SELECT count(*) AS n FROM http_requests WHERE environment_id = :environment_id")


async def claim(world: World) -> list[ClaimedRequest]:
    """Claim what is due, as a worker does that then dies."""
    sender = world.engine.sender
    room = Room(SendQueue(world.api.environment.id, None), list(Priority), 9)
    vault = sender._integrations.vault
    take = partial(claim_requests, room=room, vault=vault, places=Places(), lease=LEASE, now=world.clock.now())
    return (await sender._database.transaction(take)).requests


async def record(world: World, request: ClaimedRequest) -> None:
    """Make a claimed request, and record what came of it."""
    world.engine.sender._pipeline.start([request])
    await world.engine.sender._pipeline.finish()


async def count(world: World, database: Database) -> int:
    async def read(db: Connection) -> int:
        row = await db.fetch_one(COUNT, environment_id=world.api.environment.id)
        return 0 if row is None else int(row["n"])

    return await database.read(read)


async def reach(world: World, *steps: dict[str, Any], **fields: Any) -> None:
    """Let a run come to its HTTP step, without making the request."""
    await world.make_workflow(*steps)
    await world.trigger(**fields)
    await world.engine.work_lanes()


async def test_a_claim_of_a_worker_that_died_is_taken_over_and_its_late_result_is_dropped(world: World) -> None:
    async with serving(answering(200, '"first"'), answering(200, '"second"')) as server:
        await reach(world, fetch(server), in_app("{{steps.fetch.body}}"))
        (late,) = await claim(world)
        assert await claim(world) == []
        await world.work(after=LEASE + 1)
        await record(world, late)

        assert len(server.requests) == 1
        assert await world.feed() == ["first"]
        assert await world.statuses() == [["completed", "completed"]]


async def test_a_lease_that_has_lapsed_makes_no_call(world: World) -> None:
    async with serving() as server:
        await reach(world, fetch(server))
        (request,) = await claim(world)
        world.clock.move(LEASE)
        await record(world, request)

        assert server.requests == []


@pytest.mark.parametrize("status", [200, 500])
async def test_a_request_that_is_canceled_while_it_is_made_is_not_tried_again(world: World, status: int) -> None:
    async with serving(answering(status, "{}")) as server:
        await reach(world, fetch(server), in_app("after"), transactionId="t-1")
        (request,) = await claim(world)
        await world.api.delete("/v1/events/trigger/t-1")
        await record(world, request)
        await world.work(after=30 * MINUTE)

        assert len(server.requests) == 1
        assert await world.statuses() == [["completed" if status == 200 else "canceled", "canceled"]]
        assert await world.feed() == []


async def test_a_call_that_the_end_of_the_process_cuts_short_is_made_again(world: World) -> None:
    async with serving(silent, answering(200, "{}")) as server:
        await world.make_workflow(fetch(server))
        await world.trigger()
        running = asyncio.create_task(Supervisor().run(world.engine.list_services(grace_seconds=0)))

        async def has_request() -> bool:
            return len(server.requests) == 1

        await until(has_request)
        await stop(running)
        assert "stopped before the answer came" in (await last_raw(world))["error"]
        await world.work(after=MINUTE)

        assert await world.statuses() == [["completed"]]
        assert len({one.headers["idempotency-key"] for one in server.requests}) == 1


async def test_the_request_of_an_erased_person_is_forgotten(world: World, database: Database) -> None:
    async with serving() as server:
        await reach(world, fetch(server))
        assert await count(world, database) == 1
        answer = await world.api.delete("/v2/subscribers/ada")
        assert answer.status_code == 200, answer.text
        await world.work()

        assert await count(world, database) == 0
        assert server.requests == []


async def test_a_new_url_needs_the_right_to_change_webhooks(make_api: MakeApi, world: World) -> None:
    scopes = frozenset({Scope.WORKFLOWS_READ, Scope.WORKFLOWS_WRITE})
    author = await make_api(world.api.environment, scopes)
    steps = [fetch("https://example.com/a")]
    body: dict[str, Any] = {"name": "Welcome", "workflowId": "welcome", "steps": steps, "preferences": {}}
    refused = await author.post("/v2/workflows", json=body)
    made = await world.api.post("/v2/workflows", json=body)
    same = {**made.json()["steps"][0], "controlValues": {**steps[0]["controlValues"], "method": "POST"}}
    kept = await author.put("/v2/workflows/welcome", json={**body, "steps": [same]})
    same["controlValues"]["url"] = "https://example.org/a"
    moved = await author.put("/v2/workflows/welcome", json={**body, "steps": [same]})

    assert (refused.status_code, kept.status_code, moved.status_code) == (403, 200, 403)
    assert "steps.0.controlValues.url" in refused.json()["message"]


async def test_the_key_is_the_id_of_the_job(world: World) -> None:
    async with serving() as server:
        await reach(world, fetch(server))
        (request,) = await claim(world)
        await record(world, request)

        assert server.requests[0].headers["idempotency-key"] == id_text(request.job.id)
        assert (await jobs_of(world))[0]["_id"] == id_text(request.job.id)
