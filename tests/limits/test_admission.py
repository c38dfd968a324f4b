"""Rate limits through HTTP: headers, refusals, bulks, idempotency keys, and callers with invalid keys."""

from typing import Any

import httpx
import pytest

from clarion.app import Application, build_application
from clarion.clock import MINUTE, SECOND, ManualClock
from clarion.db.port import Database
from clarion.errors import RateLimited, Unauthenticated
from clarion.http.attempts import MAX_COUNTED, FailedAttempts
from clarion.operations import OPERATIONS
from clarion.providers.sending.gateway import ProviderGateway
from clarion.settings.model import Settings
from clarion.settings.rate_limits import LimitCategory
from clarion.vault import Vault
from tests.support import Api

WORKFLOW = {
    "name": "Hello",
    "workflowId": "hello",
    "active": True,
    "steps": [{"name": "Inbox", "type": "in_app", "controlValues": {"body": "Hello"}}],
}
NAMES = ("ratelimit-limit", "ratelimit-remaining", "ratelimit-reset", "ratelimit-policy")


async def set_limits(api: Api, **limits: Any) -> None:
    answer = await api.patch(f"/v1/environments/{(await me(api))['_id']}", json={"limits": limits})
    assert answer.status_code == 200, answer.text


async def me(api: Api) -> dict[str, Any]:
    found: dict[str, Any] = (await api.get("/v1/environments/me")).json()
    return found


def limit_headers(response: httpx.Response) -> tuple[str | None, ...]:
    return tuple(response.headers.get(name) for name in NAMES)


async def trigger(api: Api, **headers: str) -> httpx.Response:
    return await api.post("/v1/events/trigger", json={"name": "hello", "to": "ada"}, headers=headers)


async def bulk(api: Api, count: int) -> httpx.Response:
    return await api.post("/v1/events/trigger/bulk", json={"events": [{"name": "hello", "to": "ada"}] * count})


async def test_without_limits_there_are_no_headers_about_them(api: Api) -> None:
    assert limit_headers(await api.get("/v2/subscribers")) == (None,) * 4


async def test_an_answer_under_a_limit_says_what_is_left(api: Api, clock: ManualClock) -> None:
    await api.post("/v2/workflows", json=WORKFLOW)
    await set_limits(api, trigger={"perSecond": 2, "burst": 3})

    first, second, third = [await trigger(api) for _ in range(3)]
    clock.move(SECOND)
    fourth = await trigger(api)

    policy = '2;w=1;burst=3;comment="token bucket";category="trigger";cost="1"'
    assert limit_headers(first) == ("2", "2", "0", policy)
    assert limit_headers(second) == ("2", "1", "0", policy)
    assert limit_headers(third) == ("2", "0", "1", policy)
    assert limit_headers(fourth) == ("2", "1", "0", policy)
    assert limit_headers(await api.get("/v2/subscribers")) == (None,) * 4, "it is no trigger"


async def test_beyond_a_limit_a_request_is_refused_with_the_way_out(api: Api, clock: ManualClock) -> None:
    await api.post("/v2/workflows", json=WORKFLOW)
    await set_limits(api, trigger={"perSecond": 0.2})

    await trigger(api)
    refused = await trigger(api)
    clock.move(5 * SECOND)
    later = await trigger(api)

    assert (refused.status_code, later.status_code) == (429, 201)
    assert refused.headers["retry-after"] == "5"
    assert limit_headers(refused) == (
        "2",
        "0",
        "5",
        '2;w=10;burst=1;comment="token bucket";category="trigger";cost="1"',
    )
    assert refused.json() == {
        "statusCode": 429,
        "timestamp": "2026-01-01T00:00:00.000Z",
        "path": "/v1/events/trigger",
        "message": "This environment has reached its limit of 0.2 triggered events per second, 1 at once ('trigger'); "
        "try again in 5 s, or raise the limit with PATCH /v1/environments/{environmentId}",
        "error": "Too Many Requests",
        "ctx": {"category": "trigger", "limit": {"perSecond": 0.2, "burst": 1}, "cost": 1, "retryAfter": 5},
    }


async def test_changes_of_the_configuration_count_apart_and_reading_it_does_not(api: Api) -> None:
    await set_limits(api, configuration={"perSecond": 1, "burst": 2})

    changed = [(await api.post("/v2/workflows", json=WORKFLOW)).status_code for _ in range(3)]
    read = [(await api.get("/v2/workflows")).status_code for _ in range(3)]
    person = await api.post("/v2/subscribers", json={"subscriberId": "ada"})

    assert (changed, read, person.status_code) == ([201, 422, 429], [200] * 3, 201)


