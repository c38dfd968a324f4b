"""Delivering events: signed, at least once, on schedule, and without one receiver holding up another."""

import asyncio

import pytest

from clarion.clock import DAY, HOUR, SECOND, ManualClock
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.engine.webhooks import MOST_AN_ENDPOINT, Webhooks
from clarion.ids import WebhookEndpointId, find_id
from clarion.providers.egress import EgressGuard
from clarion.providers.sending import Carrier, Patience
from clarion.vault import Vault
from clarion.webhooks.deliveries import LEASE, claim_deliveries
from clarion.webhooks.model import KEPT, LONGEST_FAILURE, MOST_ATTEMPTS, PAUSES
from tests.engine.support import World, in_app
from tests.providers.loopback import answering
from tests.support import Api
from tests.webhooks.support import Receiver, get_endpoint, happen, list_deliveries, make_endpoint, receiver, work

COUNT = sql("""
    SELECT (SELECT count(*) FROM webhook_events WHERE environment_id = :environment_id) AS events,
        (SELECT count(*) FROM webhook_deliveries WHERE environment_id = :environment_id) AS deliveries
""")


async def test_an_event_arrives_signed_and_is_recorded(world: World, hook: Receiver) -> None:
    endpoint = await make_endpoint(world.api, hook.url, "message.sent")
    await world.make_workflow(in_app())
    await world.trigger("ada", payload={"name": "Ada"})
    await world.work()

    (got,) = hook.received
    (delivery,) = await list_deliveries(world.api, endpoint)
    assert got.is_signed_with(endpoint["secret"])
    assert got.headers["content-type"] == "application/json"
    assert got.headers["webhook-timestamp"] == str(world.clock.now() // 1000)
    assert (got.type, got.event["timestamp"]) == ("message.sent", "2026-01-01T00:00:00.000Z")
    assert (delivery["status"], delivery["attempts"], delivery["responseStatus"]) == ("delivered", 1, 204)
    assert (delivery["eventId"], delivery["payload"]) == (got.id, got.event)
    assert "nextAttemptAt" not in delivery


async def test_a_receiver_that_fails_is_tried_ten_times_over_days_under_the_same_id(
    api: Api, database: Database, webhooks: Webhooks, clock: ManualClock
) -> None:
    async with receiver(answering(500, "broken")) as hook:
        endpoint = await make_endpoint(api, hook.url)
        await happen(database, api, clock)
        for pause in (0, *PAUSES):
            clock.move(pause - 1)
            await work(webhooks)
            before = len(hook.received)
            clock.move(int(pause * 0.2) + 1)
            await work(webhooks)
            assert len(hook.received) == before + 1
        clock.move(2 * DAY)
        await work(webhooks)

    (delivery,) = await list_deliveries(api, endpoint)
    assert len(hook.received) == MOST_ATTEMPTS
    assert len({one.id for one in hook.received}) == 1
    assert len({one.headers["webhook-timestamp"] for one in hook.received}) == MOST_ATTEMPTS
    assert all(one.is_signed_with(endpoint["secret"]) for one in hook.received)
    assert (delivery["status"], delivery["attempts"]) == ("failed", MOST_ATTEMPTS)
    assert (delivery["responseStatus"], delivery["errorText"]) == (500, "The receiver answered 500: broken")


async def test_a_receiver_that_recovers_gets_the_event_and_is_failing_no_more(
    api: Api, database: Database, webhooks: Webhooks, clock: ManualClock
) -> None:
    async with receiver(answering(503)) as hook:
        endpoint = await make_endpoint(api, hook.url)
        await happen(database, api, clock)
        await work(webhooks)
        failing = await get_endpoint(api, endpoint)
        hook.answer = answering(200)
        clock.move(6 * SECOND)
        await work(webhooks)

    (delivery,) = await list_deliveries(api, endpoint)
    assert failing["failingSince"] == "2026-01-01T00:00:00.000Z"
    assert (delivery["status"], delivery["attempts"]) == ("delivered", 2)
    assert "errorText" not in delivery
    assert "failingSince" not in await get_endpoint(api, endpoint)


async def test_a_receiver_is_given_the_patience_that_it_asks_for(
    api: Api, database: Database, webhooks: Webhooks, clock: ManualClock
) -> None:
    async with receiver(answering(429, "slow down", Retry_After="3600")) as hook:
        await make_endpoint(api, hook.url)
        await happen(database, api, clock)
        await work(webhooks)
        clock.move(HOUR - 1)
        await work(webhooks)
        early = len(hook.received)
        clock.move(1)
        await work(webhooks)

    assert (early, len(hook.received)) == (1, 2)


async def test_a_receiver_that_is_gone_is_disabled_at_once_and_can_be_enabled_again(
    api: Api, database: Database, webhooks: Webhooks, clock: ManualClock
) -> None:
    async with receiver(answering(410)) as hook:
        endpoint = await make_endpoint(api, hook.url)
        await happen(database, api, clock)
        await work(webhooks)
        disabled = await get_endpoint(api, endpoint)
        hook.answer = answering(200)
        enabled = await api.patch(f"/v1/webhooks/endpoints/{endpoint['_id']}", json={"active": True})
        await happen(database, api, clock)
        await work(webhooks)

    first, second = await list_deliveries(api, endpoint)
    assert (disabled["active"], "410 Gone" in disabled["disabledReason"]) == (False, True)
    assert enabled.json()["active"]
    assert not {"disabledReason", "failingSince"} & enabled.json().keys()
    assert (first["status"], second["status"]) == ("failed", "delivered")


async def test_an_endpoint_that_failed_for_five_days_is_disabled_with_a_reason(
    api: Api, database: Database, webhooks: Webhooks, clock: ManualClock
) -> None:
    async with receiver(answering(500)) as hook:
        endpoint = await make_endpoint(api, hook.url)
        await happen(database, api, clock)
        await work(webhooks)
        clock.move(LONGEST_FAILURE - 1)
        await work(webhooks)
        still = await get_endpoint(api, endpoint)
        clock.move(DAY)
        await work(webhooks)
        sent = len(hook.received)
        await happen(database, api, clock)
        await work(webhooks)

    disabled = await get_endpoint(api, endpoint)
    assert still["active"]
    assert (disabled["active"], "five days" in disabled["disabledReason"]) == (False, True)
    assert len(hook.received) == sent


async def test_what_waited_for_a_disabled_endpoint_goes_out_when_it_is_enabled(
    api: Api, database: Database, webhooks: Webhooks, clock: ManualClock, hook: Receiver
) -> None:
    endpoint = await make_endpoint(api, hook.url)
    path = f"/v1/webhooks/endpoints/{endpoint['_id']}"
    await happen(database, api, clock)
    await api.patch(path, json={"active": False})
    await work(webhooks)
    before = len(hook.received)

    await api.patch(path, json={"active": True})
    await work(webhooks)

    assert (before, len(hook.received)) == (0, 1)


async def test_nothing_is_delivered_to_a_deleted_endpoint(
    api: Api, database: Database, webhooks: Webhooks, clock: ManualClock, hook: Receiver
) -> None:
    endpoint = await make_endpoint(api, hook.url)
    await happen(database, api, clock)
    await api.delete(f"/v1/webhooks/endpoints/{endpoint['_id']}")

    await work(webhooks)

    assert hook.received == []


async def test_a_worker_that_dies_after_sending_leaves_the_event_to_another_under_the_same_id(
    api: Api, database: Database, webhooks: Webhooks, clock: ManualClock, vault: Vault, hook: Receiver
) -> None:
    endpoint = await make_endpoint(api, hook.url)
    await happen(database, api, clock)
    place = (api.environment.id, WebhookEndpointId(find_id(endpoint["_id"]) or b""))
    now = clock.now()
    (errand,) = await database.transaction(lambda db: claim_deliveries(db, place, vault, most=8, now=now))

    await work(webhooks)
    held = len(hook.received)
    clock.move(LEASE)
    await work(webhooks)

    (delivery,) = await list_deliveries(api, endpoint)
    assert held == 0
    assert find_id(hook.received[0].id) == errand.event_id
    assert (delivery["status"], delivery["attempts"]) == ("delivered", 2)


async def test_a_result_that_comes_after_the_lease_is_not_recorded(
    api: Api, database: Database, vault: Vault, carrier: Carrier, clock: ManualClock
) -> None:
    """The first worker is held up until another has delivered the event; its failure changes nothing then."""
    held, let_go = asyncio.Event(), asyncio.Event()

    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        if held.is_set():
            await answering(200)(request, writer)
            return
        held.set()
        await let_go.wait()
        await answering(500)(request, writer)

    async with receiver(answer) as hook:
        endpoint = await make_endpoint(api, hook.url)
        await happen(database, api, clock)
        late = asyncio.create_task(Webhooks(database, clock=clock, vault=vault, carrier=carrier).work())
        await held.wait()
        clock.move(LEASE)
        await work(Webhooks(database, clock=clock, vault=vault, carrier=carrier))
        let_go.set()
        await late

    (delivery,) = await list_deliveries(api, endpoint)
    assert (delivery["status"], delivery["attempts"], delivery["responseStatus"]) == ("delivered", 2, 200)
    assert "failingSince" not in await get_endpoint(api, endpoint)


async def test_a_slow_receiver_holds_up_nobody_else_and_is_not_crowded(
    api: Api, database: Database, webhooks: Webhooks, clock: ManualClock, hook: Receiver
) -> None:
    let_go = asyncio.Event()

    async def wait(request: bytes, writer: asyncio.StreamWriter) -> None:
        await let_go.wait()
        await answering(200)(request, writer)

    async with receiver(wait) as slow:
        await make_endpoint(api, slow.url)
        await make_endpoint(api, hook.url)
        await happen(database, api, clock, 50)
        running = asyncio.create_task(webhooks.run())
        await hook.wait_for(50)
        await slow.wait_for(MOST_AN_ENDPOINT)
        crowd = len(slow.received)
        let_go.set()
        await slow.wait_for(50)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    assert crowd == MOST_AN_ENDPOINT
    assert len({one.id for one in slow.received}) == 50


async def test_a_receiver_that_does_not_answer_in_time_is_tried_again(
    api: Api, database: Database, vault: Vault, clock: ManualClock
) -> None:
    async def never(request: bytes, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    guard = EgressGuard(("127.0.0.0/8",))
    async with receiver(never) as hook, Carrier(guard, patience=Patience(web_seconds=0.1), clock=clock) as hasty:
        endpoint = await make_endpoint(api, hook.url)
        await happen(database, api, clock)
        await work(Webhooks(database, clock=clock, vault=vault, carrier=hasty))

    (delivery,) = await list_deliveries(api, endpoint)
    assert (delivery["status"], delivery["attempts"]) == ("queued", 1)
    assert delivery["errorText"] == "127.0.0.1 did not answer within 0.1 seconds"


async def test_redirects_are_not_followed(
    api: Api, database: Database, webhooks: Webhooks, clock: ManualClock, hook: Receiver
) -> None:
    async with receiver(answering(307, "", Location=hook.url)) as moved:
        endpoint = await make_endpoint(api, moved.url)
        await happen(database, api, clock)
        await work(webhooks)

    (delivery,) = await list_deliveries(api, endpoint)
    assert (delivery["status"], delivery["responseStatus"]) == ("queued", 307)
    assert hook.received == []


async def test_a_host_that_leads_inside_is_not_connected_to(
    api: Api, database: Database, vault: Vault, clock: ManualClock, hook: Receiver
) -> None:
    """Even where the endpoint was made while its address was allowed."""
    by_number = await make_endpoint(api, hook.url)
    by_name = await make_endpoint(api, hook.url.replace("127.0.0.1", "localhost"))
    await happen(database, api, clock)
    async with Carrier(EgressGuard(), clock=clock) as strict:
        await work(Webhooks(database, clock=clock, vault=vault, carrier=strict))

    deliveries = [(await list_deliveries(api, one))[0] for one in (by_number, by_name)]
    assert hook.received == []
    assert ["CLARION_EGRESS_ALLOW" in one["errorText"] for one in deliveries] == [True, True]


async def test_an_answer_of_any_bytes_is_recorded(
    api: Api, database: Database, webhooks: Webhooks, clock: ManualClock
) -> None:
    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        body = b"\x00\xff\xfe\xed\xa0\xbd" * 40_000
        writer.write(b"HTTP/1.1 500 No\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        await writer.drain()

    async with receiver(answer) as hook:
        endpoint = await make_endpoint(api, hook.url)
        await happen(database, api, clock)
        await work(webhooks)

    (delivery,) = await list_deliveries(api, endpoint)
    assert (delivery["status"], delivery["responseStatus"]) == ("queued", 500)
    assert len(delivery["errorText"]) < 600


async def test_a_thousand_events_arrive_once_each(
    api: Api, database: Database, webhooks: Webhooks, clock: ManualClock, hook: Receiver
) -> None:
    endpoint = await make_endpoint(api, hook.url)
    await happen(database, api, clock, 1_000)

    await work(webhooks)

    assert {one.event["data"]["number"] for one in hook.received} == set(range(1_000))
    assert len(hook.received) == len({one.id for one in hook.received}) == 1_000
    assert await list_deliveries(api, endpoint, status="queued") == []


async def test_old_events_are_removed_and_the_others_stay(
    api: Api, database: Database, webhooks: Webhooks, clock: ManualClock, hook: Receiver
) -> None:
    async def count(db: Connection) -> tuple[int, int]:
        row = await db.fetch_one(COUNT, environment_id=api.environment.id)
        return (row["events"], row["deliveries"]) if row else (0, 0)

    await make_endpoint(api, hook.url)
    await happen(database, api, clock, 700)
    clock.move(HOUR)
    await happen(database, api, clock, 3)
    clock.move(KEPT - HOUR)
    await webhooks.forget()
    kept = await database.read(count)
    clock.move(HOUR)
    await webhooks.forget()

    assert (kept, await database.read(count)) == ((703, 703), (3, 3))
