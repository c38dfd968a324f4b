"""Endpoints over the API: created, changed, rotated, tested, deleted."""

from typing import Any

import pytest

from clarion.clock import HOUR, ManualClock
from clarion.vocabulary import Scope
from clarion.webhooks.actions import MAX_ENDPOINTS
from clarion.webhooks.model import EventType
from tests.providers.loopback import answering
from tests.support import Api, MakeApi
from tests.webhooks.support import get_endpoint, list_deliveries, make_endpoint, receiver

URL = "https://hooks.example.com/clarion"


async def test_an_endpoint_shows_its_secret_once(api: Api) -> None:
    made = await make_endpoint(api, URL, "message.sent", description="Billing")

    found = await get_endpoint(api, made)
    listed = (await api.get("/v1/webhooks/endpoints")).json()

    assert made.pop("secret").startswith("whsec_")
    assert found == made
    assert listed == [found]
    assert (found["url"], found["eventTypes"], found["active"]) == (URL, ["message.sent"], True)


async def test_an_endpoint_is_changed_in_part(api: Api, clock: ManualClock) -> None:
    made = await make_endpoint(api, URL, "message.sent", description="Billing")
    clock.move(1)

    body = {"eventTypes": ["message.read", "workflow.created"], "active": False, "description": None}
    response = await api.patch(f"/v1/webhooks/endpoints/{made['_id']}", json=body)

    changed = response.json()
    assert (response.status_code, changed["url"]) == (200, URL)
    assert (changed["eventTypes"], changed["active"]) == (["message.read", "workflow.created"], False)
    assert "description" not in changed
    assert changed["updatedAt"] > made["updatedAt"]


async def test_nothing_moves_where_nothing_differs(api: Api, clock: ManualClock) -> None:
    made = await make_endpoint(api, URL)
    clock.move(1)

    response = await api.patch(f"/v1/webhooks/endpoints/{made['_id']}", json={"url": URL, "active": True})

    assert response.json()["updatedAt"] == made["updatedAt"]


async def test_a_deleted_endpoint_is_gone(api: Api) -> None:
    made = await make_endpoint(api, URL)
    path = f"/v1/webhooks/endpoints/{made['_id']}"

    assert (await api.delete(path)).status_code == 204
    assert [(await api.get(path)).status_code, (await api.delete(path)).status_code] == [404, 404]


@pytest.mark.parametrize(
    "url",
    [
        *("http://10.0.0.1/", "http://169.254.169.254/latest/meta-data", "http://[::1]/", "http://0x0a000001/"),
        *("http://[::ffff:10.0.0.1]/", "http://167772161/", "https://192.168.1.1:8443/x"),
        *("ftp://example.com/", "example.com", "http://", "https://user:password@example.com/", "https://a b/", ""),
    ],
)
async def test_a_url_that_nothing_may_be_sent_to_is_refused(api: Api, url: str) -> None:
    made = await make_endpoint(api, URL)

    created = await api.post("/v1/webhooks/endpoints", json={"url": url})
    changed = await api.patch(f"/v1/webhooks/endpoints/{made['_id']}", json={"url": url})

    assert (created.status_code, list(created.json()["errors"])) == (422, ["url"])
    assert (changed.status_code, list(changed.json()["errors"])) == (422, ["url"])
    assert (await get_endpoint(api, made))["url"] == URL


async def test_unknown_event_types_are_refused(api: Api) -> None:
    response = await api.post("/v1/webhooks/endpoints", json={"url": URL, "eventTypes": ["message.eaten"]})

    assert (response.status_code, list(response.json()["errors"])) == (422, ["eventTypes.0"])


async def test_an_environment_has_a_bounded_number_of_endpoints(api: Api) -> None:
    for _ in range(MAX_ENDPOINTS):
        await make_endpoint(api, URL)

    response = await api.post("/v1/webhooks/endpoints", json={"url": URL})

    assert response.status_code == 422
    assert str(MAX_ENDPOINTS) in response.text


async def test_event_types_are_listed_with_what_they_mean(api: Api) -> None:
    found = (await api.get("/v1/webhooks/event-types")).json()

    assert [one["type"] for one in found] == list(EventType)
    assert all(one["description"] for one in found)


async def test_reading_and_writing_take_scopes_of_their_own(make_api: MakeApi) -> None:
    reader = await make_api(scopes=frozenset({Scope.WEBHOOKS_READ}))
    stranger = await make_api(scopes=frozenset({Scope.MESSAGES_WRITE}))

    assert (await reader.get("/v1/webhooks/endpoints")).status_code == 200
    assert (await reader.post("/v1/webhooks/endpoints", json={"url": URL})).status_code == 403
    assert (await stranger.get("/v1/webhooks/endpoints")).status_code == 403


async def test_a_test_event_reaches_a_disabled_endpoint_and_tells_the_answer(api: Api) -> None:
    async with receiver(answering(202)) as hook:
        made = await make_endpoint(api, hook.url, "message.read", active=False)
        response = await api.post(f"/v1/webhooks/endpoints/{made['_id']}/test")

    tried = response.json()
    assert (response.status_code, tried["status"], tried["responseStatus"], tried["attempts"]) == (
        200,
        "delivered",
        202,
        1,
    )
    assert hook.types == ["endpoint.test"]
    assert hook.received[0].is_signed_with(made["secret"])
    assert hook.received[0].id == tried["eventId"]
    assert await list_deliveries(api, made) == [tried]


async def test_a_test_event_that_fails_says_why_and_is_not_tried_again(api: Api) -> None:
    async with receiver(answering(500, "no such queue")) as hook:
        made = await make_endpoint(api, hook.url)
        tried = (await api.post(f"/v1/webhooks/endpoints/{made['_id']}/test")).json()

    assert (tried["status"], tried["responseStatus"]) == ("failed", 500)
    assert tried["errorText"] == "The receiver answered 500: no such queue"
    assert "nextAttemptAt" not in tried


async def test_both_secrets_sign_for_a_day_after_a_rotation(api: Api, clock: ManualClock) -> None:
    async with receiver() as hook:
        made = await make_endpoint(api, hook.url)
        path = f"/v1/webhooks/endpoints/{made['_id']}"
        rotated = (await api.post(f"{path}/rotate-secret")).json()
        await api.post(f"{path}/test")
        clock.move(24 * HOUR)
        await api.post(f"{path}/test")

    assert rotated["previousUntil"] == "2026-01-02T00:00:00.000Z"
    signed: list[list[Any]] = [
        [one.is_signed_with(secret) for secret in (made["secret"], rotated["secret"])] for one in hook.received
    ]
    assert signed == [[True, True], [False, True]]
