"""Which attempts count: that of the worker whose claim is the last, and those of critical workflows at any hour."""

import pytest

from clarion.clock import MINUTE
from clarion.db.port import Database
from clarion.db.query import sql
from clarion.sending.claim import LEASE
from clarion.sending.model import ClaimedSend
from clarion.sending.record import record_sends
from tests.engine.providers import account
from tests.engine.support import World, details, in_app
from tests.sending.support import claim_email
from tests.sending.test_sends import EMAIL, integrate

ADA = {"subscriberId": "ada", "email": "ada@example.com"}
FIND_ID = sql("SELECT provider_message_id FROM messages WHERE environment_id = :environment_id")
CRITICAL = {"workflow": {"all": {"enabled": True, "readOnly": True}, "channels": {}}}


async def claim(world: World) -> ClaimedSend:
    """Claim the one send that is due, as a worker does, and go no further."""
    (send,) = await claim_email(world)
    return send


async def deliver(world: World, send: ClaimedSend) -> None:
    await world.engine.sender._deliverer.deliver(send)


async def record(world: World, send: ClaimedSend) -> None:
    now, environment_id = world.clock.now(), world.api.environment.id
    await world.engine.sender._database.transaction(lambda db: record_sends(db, environment_id, [send], now))


@pytest.mark.parametrize("status", [200, 400])
async def test_a_worker_whose_lease_another_one_holds_now_records_nothing(world: World, status: int) -> None:
    async with account(world, "first") as first:
        await world.make_workflow({**EMAIL, "shouldStopOnFail": True}, in_app("after"))
        await world.trigger(ADA)
        await world.engine.work_lanes()
        late = await claim(world)
        first.status = status
        await deliver(world, late)
        world.clock.move(LEASE + MINUTE)
        current = await claim(world)

        await record(world, late)
        await world.engine.work_lanes()

        (event,) = await world.events()
        (message,) = await world.messages(channel="email")
        assert [job["status"] for job in event["jobs"]] == ["running", "pending"]
        assert details(event["jobs"][0]) == ["Step queued", "Message created"]
        assert "errorText" not in message
        first.come_back()
        await deliver(world, current)
        await record(world, current)
        await world.work()
        assert await world.statuses() == [["completed", "completed"]]


@pytest.mark.parametrize(("provider", "kept"), [("mailgun", "<1@mg>"), ("email-webhook", None)])
async def test_the_id_that_the_provider_gives_a_message_is_kept_or_else_our_own(
    world: World, database: Database, provider: str, kept: str | None
) -> None:
    async with account(world, "first", provider):
        await world.make_workflow(EMAIL)
        await world.trigger(ADA)
        await world.work()

        (message,) = await world.messages(channel="email")
        row = await database.read(lambda db: db.fetch_one(FIND_ID, environment_id=world.api.environment.id))
        assert row is not None
        assert row["provider_message_id"] == (kept or message["_id"])


async def test_a_critical_workflow_is_sent_outside_the_persons_schedule(world: World) -> None:
    await integrate(world, "svc-email", "email")
    await world.make_workflow(EMAIL, key="usual")
    await world.make_workflow(EMAIL, key="critical", preferences=CRITICAL)
    await world.api.post("/v2/subscribers", json=ADA)
    schedule = {"isEnabled": True, "weeklySchedule": {"monday": {"isEnabled": True}}}
    await world.api.patch("/v2/subscribers/ada/preferences", json={"schedule": schedule})

    await world.trigger(name="usual", transactionId="usual")
    await world.trigger(name="critical", transactionId="critical")
    await world.work()

    assert await world.statuses(transactionId="usual") == [["skipped"]]
    assert await world.statuses(transactionId="critical") == [["completed"]]
