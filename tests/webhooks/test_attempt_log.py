"""The log of a delivery: every attempt with its moment and the receiver's response, up to a limit."""

from typing import Any

from clarion.clock import DAY, SECOND, Millis
from clarion.webhooks.model import MAX_LOGGED, DeliveryAttempt, append_to_log, read_log
from tests.providers.loopback import answering
from tests.support import Api
from tests.webhooks.support import Post, list_deliveries, make_endpoint, receiver


def path_of(endpoint: dict[str, Any], delivery: dict[str, Any]) -> str:
    return f"/v1/webhooks/endpoints/{endpoint['_id']}/deliveries/{delivery['_id']}"


async def test_every_attempt_is_shown_with_the_response(post: Post, other_api: Api) -> None:
    async with receiver(answering(503, "busy")) as hook:
        endpoint = await make_endpoint(post.api, hook.url)
        await post.happen()
        await post.work()
        hook.answer = answering(200)
        await post.work(after=6 * SECOND)

    (delivery,) = await list_deliveries(post.api, endpoint)
    first, second = delivery["attemptLog"]
    assert first.pop("milliseconds") >= 0
    assert second.pop("milliseconds") >= 0
    assert first == {
        "at": "2026-01-01T00:00:00.000Z",
        "responseStatus": 503,
        "errorText": "The receiver answered 503: busy",
    }
    assert second == {"at": "2026-01-01T00:00:06.000Z", "responseStatus": 200}
    found = await post.api.get(path_of(endpoint, delivery))
    assert (found.status_code, found.json()["_id"]) == (200, delivery["_id"])
    assert (await other_api.get(path_of(endpoint, delivery))).status_code == 404


async def test_a_replay_keeps_the_attempts_before_it(post: Post) -> None:
    async with receiver(answering(200)) as hook:
        endpoint = await make_endpoint(post.api, hook.url)
        await post.happen()
        await post.work()
        (delivery,) = await list_deliveries(post.api, endpoint)
        await post.api.post(f"{path_of(endpoint, delivery)}/replay")
        await post.work(after=DAY)

    (replayed,) = await list_deliveries(post.api, endpoint)
    assert (len(replayed["attemptLog"]), replayed["attempts"]) == (2, 1)


async def test_a_delivery_that_was_not_tried_has_an_empty_log(post: Post) -> None:
    endpoint = await make_endpoint(post.api, "http://127.0.0.1:9/")
    await post.happen()

    (delivery,) = await list_deliveries(post.api, endpoint)

    assert delivery["attemptLog"] == []


async def test_a_test_delivery_has_its_only_attempt(post: Post) -> None:
    async with receiver(answering(200)) as hook:
        endpoint = await make_endpoint(post.api, hook.url)
        tried = (await post.api.post(f"/v1/webhooks/endpoints/{endpoint['_id']}/test")).json()

    assert [one["responseStatus"] for one in tried["attemptLog"]] == [200]


def test_the_oldest_attempts_are_dropped() -> None:
    text = None
    for number in range(MAX_LOGGED + 5):
        text = append_to_log(text, DeliveryAttempt(error="x" * 2_000), Millis(number))

    log = read_log(text)
    assert [one.at for one in log] == list(range(5, MAX_LOGGED + 5))
    assert {len(one.error or "") for one in log} == {500}
