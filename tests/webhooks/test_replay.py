"""Deliveries once more: one of them, or everything since a moment, under the ids that they had."""

from clarion.clock import HOUR, ManualClock, Millis, iso_text
from clarion.db.port import Database
from clarion.engine.webhooks import Webhooks
from clarion.webhooks.actions import MOST_REPLAYED
from tests.providers.loopback import answering
from tests.support import Api
from tests.webhooks.support import Receiver, happen, list_deliveries, make_endpoint, receiver, work


async def test_one_delivery_is_sent_again_under_its_id(
    api: Api, database: Database, webhooks: Webhooks, clock: ManualClock, hook: Receiver
) -> None:
    endpoint = await make_endpoint(api, hook.url)
    await happen(database, api, clock, 2)
    await work(webhooks)
    first, _ = await list_deliveries(api, endpoint)

    response = await api.post(f"/v1/webhooks/endpoints/{endpoint['_id']}/deliveries/{first['_id']}/replay")
    await work(webhooks)

    assert (response.status_code, response.json()["status"], response.json()["attempts"]) == (200, "queued", 0)
    assert [one.id for one in hook.received].count(first["eventId"]) == 2
    assert len(hook.received) == 3
    assert (await list_deliveries(api, endpoint))[0]["status"] == "delivered"


async def test_a_delivery_that_failed_for_good_starts_anew(
    api: Api, database: Database, webhooks: Webhooks, clock: ManualClock
) -> None:
    async with receiver(answering(500)) as hook:
        endpoint = await make_endpoint(api, hook.url)
        await happen(database, api, clock)
        for _ in range(10):
            await work(webhooks)
            clock.move(30 * HOUR)
        (failed,) = await list_deliveries(api, endpoint)
        hook.answer = answering(200)
        await api.patch(f"/v1/webhooks/endpoints/{endpoint['_id']}", json={"active": True})
        await api.post(f"/v1/webhooks/endpoints/{endpoint['_id']}/deliveries/{failed['_id']}/replay")
        await work(webhooks)

    (delivery,) = await list_deliveries(api, endpoint)
    assert delivery["status"] == "delivered"


async def test_one_that_is_queued_goes_on_as_it_is(
    api: Api, database: Database, webhooks: Webhooks, clock: ManualClock
) -> None:
    async with receiver(answering(500)) as hook:
        endpoint = await make_endpoint(api, hook.url)
        await happen(database, api, clock)
        await work(webhooks)
        (waiting,) = await list_deliveries(api, endpoint)
        path = f"/v1/webhooks/endpoints/{endpoint['_id']}/deliveries/{waiting['_id']}/replay"
        replayed = (await api.post(path)).json()

    assert replayed == waiting


async def test_everything_since_a_moment_is_sent_again(
    api: Api, database: Database, webhooks: Webhooks, clock: ManualClock, hook: Receiver
) -> None:
    endpoint = await make_endpoint(api, hook.url)
    other = await make_endpoint(api, hook.url)
    await happen(database, api, clock, 3)
    clock.move(HOUR)
    since = iso_text(clock.now())
    await happen(database, api, clock, 4)
    await work(webhooks)
    hook.received.clear()

    response = await api.post(f"/v1/webhooks/endpoints/{endpoint['_id']}/replay", json={"since": since})
    await work(webhooks)

    late = (await list_deliveries(api, endpoint))[3:]
    expected = {"replayed": 4, "hasMore": False, "last": late[-1]["_id"]}
    assert (response.status_code, response.json()) == (200, expected)
    assert sorted(one.id for one in hook.received) == sorted(one["eventId"] for one in late)
    assert len(await list_deliveries(api, other)) == 7


async def test_only_what_failed_can_be_asked_for(
    api: Api, database: Database, webhooks: Webhooks, clock: ManualClock
) -> None:
    async with receiver(answering(410)) as hook:
        endpoint = await make_endpoint(api, hook.url)
        path = f"/v1/webhooks/endpoints/{endpoint['_id']}"
        await happen(database, api, clock)
        await work(webhooks)
        hook.answer = answering(200)
        await api.patch(path, json={"active": True})
        await happen(database, api, clock, 2)
        await work(webhooks)
        body = {"since": "2020-01-01T00:00:00.000Z", "status": "failed"}
        replayed = (await api.post(f"{path}/replay", json=body)).json()
        await work(webhooks)

    assert replayed["replayed"] == 1
    assert [one["status"] for one in await list_deliveries(api, endpoint)] == ["delivered"] * 3


async def test_very_many_are_sent_again_in_parts(
    api: Api, database: Database, webhooks: Webhooks, clock: ManualClock, hook: Receiver
) -> None:
    endpoint = await make_endpoint(api, hook.url)
    await happen(database, api, clock, MOST_REPLAYED + 1)
    await work(webhooks)
    path, since = f"/v1/webhooks/endpoints/{endpoint['_id']}/replay", iso_text(Millis(0))

    first = (await api.post(path, json={"since": since})).json()
    second = (await api.post(path, json={"since": since, "after": first["last"]})).json()

    assert (first["replayed"], first["hasMore"]) == (MOST_REPLAYED, True)
    assert (second["replayed"], second["hasMore"]) == (1, False)


async def test_deliveries_of_another_endpoint_or_environment_are_not_found(
    api: Api, other_api: Api, database: Database, webhooks: Webhooks, clock: ManualClock, hook: Receiver
) -> None:
    endpoint = await make_endpoint(api, hook.url)
    await happen(database, api, clock)
    beside = await make_endpoint(api, hook.url)
    elsewhere = await make_endpoint(other_api, hook.url)
    await work(webhooks)
    (delivery,) = await list_deliveries(api, endpoint)

    answers = [
        await client.post(f"/v1/webhooks/endpoints/{one['_id']}/deliveries/{delivery['_id']}/replay")
        for client, one in ((api, beside), (other_api, elsewhere), (other_api, endpoint))
    ]

    assert [one.status_code for one in answers] == [404, 404, 404]
    assert len(hook.received) == 1
