"""Dead letters: listed, and redriven once."""

import asyncio
from typing import Any

import pytest

from clarion.app import Application
from clarion.clock import HOUR, MINUTE, ManualClock
from clarion.db.port import Database
from clarion.engine.worker import Engine
from clarion.providers.sending.gateway import ProviderGateway
from clarion.vault import Vault
from clarion.vocabulary import Scope
from tests.engine.providers import ADA, EMAIL, account, trigger_many
from tests.engine.support import World, details, in_app, step
from tests.support import Api, MakeApi


@pytest.fixture
def world(
    api: Api, application: Application, database: Database, vault: Vault, gateway: ProviderGateway, clock: ManualClock
) -> World:
    bus = application.services.bus
    return World(api, Engine(database, clock=clock, vault=vault, bus=bus, gateway=gateway), clock)


async def dead_letters(world: World, **query: Any) -> list[dict[str, Any]]:
    response = await world.api.get("/v1/dead-letters", params=query)
    assert response.status_code == 200, response.text
    found: list[dict[str, Any]] = response.json()["data"]
    return found


async def redrive(world: World, **body: Any) -> int:
    response = await world.api.post("/v1/dead-letters/redrive", json=body)
    assert response.status_code == 200, response.text
    count: int = response.json()["redriven"]
    return count


async def test_a_send_that_was_given_up_is_listed_with_the_reason(world: World) -> None:
    async with account(world, "a") as first:
        first.break_down(400)
        await world.make_workflow(EMAIL)
        await world.trigger(ADA, transactionId="t-1")
        await world.work()

        (found,) = await dead_letters(world)
        assert found == {
            "_id": found["_id"],
            "_notificationId": (await world.events())[0]["_id"],
            "transactionId": "t-1",
            "workflowId": "welcome",
            "subscriberId": "ada",
            "channel": "email",
            "providerId": "email-webhook",
            "attempts": 1,
            "errors": ["Email Webhook answered 400: ok"],
            "possiblyDelivered": False,
            "diedAt": "2026-01-01T00:00:00.000Z",
            "createdAt": "2026-01-01T00:00:00.000Z",
        }


async def test_it_is_listed_only_after_the_last_attempt(world: World) -> None:
    async with account(world, "a") as first:
        first.break_down()
        await world.make_workflow(EMAIL)
        await world.trigger(ADA)
        for attempt in range(1, 9):
            assert await dead_letters(world) == []
            await world.work(after=HOUR)
            assert first.count == attempt

        (found,) = await dead_letters(world)
        assert found["attempts"] == 8


async def test_a_redriven_one_has_fresh_attempts_and_is_sent_once(world: World) -> None:
    async with account(world, "a") as first:
        first.break_down(400)
        await world.make_workflow(EMAIL, in_app("after"))
        await world.trigger(ADA)
        await world.work()
        (found,) = await dead_letters(world)

        assert await redrive(world, ids=[found["_id"]]) == 1
        assert await redrive(world, ids=[found["_id"]]) == 0
        first.break_down(503)
        await world.work()
        assert await dead_letters(world) == []
        first.come_back()
        await world.work(after=HOUR)

        (event,) = await world.events()
        assert [job["status"] for job in event["jobs"]] == ["completed", "completed"]
        assert "Redriven" in details(event["jobs"][0])
        assert (len(first.taken), await world.feed()) == (1, ["after"])
        (message,) = await world.messages(channel="email")
        assert message["status"] == "sent"


async def test_two_who_redrive_at_the_same_time_redrive_each_once(world: World) -> None:
    async with account(world, "a") as first:
        first.break_down(400)
        await world.make_workflow(EMAIL)
        await trigger_many(world, 30)
        await world.work()
        first.come_back()

        counts = await asyncio.gather(*(redrive(world, all=True) for _ in range(6)))
        await world.work()

        assert sum(counts) == 30
        assert (len(first.taken), len(set(first.taken))) == (30, 30)