async def test_every_item_of_a_bulk_counts(api: Api) -> None:
    await api.post("/v2/workflows", json=WORKFLOW)
    await set_limits(api, trigger={"perSecond": 10})

    first, refused, fits = await bulk(api, 7), await bulk(api, 4), await bulk(api, 3)

    assert [one.status_code for one in (first, refused, fits)] == [201, 429, 201]
    assert (first.headers["ratelimit-remaining"], fits.headers["ratelimit-remaining"]) == ("3", "0")
    assert 'cost="7"' in first.headers["ratelimit-policy"]
    assert refused.headers["ratelimit-remaining"] == "3"
    assert refused.json()["ctx"]["cost"] == 4


async def test_a_bulk_of_subscribers_counts_its_items_in_everything(api: Api) -> None:
    await set_limits(api, **{"global": {"perSecond": 10, "burst": 10}})

    people = [{"subscriberId": f"person-{number}"} for number in range(9)]
    made = await api.post("/v1/subscribers/bulk", json={"subscribers": people})
    again = await api.post("/v1/subscribers/bulk", json={"subscribers": people})

    assert (made.status_code, again.status_code) == (201, 429)


async def test_a_bulk_above_the_burst_is_accepted_when_the_bucket_is_full(api: Api, clock: ManualClock) -> None:
    await api.post("/v2/workflows", json=WORKFLOW)
    await set_limits(api, trigger={"perSecond": 10})

    large = await bulk(api, 100)
    clock.move(9 * SECOND)
    owing = await trigger(api)
    clock.move(SECOND)
    paid = await trigger(api)

    assert [one.status_code for one in (large, owing, paid)] == [201, 429, 201]


async def test_a_session_counts_in_everything_of_its_environment(api: Api, application: Application) -> None:
    await set_limits(api, **{"global": {"perSecond": 1, "burst": 3}})
    body = {"applicationIdentifier": api.environment.identifier, "subscriberId": "ada"}
    transport = httpx.ASGITransport(app=application.asgi)
    async with httpx.AsyncClient(transport=transport, base_url="http://clarion.test") as browser:
        begun = await browser.post("/v1/inbox/session", json=body)
        headers = {"Authorization": f"Bearer {begun.json()['data']['token']}"}
        counts = [await browser.get("/v1/inbox/notifications", headers=headers) for _ in range(3)]
        refused = await browser.post("/v1/inbox/session", json=body)

    assert [one.headers["ratelimit-remaining"] for one in (begun, *counts)] == ["2", "1", "0", "0"]
    assert [one.status_code for one in counts] == [200, 200, 429]
    assert "RateLimit-Remaining" in counts[0].headers["access-control-expose-headers"]
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")


async def test_health_and_receipts_never_count(api: Api) -> None:
    await set_limits(api, **{"global": {"perSecond": 0.001}})
    await api.get("/v2/subscribers")

    health = [(await api.get("/v1/health-check")).status_code for _ in range(3)]
    receipt = await api.post("/v1/inbound-webhooks/delivery-providers/x/y")

    assert (health, receipt.status_code) == ([200] * 3, 404)
    assert (await api.get("/v2/subscribers")).status_code == 429


async def test_a_refusal_is_not_stored_under_an_idempotency_key(api: Api, clock: ManualClock) -> None:
    await api.post("/v2/workflows", json=WORKFLOW)
    await set_limits(api, trigger={"perSecond": 1})
    await trigger(api)

    refused = await trigger(api, **{"Idempotency-Key": "one"})
    clock.move(SECOND)
    later = await trigger(api, **{"Idempotency-Key": "one"})

    assert (refused.status_code, later.status_code) == (429, 201)
    assert "idempotency-replay" not in later.headers


async def test_a_replay_counts_and_its_stored_answer_outlives_a_refusal(api: Api, clock: ManualClock) -> None:
    await api.post("/v2/workflows", json=WORKFLOW)
    await set_limits(api, trigger={"perSecond": 1})

    first = await trigger(api, **{"Idempotency-Key": "one"})
    refused = await trigger(api, **{"Idempotency-Key": "one"})
    clock.move(SECOND)
    replayed = await trigger(api, **{"Idempotency-Key": "one"})

    assert (refused.status_code, replayed.status_code) == (429, 201)
    assert replayed.headers["idempotency-replay"] == "true"
    assert replayed.json() == first.json()


async def test_an_environments_own_limit_wins_over_the_setting_and_null_brings_that_back(
    api: Api, database: Database, vault: Vault, gateway: ProviderGateway, clock: ManualClock, settings: Settings
) -> None:
    limited = Settings.load({"CLARION_RATE_LIMITS": "global=100/s burst 7"}, data_dir=settings.data_dir)
    application = build_application(limited, database, vault, gateway, clock=clock)
    transport = httpx.ASGITransport(app=application.asgi)
    async with httpx.AsyncClient(transport=transport, base_url="http://clarion.test", headers=api.headers) as client:
        path = f"/v1/environments/{(await client.get('/v1/environments/me')).json()['_id']}"
        by_setting = await client.get("/v1/environments/me")
        clock.move(SECOND)
        await client.patch(path, json={"limits": {"global": {"perSecond": 50, "burst": 5}}})
        own = await client.get("/v1/environments/me")
        clock.move(SECOND)
        await client.patch(path, json={"limits": {"global": None}})
        back = await client.get("/v1/environments/me")

    bursts = [one.headers["ratelimit-policy"].split(";")[2] for one in (by_setting, own, back)]
    assert bursts == ["burst=7", "burst=5", "burst=7"]


