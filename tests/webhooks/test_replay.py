"""Replays: of one delivery, or of all since a moment, under the same ids."""

from clarion.clock import HOUR, Millis, iso_text
from clarion.webhooks.actions import MAX_REPLAYED
from tests.providers.loopback import answering
from tests.support import Api
from tests.webhooks.support import Post, Receiver, list_deliveries, make_endpoint, receiver


async def test_one_delivery_is_sent_again_under_its_id(post: Post, hook: Receiver) -> None:
    endpoint = await make_endpoint(post.api, hook.url)
    await post.happen(2)
    await post.work()
    first, _ = await list_deliveries(post.api, endpoint)

    response = await post.api.post(f"/v1/webhooks/endpoints/{endpoint['_id']}/deliveries/{first['_id']}/replay")
    await post.work()

    assert (response.status_code, response.json()["status"], response.json()["attempts"]) == (200, "queued", 0)
    assert [one.id for one in hook.received].count(first["eventId"]) == 2
    assert len(hook.received) == 3
    assert (await list_deliveries(post.api, endpoint))[0]["status"] == "delivered"


async def test_a_delivery_that_failed_for_good_starts_anew(post: Post) -> None:
    async with receiver(answering(500)) as hook:
        endpoint = await make_endpoint(post.api, hook.url)
        await post.happen()
        for _ in range(10):
            await post.work()
            post.clock.move(30 * HOUR)
        (failed,) = await list_deliveries(post.api, endpoint)
        hook.answer = answering(200)
        await post.api.patch(f"/v1/webhooks/endpoints/{endpoint['_id']}", json={"active": True})
        await post.api.post(f"/v1/webhooks/endpoints/{endpoint['_id']}/deliveries/{failed['_id']}/replay")
        await post.work()

    (delivery,) = await list_deliveries(post.api, endpoint)
    assert delivery["status"] == "delivered"


async def test_one_that_is_queued_goes_on_as_it_is(post: Post) -> None:
    async with receiver(answering(500)) as hook:
        endpoint = await make_endpoint(post.api, hook.url)
        await post.happen()
        await post.work()
        (waiting,) = await list_deliveries(post.api, endpoint)
        path = f"/v1/webhooks/endpoints/{endpoint['_id']}/deliveries/{waiting['_id']}/replay"
        replayed = (await post.api.post(path)).json()

    assert replayed == waiting


async def test_everything_since_a_moment_is_sent_again(post: Post, hook: Receiver) -> None:
    endpoint = await make_endpoint(post.api, hook.url)
    other = await make_endpoint(post.api, hook.url)
    await post.happen(3)
    post.clock.move(HOUR)
    since = iso_text(post.clock.now())
    await post.happen(4)
    await post.work()
    hook.received.clear()

    response = await post.api.post(f"/v1/webhooks/endpoints/{endpoint['_id']}/replay", json={"since": since})
    await post.work()

    late = (await list_deliveries(post.api, endpoint))[3:]
    expected = {"replayed": 4, "hasMore": False, "last": late[-1]["_id"]}
    assert (response.status_code, response.json()) == (200, expected)
    assert sorted(one.id for one in hook.received) == sorted(one["eventId"] for one in late)
    assert len(await list_deliveries(post.api, other)) == 7


async def test_only_what_failed_can_be_asked_for(post: Post) -> None:
    async with receiver(answering(410)) as hook:
        endpoint = await make_endpoint(post.api, hook.url)
        path = f"/v1/webhooks/endpoints/{endpoint['_id']}"
        await post.happen()
        await post.work()
        hook.answer = answering(200)
        await post.api.patch(path, json={"active": True})
        await post.happen(2)
        await post.work()
        body = {"since": "2020-01-01T00:00:00.000Z", "status": "failed"}
        replayed = (await post.api.post(f"{path}/replay", json=body)).json()
        await post.work()

    assert replayed["replayed"] == 1
    assert [one["status"] for one in await list_deliveries(post.api, endpoint)] == ["delivered"] * 3


async def test_very_many_are_sent_again_in_parts(post: Post, hook: Receiver) -> None:
    endpoint = await make_endpoint(post.api, hook.url)
    await post.happen(MAX_REPLAYED + 1)
    await post.work()
    path, since = f"/v1/webhooks/endpoints/{endpoint['_id']}/replay", iso_text(Millis(0))

    first = (await post.api.post(path, json={"since": since})).json()
    second = (await post.api.post(path, json={"since": since, "after": first["last"]})).json()

    assert (first["replayed"], first["hasMore"]) == (MAX_REPLAYED, True)
    assert (second["replayed"], second["hasMore"]) == (1, False)


async def test_deliveries_of_another_endpoint_or_environment_are_not_found(
    post: Post, other_api: Api, hook: Receiver
) -> None:
    endpoint = await make_endpoint(post.api, hook.url)
    await post.happen()
    beside = await make_endpoint(post.api, hook.url)
    elsewhere = await make_endpoint(other_api, hook.url)
    await post.work()
    (delivery,) = await list_deliveries(post.api, endpoint)

    answers = [
        await client.post(f"/v1/webhooks/endpoints/{one['_id']}/deliveries/{delivery['_id']}/replay")
        for client, one in ((post.api, beside), (other_api, elsewhere), (other_api, endpoint))
    ]

    assert [one.status_code for one in answers] == [404, 404, 404]
    assert len(hook.received) == 1