async def test_a_run_that_is_further_on_goes_its_own_way_while_an_earlier_step_is_redriven(world: World) -> None:
    async with account(world, "a") as first:
        first.break_down(400)
        delay = step("delay", type="regular", amount=1, unit="hours")
        await world.make_workflow(EMAIL, in_app("second"), delay, in_app("last"))
        await world.trigger(ADA)
        await world.work()
        first.break_down(503)

        assert await redrive(world, all=True) == 1
        await world.work()
        assert await world.statuses() == [["queued", "completed", "delayed", "pending"]]
        first.come_back()
        await world.work(after=HOUR // 2)
        assert await world.statuses() == [["completed", "completed", "delayed", "pending"]]
        await world.work(after=HOUR)

        assert await world.statuses() == [["completed"] * 4]
        assert await world.feed() == ["second", "last"]


async def test_a_step_behind_a_redriven_one_does_not_wait_for_it(world: World) -> None:
    async with account(world, "a") as first:
        first.break_down(400)
        delay = step("delay", type="regular", amount=10, unit="minutes")
        await world.make_workflow(EMAIL, delay, EMAIL, in_app("last"))
        await world.trigger(ADA)
        await world.work()
        first.break_down(429, Retry_After="86000")
        assert await redrive(world, all=True) == 1
        await world.work()

        first.come_back()
        await world.work(after=HOUR)
        assert await world.statuses() == [["queued", "completed", "completed", "completed"]]
        await world.work(after=24 * HOUR)

        assert await world.statuses() == [["completed"] * 4]
        assert (len(first.taken), await world.feed()) == (2, ["last"])


async def test_a_run_goes_on_while_a_redriven_step_waits_for_its_turn(world: World) -> None:
    async with account(world, "a", rateLimit=0.001) as first:
        first.break_down(400)
        delay = step("delay", type="regular", amount=10, unit="minutes")
        await world.make_workflow(EMAIL, delay, in_app("last"))
        await world.trigger(ADA)
        await world.work()
        first.come_back()
        assert await redrive(world, all=True) == 1
        await world.work()

        await world.work(after=10 * MINUTE)
        assert await world.statuses() == [["delayed", "completed", "completed"]]
        await world.work(after=10 * MINUTE)

        assert await world.statuses() == [["completed"] * 3]
        assert (len(first.taken), await world.feed()) == (1, ["last"])


async def test_they_are_found_by_channel_provider_and_subscriber(world: World) -> None:
    async with account(world, "a") as first:
        first.break_down(400)
        await world.make_workflow(EMAIL)
        await trigger_many(world, 3)
        await world.work()

        assert len(await dead_letters(world)) == 3
        assert [one["subscriberId"] for one in await dead_letters(world, subscriberId="p1")] == ["p1"]
        assert len(await dead_letters(world, channel="email", providerId="email-webhook")) == 3
        assert await dead_letters(world, channel="sms") == []
        assert await dead_letters(world, providerId="sendgrid") == []
        assert await dead_letters(world, providerId="svc-nothing") == []
        assert await redrive(world, subscriberId="p1") == 1
        assert await redrive(world, channel="sms") == 0
        assert await redrive(world, channel="email") == 2


async def test_nothing_is_redriven_by_mistake(world: World, other_api: Api) -> None:
    async with account(world, "a") as first:
        first.break_down(400)
        await world.make_workflow(EMAIL)
        await world.trigger(ADA)
        await world.work()
        (found,) = await dead_letters(world)

        response = await world.api.post("/v1/dead-letters/redrive", json={})
        assert response.status_code == 422
        theirs = {"ids": [found["_id"]]}
        assert (await other_api.post("/v1/dead-letters/redrive", json=theirs)).json()["redriven"] == 0
        assert (await other_api.get("/v1/dead-letters")).json()["data"] == []
        assert len(await dead_letters(world)) == 1


async def test_redriving_needs_the_right_to_write_events(make_api: MakeApi) -> None:
    reader = await make_api(scopes=frozenset({Scope.EVENTS_READ}))

    assert (await reader.get("/v1/dead-letters")).status_code == 200
    assert (await reader.post("/v1/dead-letters/redrive", json={"all": True})).status_code == 403