def subject_of(path: str) -> str:
    return path.removeprefix("/v1").removeprefix("/v2").split("/")[1]


def test_every_operation_has_the_category_that_its_rights_or_its_declaration_say() -> None:
    categories = {(one.method, one.path): one.limit for one in OPERATIONS}

    triggers = {path for (_, path), one in categories.items() if one is LimitCategory.TRIGGER}
    configuration = {subject_of(path) for (_, path), one in categories.items() if one is LimitCategory.CONFIGURATION}
    uncounted = {subject_of(path) for (_, path), one in categories.items() if one is None}
    events = {"/v1/events/trigger", "/v1/events/trigger/bulk", "/v1/events/trigger/broadcast"}
    events |= {"/v1/events/emit", "/v1/runs/{notificationId}/answers"}
    assert triggers == {*events, "/v1/simulate", "/v1/workflows/{workflowId}/impact"}
    content = {"layouts", "translations", "environment-variables", "segments", "schedules"}
    assert configuration == {"workflows", "integrations", "webhooks", "environments", "organizations", *content}
    # Members who are in no environment; attempts to sign in have limits of their own. What people follow from
    # messages, and what chats answer, is counted when its token has said which environment it is about.
    signed = {"unsubscribe", "preferences", "answer", "t", "integrations", "connect"}
    assert uncounted == {"health-check", "inbound-webhooks", "auth", *signed}


async def get_with(api: Api, key: str) -> httpx.Response:
    return await api.get("/v2/subscribers", headers={"Authorization": f"ApiKey {key}"})


async def test_an_address_with_many_invalid_keys_is_refused_and_valid_keys_from_it_are_not(
    api: Api, clock: ManualClock
) -> None:
    failed = [(await get_with(api, f"guess-{number}")).status_code for number in range(61)]
    refused = await get_with(api, "one-more-guess")
    good = await api.get("/v2/subscribers")
    made = await api.post("/v1/environments/api-keys", json={"name": "new"})
    new = await get_with(api, made.json()["key"])
    clock.move(MINUTE)
    after = await get_with(api, "guess")

    assert failed == [401] * 60 + [429]
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
    assert "Authorization" in refused.json()["message"]
    assert (good.status_code, new.status_code, after.status_code) == (200, 200, 401)


async def test_requests_without_a_key_are_not_taken_for_guesses(api: Api) -> None:
    del api.headers["Authorization"]

    assert {(await api.get("/v2/subscribers")).status_code for _ in range(70)} == {401}


def answer(attempts: FailedAttempts, address: str) -> type[Exception]:
    return type(attempts.answer(address, Unauthenticated("no")))


def test_failures_of_an_address_are_forgotten_at_the_rate_that_is_allowed(clock: ManualClock) -> None:
    attempts = FailedAttempts(clock, per_minute=6)

    first = [answer(attempts, "10.0.0.1") for _ in range(7)]
    suspects = [attempts.is_suspect(address) for address in ("10.0.0.1", "10.0.0.2")]
    clock.move(MINUTE // 6)

    assert first == [Unauthenticated] * 6 + [RateLimited]
    assert suspects == [True, False]
    assert not attempts.is_suspect("10.0.0.1")
    assert [answer(attempts, "10.0.0.1") for _ in range(2)] == [Unauthenticated, RateLimited]


@pytest.mark.parametrize(
    ("one", "other", "is_shared"),
    [
        ("2001:db8::1", "2001:db8::2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("fe80::1%eth0", "fe80::2", True),
        ("", "", True),
    ],
)
def test_a_network_that_one_customer_has_counts_as_one_address(
    clock: ManualClock, one: str, other: str, is_shared: bool
) -> None:
    attempts = FailedAttempts(clock, per_minute=1)

    answer(attempts, one)

    assert attempts.is_suspect(other) is is_shared


def test_only_the_addresses_that_failed_last_are_remembered(clock: ManualClock) -> None:
    attempts = FailedAttempts(clock, per_minute=1)

    for number in range(MAX_COUNTED + 1):
        answer(attempts, f"address-{number}")

    remembered = [attempts.is_suspect(f"address-{number}") for number in (0, 1, MAX_COUNTED)]
    assert remembered == [False, True, True]


def test_the_limit_of_invalid_keys_can_be_switched_off(clock: ManualClock) -> None:
    attempts = FailedAttempts(clock, per_minute=0)

    assert {answer(attempts, "10.0.0.1") for _ in range(100)} == {Unauthenticated}
    assert not attempts.is_suspect("10.0.0.1")
