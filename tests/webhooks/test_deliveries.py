"""Delivering events: signed, at least once, on schedule, and without one receiver holding up another."""

import asyncio
from dataclasses import replace

import pytest

from clarion.background import Supervisor
from clarion.clock import DAY, HOUR, SECOND
from clarion.db.query import sql
from clarion.ids import WebhookEndpointId, find_id
from clarion.providers.sending.gateway import ProviderGateway, Timeouts
from clarion.providers.transport.egress import EgressGuard
from clarion.vault import Vault
from clarion.webhooks.deliveries import LEASE, claim_deliveries, list_due_endpoints
from clarion.webhooks.model import DISABLE_AFTER, MAX_ATTEMPTS, RETRY_DELAYS
from clarion.webhooks.sender import MAX_PER_ENDPOINT
from tests.audit.support import list_entries
from tests.engine.support import World, in_app
from tests.providers.loopback import answering
from tests.support import Api
from tests.webhooks.support import Post, Receiver, get_endpoint, list_deliveries, make_endpoint, receiver

PUT_OFF = sql("""
    UPDATE webhook_deliveries SET due_at = :until WHERE environment_id = :environment_id AND endpoint_id = :id
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


async def test_a_receiver_that_fails_is_tried_ten_times_over_days_under_the_same_id(post: Post) -> None:
    async with receiver(answering(500, "broken")) as hook:
        endpoint = await make_endpoint(post.api, hook.url)
        await post.happen()
        for pause in (0, *RETRY_DELAYS):
            await post.work(after=pause - 1)
            before = len(hook.received)
            await post.work(after=int(pause * 0.2) + 1)
            assert len(hook.received) == before + 1
        await post.work(after=2 * DAY)

    (delivery,) = await list_deliveries(post.api, endpoint)
    assert len(hook.received) == MAX_ATTEMPTS
    assert len({one.id for one in hook.received}) == 1
    assert len({one.headers["webhook-timestamp"] for one in hook.received}) == MAX_ATTEMPTS
    assert all(one.is_signed_with(endpoint["secret"]) for one in hook.received)
    assert (delivery["status"], delivery["attempts"]) == ("failed", MAX_ATTEMPTS)
    assert (delivery["responseStatus"], delivery["errorText"]) == (500, "The receiver answered 500: broken")


async def test_a_receiver_that_recovers_gets_the_event_and_is_failing_no_more(post: Post) -> None:
    async with receiver(answering(503)) as hook:
        endpoint = await make_endpoint(post.api, hook.url)
        await post.happen()
        await post.work()
        failing = await get_endpoint(post.api, endpoint)
        hook.answer = answering(200)
        await post.work(after=6 * SECOND)

    (delivery,) = await list_deliveries(post.api, endpoint)
    assert failing["failingSince"] == "2026-01-01T00:00:00.000Z"
    assert (delivery["status"], delivery["attempts"]) == ("delivered", 2)
    assert "errorText" not in delivery
    assert "failingSince" not in await get_endpoint(post.api, endpoint)


async def test_a_receiver_is_given_the_patience_that_it_asks_for(post: Post) -> None:
    async with receiver(answering(429, "slow down", Retry_After="3600")) as hook:
        await make_endpoint(post.api, hook.url)
        await post.happen()
        await post.work()
        await post.work(after=HOUR - 1)
        early = len(hook.received)
        await post.work(after=1)

    assert (early, len(hook.received)) == (1, 2)


async def test_a_receiver_that_is_gone_is_disabled_at_once_and_can_be_enabled_again(post: Post) -> None:
    async with receiver(answering(410)) as hook:
        endpoint = await make_endpoint(post.api, hook.url)
        await post.happen()
        await post.work()
        disabled = await get_endpoint(post.api, endpoint)
        hook.answer = answering(200)
        enabled = await post.api.patch(f"/v1/webhooks/endpoints/{endpoint['_id']}", json={"active": True})
        await post.happen()
        await post.work()

    first, second = await list_deliveries(post.api, endpoint)
    assert (disabled["active"], "410 Gone" in disabled["disabledReason"]) == (False, True)
    by_service, created = (await list_entries(post.api, targetId=endpoint["_id"]))[-2:]
    assert (created["actor"]["type"], by_service["actor"]) == ("apiKey", {"type": "service"})
    assert by_service["before"]["active"] > by_service["after"]["active"]
    assert enabled.json()["active"]
    assert not {"disabledReason", "failingSince"} & enabled.json().keys()
    assert (first["status"], second["status"]) == ("failed", "delivered")


async def test_an_endpoint_that_failed_for_five_days_is_disabled_with_a_reason(post: Post) -> None:
    async with receiver(answering(500)) as hook:
        endpoint = await make_endpoint(post.api, hook.url)
        await post.happen()
        await post.work()
        await post.work(after=DISABLE_AFTER - 1)
        still = await get_endpoint(post.api, endpoint)
        await post.work(after=DAY)
        sent = len(hook.received)
        await post.happen()
        await post.work()

    disabled = await get_endpoint(post.api, endpoint)
    assert still["active"]
    assert (disabled["active"], "five days" in disabled["disabledReason"]) == (False, True)
    assert len(hook.received) == sent


async def test_what_waited_for_a_disabled_endpoint_goes_out_when_it_is_enabled(post: Post, hook: Receiver) -> None:
    endpoint = await make_endpoint(post.api, hook.url)
    path = f"/v1/webhooks/endpoints/{endpoint['_id']}"
    await post.happen()
    await post.api.patch(path, json={"active": False})
    await post.work()
    before = len(hook.received)

    await post.api.patch(path, json={"active": True})
    await post.work()

    assert (before, len(hook.received)) == (0, 1)


async def test_nothing_is_delivered_to_a_deleted_endpoint(post: Post, hook: Receiver) -> None:
    endpoint = await make_endpoint(post.api, hook.url)
    await post.happen()
    await post.api.delete(f"/v1/webhooks/endpoints/{endpoint['_id']}")

    await post.work()

    assert hook.received == []


async def test_a_worker_that_dies_after_sending_leaves_the_event_to_another_under_the_same_id(
    post: Post, vault: Vault, hook: Receiver
) -> None:
    endpoint = await make_endpoint(post.api, hook.url)
    await post.happen()
    place = (post.api.environment.id, WebhookEndpointId(find_id(endpoint["_id"]) or b""))
    now = post.clock.now()
    (claimed,) = await post.database.transaction(lambda db: claim_deliveries(db, place, vault, limit=8, now=now))

    await post.work()
    held = len(hook.received)
    await post.work(after=LEASE)

    (delivery,) = await list_deliveries(post.api, endpoint)
    assert held == 0
    assert find_id(hook.received[0].id) == claimed.event_id
    assert (delivery["status"], delivery["attempts"]) == ("delivered", 2)


async def test_a_result_that_comes_after_the_lease_is_not_recorded(
    post: Post, vault: Vault, gateway: ProviderGateway
) -> None:
    """The first worker is delayed until another has delivered the event; its failure then changes nothing."""
    held, let_go = asyncio.Event(), asyncio.Event()

    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        if held.is_set():
            await answering(200)(request, writer)
            return
        held.set()
        await let_go.wait()
        await answering(500)(request, writer)

    async with receiver(answer) as hook:
        endpoint = await make_endpoint(post.api, hook.url)
        await post.happen()
        late = asyncio.create_task(post.with_worker(vault, gateway).webhooks.work())
        await held.wait()
        post.clock.move(LEASE)
        await post.with_worker(vault, gateway).work()
        let_go.set()
        await late

    (delivery,) = await list_deliveries(post.api, endpoint)
    assert (delivery["status"], delivery["attempts"], delivery["responseStatus"]) == ("delivered", 2, 200)
    assert "failingSince" not in await get_endpoint(post.api, endpoint)


async def test_a_slow_receiver_holds_up_nobody_else_and_is_not_crowded(post: Post, hook: Receiver) -> None:
    let_go = asyncio.Event()

    async def wait(request: bytes, writer: asyncio.StreamWriter) -> None:
        await let_go.wait()
        await answering(200)(request, writer)

    async with receiver(wait) as slow:
        await make_endpoint(post.api, slow.url)
        await make_endpoint(post.api, hook.url)
        await post.happen(50)
        running = asyncio.create_task(Supervisor().run([post.webhooks.make_service()]))
        await hook.wait_for(50)
        await slow.wait_for(MAX_PER_ENDPOINT)
        crowd = len(slow.received)
        let_go.set()
        await slow.wait_for(50)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    assert crowd == MAX_PER_ENDPOINT
    assert len({one.id for one in slow.received}) == 50


@pytest.mark.parametrize("is_full", [False, True])
async def test_a_result_makes_the_sender_look_for_more_where_the_receiver_was_full(post: Post, is_full: bool) -> None:
    let_go = asyncio.Event()

    async def wait(request: bytes, writer: asyncio.StreamWriter) -> None:
        await let_go.wait()
        await answering(200)(request, writer)

    async with receiver(wait) as slow:
        await make_endpoint(post.api, slow.url)
        await post.happen(MAX_PER_ENDPOINT + is_full)
        assert await post.webhooks.claim()
        assert not await post.webhooks.claim()
        post.webhooks._pipeline.wake_up.clear()
        let_go.set()
        await post.webhooks._pipeline.finish()

        assert len(slow.received) == MAX_PER_ENDPOINT
        assert post.webhooks._pipeline.wake_up.is_set() is is_full


async def test_a_receiver_that_does_not_answer_in_time_is_tried_again(post: Post, vault: Vault) -> None:
    async def never(request: bytes, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    guard = EgressGuard(("127.0.0.0/8",))
    async with (
        receiver(never) as hook,
        ProviderGateway(guard, timeouts=Timeouts(http_seconds=0.1), clock=post.clock) as hasty,
    ):
        endpoint = await make_endpoint(post.api, hook.url)
        await post.happen()
        await post.with_worker(vault, hasty).work()

    (delivery,) = await list_deliveries(post.api, endpoint)
    assert (delivery["status"], delivery["attempts"]) == ("queued", 1)
    assert delivery["errorText"] == "127.0.0.1 did not answer within 0.1 seconds"


async def test_redirects_are_not_followed(post: Post, hook: Receiver) -> None:
    async with receiver(answering(307, "", Location=hook.url)) as moved:
        endpoint = await make_endpoint(post.api, moved.url)
        await post.happen()
        await post.work()

    (delivery,) = await list_deliveries(post.api, endpoint)
    assert (delivery["status"], delivery["responseStatus"]) == ("queued", 307)
    assert hook.received == []


async def test_a_host_that_leads_inside_is_not_connected_to(post: Post, vault: Vault, hook: Receiver) -> None:
    """Even if the endpoint was created while its address was allowed."""
    by_number = await make_endpoint(post.api, hook.url)
    by_name = await make_endpoint(post.api, hook.url.replace("127.0.0.1", "localhost"))
    await post.happen()
    async with ProviderGateway(EgressGuard(), clock=post.clock) as strict:
        await post.with_worker(vault, strict).work()

    deliveries = [(await list_deliveries(post.api, one))[0] for one in (by_number, by_name)]
    assert hook.received == []
    assert ["CLARION_EGRESS_ALLOW" in one["errorText"] for one in deliveries] == [True, True]


async def test_an_answer_of_any_bytes_is_recorded(post: Post) -> None:
    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        body = b"\x00\xff\xfe\xed\xa0\xbd" * 40_000
        writer.write(b"HTTP/1.1 500 No\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        await writer.drain()

    async with receiver(answer) as hook:
        endpoint = await make_endpoint(post.api, hook.url)
        await post.happen()
        await post.work()

    (delivery,) = await list_deliveries(post.api, endpoint)
    assert (delivery["status"], delivery["responseStatus"]) == ("queued", 500)
    assert len(delivery["errorText"]) < 600


async def test_a_thousand_events_arrive_once_each(post: Post, hook: Receiver) -> None:
    endpoint = await make_endpoint(post.api, hook.url)
    await post.happen(1_000)

    await post.work()

    assert {one.event["data"]["number"] for one in hook.received} == set(range(1_000))
    assert len(hook.received) == len({one.id for one in hook.received}) == 1_000
    assert await list_deliveries(post.api, endpoint, status="queued") == []


async def test_only_active_endpoints_with_due_deliveries_are_looked_at(
    post: Post, other_api: Api, hook: Receiver
) -> None:
    waiting, later, disabled, deleted = [await make_endpoint(post.api, hook.url) for _ in range(4)]
    elsewhere = await make_endpoint(other_api, hook.url)
    await post.happen(2)
    await replace(post, api=other_api).happen()
    await post.database.transaction(
        lambda db: db.execute(
            PUT_OFF, environment_id=post.api.environment.id, id=find_id(later["_id"]), until=post.clock.now() + SECOND
        )
    )
    await post.api.patch(f"/v1/webhooks/endpoints/{disabled['_id']}", json={"active": False})
    await post.api.delete(f"/v1/webhooks/endpoints/{deleted['_id']}")

    async def list_due() -> set[bytes]:
        now = post.clock.now()
        return {endpoint_id for _, endpoint_id in await post.database.read(lambda db: list_due_endpoints(db, now))}

    assert await list_due() == {find_id(waiting["_id"]), find_id(elsewhere["_id"])}
    post.clock.move(SECOND)
    assert await list_due() == {find_id(waiting["_id"]), find_id(elsewhere["_id"]), find_id(later["_id"])}
