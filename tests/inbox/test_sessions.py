"""Beginning and ending sessions, on both databases."""

import hashlib
import hmac
from pathlib import Path
from typing import Any

import httpx
import pytest

from clarion.app import Application
from clarion.clock import DAY, HOUR, ManualClock
from clarion.db.port import Database
from clarion.db.query import sql
from clarion.settings.model import Settings
from clarion.vocabulary import Severity
from tests.audit.support import list_entries
from tests.inbox.conftest import MakePerson, Person
from tests.records import make_message, make_subscriber
from tests.support import Api, MakeApi, Site

PATH = "/v1/inbox/session"
PROBE = "/v1/inbox/preferences/global"
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday")
WEEK = {day: {"isEnabled": True, "hours": [{"start": "09:00 AM", "end": "05:00 PM"}]} for day in DAYS}
SCHEDULE = {"isEnabled": True, "weeklySchedule": WEEK}


class Page(httpx.AsyncClient):
    """A browser without any key."""

    application: str

    async def begin(self, **body: Any) -> httpx.Response:
        subscriber = {"subscriber": {"subscriberId": "ada"}} if "subscriberId" not in body else {}
        return await self.post(PATH, json={"applicationIdentifier": self.application, **subscriber, **body})


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path, session_days=2)


@pytest.fixture
async def page(application: Application, site: Site) -> Any:
    transport = httpx.ASGITransport(app=application.asgi, raise_app_exceptions=False)
    async with Page(transport=transport, base_url="http://clarion.test") as client:
        client.application = site.development.identifier
        yield client


async def set_hmac(api: Api, *, active: bool = True) -> None:
    (inbox,) = (await api.get("/v1/integrations")).json()
    body = {"credentials": {"hmac": True}, "active": active}
    assert (await api.put(f"/v1/integrations/{inbox['_id']}", json=body)).status_code == 200


def sign(key: str, text: str) -> str:
    return hmac.new(key.encode(), text.encode(), hashlib.sha256).hexdigest()


async def test_a_session_says_what_the_inbox_needs(page: Page, api: Api, database: Database) -> None:
    subscriber = await make_subscriber(database, api.environment, "ada")
    for severity in (Severity.HIGH, Severity.HIGH, Severity.NONE):
        await make_message(database, api.environment, subscriber=subscriber, severity=severity)

    response = await page.begin()

    data = response.json()["data"]
    token = data.pop("token")
    assert response.status_code == 201
    assert data == {
        "totalUnreadCount": 3,
        "unreadCount": {"total": 3, "severity": {"high": 2, "medium": 0, "low": 0, "none": 1}},
        "removeNovuBranding": True,
        "isDevelopmentMode": True,
        "maxSnoozeDurationHours": 2160,
        "applicationIdentifier": page.application,
        "contextKeys": [],
    }
    assert (await page.get(PROBE, headers={"Authorization": f"Bearer {token}"})).status_code == 200


@pytest.mark.parametrize(
    ("stored", "answered"), [("de_at", "de-AT"), ("fr", "fr"), (None, None), ('"><b>', None), ("x" * 100, None)]
)
async def test_a_session_says_the_language_of_the_person(
    page: Page, api: Api, database: Database, stored: str | None, answered: str | None
) -> None:
    await make_subscriber(database, api.environment, "ada", locale=stored)

    assert (await page.begin()).json()["data"].get("locale") == answered


async def test_production_is_no_development_mode(page: Page, site: Site) -> None:
    page.application = site.production.identifier
    assert (await page.begin()).json()["data"]["isDevelopmentMode"] is False


async def test_a_session_creates_the_subscriber_with_what_the_page_knows(page: Page, api: Api) -> None:
    person = {
        "subscriberId": "new",
        "firstName": "Ada",
        "email": "ada@example.com",
        "data": {"plan": "pro"},
        "timezone": "Europe/Athens",
    }
    response = await page.begin(subscriber=person, defaultSchedule=SCHEDULE)

    stored = (await api.get("/v2/subscribers/new")).json()
    preferences = (await api.get("/v2/subscribers/new/preferences")).json()
    assert response.status_code == 201
    assert {name: stored[name] for name in person} == person
    assert preferences["global"]["schedule"] == SCHEDULE


async def test_older_clients_send_the_subscriber_id_alone(page: Page, api: Api) -> None:
    assert (await page.begin(subscriberId="old")).status_code == 201
    assert (await api.get("/v2/subscribers/old")).status_code == 200


async def test_a_zone_that_is_not_known_does_not_close_the_inbox(page: Page, api: Api) -> None:
    response = await page.begin(subscriber={"subscriberId": "ada", "timezone": "Mars/Olympus"})

    assert response.status_code == 201
    assert (await api.get("/v2/subscribers/ada")).json()["timezone"] is None


async def test_without_a_hash_nothing_of_a_subscriber_changes(page: Page, api: Api) -> None:
    await api.post("/v2/subscribers", json={"subscriberId": "ada", "firstName": "Ada", "email": "ada@example.com"})
    before = (await api.get("/v2/subscribers/ada")).json()

    person = {"subscriberId": "ada", "firstName": "Eve", "email": "eve@example.com", "timezone": "Asia/Tokyo"}
    response = await page.begin(subscriber=person, subscriberHash=sign(api.key, "ada"))

    assert response.status_code == 201
    assert (await api.get("/v2/subscribers/ada")).json() == before


async def test_with_a_hash_the_fields_that_the_page_sends_are_changed(page: Page, api: Api) -> None:
    await api.post("/v2/subscribers", json={"subscriberId": "ada", "firstName": "Ada", "email": "ada@example.com"})
    await set_hmac(api)

    person = {"subscriberId": "ada", "firstName": "Countess", "timezone": "Asia/Tokyo"}
    response = await page.begin(subscriber=person, subscriberHash=sign(api.key, "ada"))

    stored = (await api.get("/v2/subscribers/ada")).json()
    assert response.status_code == 201
    assert (stored["firstName"], stored["timezone"], stored["email"]) == ("Countess", "Asia/Tokyo", "ada@example.com")


async def test_a_default_schedule_is_kept_only_by_those_who_have_none(page: Page, api: Api) -> None:
    await api.post("/v2/subscribers", json={"subscriberId": "ada"})
    other = {"isEnabled": False}

    await page.begin(defaultSchedule=SCHEDULE)
    await page.begin(defaultSchedule=other)

    preferences = (await api.get("/v2/subscribers/ada/preferences")).json()
    assert preferences["global"]["schedule"] == SCHEDULE


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"applicationIdentifier": "unknown"}, 400, "'unknown'"),
        ({"applicationIdentifier": ""}, 400, "applicationIdentifier"),
        ({"applicationIdentifier": "pk_keyless_abc"}, 400, "applicationIdentifier"),
        ({"applicationIdentifier": 5}, 422, "applicationIdentifier"),
        ({"subscriber": {}}, 422, "subscriber.subscriberId"),
        ({"subscriberId": ""}, 422, "subscriberId"),
        ({"subscriber": {"subscriberId": "ada", "email": "no"}}, 422, "subscriber.email"),
        ({"defaultSchedule": {"weeklySchedule": {}}}, 422, "defaultSchedule.isEnabled"),
        ({"context": {"tenant": 5}}, 422, "context.tenant"),
        ({"context": {"a b": "x"}}, 422, "context.a b"),
        ({"context": {"tenant": {"id": "a,b"}}}, 422, "context.tenant.id"),
        ({"context": {"tenant": {"id": "a", "data": []}}}, 422, "context.tenant.data"),
        ({"context": dict.fromkeys("abcdef", "x")}, 422, "at most 5"),
    ],
)
async def test_what_cannot_begin_a_session_is_named(page: Page, body: dict[str, Any], status: int, words: str) -> None:
    response = await page.begin(**body)

    assert response.status_code == status
    assert words in response.text


async def test_nobody_without_a_name_gets_a_session(page: Page) -> None:
    response = await page.post(PATH, json={"applicationIdentifier": page.application})

    assert response.status_code == 422
    assert list(response.json()["errors"]) == ["subscriber.subscriberId"]


async def test_without_an_active_in_app_integration_there_is_no_inbox(page: Page, api: Api) -> None:
    await set_hmac(api, active=False)

    response = await page.begin(subscriberHash=sign(api.key, "ada"))

    assert response.status_code == 404
    assert "in_app" in response.json()["message"]
    assert (await api.get("/v2/subscribers/ada")).status_code == 404


async def test_a_missing_and_a_wrong_hash_are_refused_the_same_way(page: Page, api: Api) -> None:
    await set_hmac(api)
    wrong = [None, "", "x", sign(api.key, "bob"), sign("ck_other", "ada"), sign(api.key, "ada")[:-1] + "x", "é" * 64]

    answers = [await page.begin(**({} if one is None else {"subscriberHash": one})) for one in wrong]

    assert {one.status_code for one in answers} == {400}
    assert len({one.json()["message"] for one in answers}) == 1
    assert (await api.get("/v2/subscribers/ada")).status_code == 404


async def test_a_hash_under_any_valid_key_of_the_environment_is_right(
    page: Page, api: Api, make_api: MakeApi, other_api: Api, clock: ManualClock
) -> None:
    await set_hmac(api)
    second = await make_api()
    keys = "/v1/environments/api-keys"
    body = {"name": "short", "expiresAt": "2026-01-01T01:00:00.000Z"}
    expiring = (await api.post(keys, json=body)).json()["key"]
    revoked = (await api.post(keys, json={"name": "revoked"})).json()
    await api.delete(f"{keys}/{revoked['apiKey']['_id']}")

    async def status(key: str) -> int:
        return (await page.begin(subscriberHash=sign(key, "ada"))).status_code

    assert [await status(key) for key in (api.key, second.key, expiring)] == [201, 201, 201]
    assert [await status(key) for key in (revoked["key"], other_api.key)] == [400, 400]
    clock.move(HOUR)
    assert [await status(key) for key in (api.key, expiring)] == [201, 400]


async def test_a_context_needs_a_hash_of_its_own(page: Page, api: Api) -> None:
    await set_hmac(api)
    person = {"subscriberHash": sign(api.key, "ada")}
    context = {"tenant": {"id": "acme", "data": {"b": 1, "a": "é"}}, "app": "jira"}
    text = '{"app":"jira","tenant":{"data":{"a":"é","b":1},"id":"acme"}}'
    right, plain = sign(api.key, f"context\n{text}"), sign(api.key, text)

    accepted = await page.begin(**person, context=context, contextHash=right)
    understood = await page.begin(**person, context=context, contextHash=plain)
    refused = [
        await page.begin(**person, context=context),
        await page.begin(**person, context=context, contextHash=sign(api.key, "ada")),
        await page.begin(**person, context=context | {"app": "other"}, contextHash=right),
        await page.begin(context=context, contextHash=right),
    ]

    assert (accepted.status_code, understood.status_code) == (201, 201)
    assert accepted.json()["data"]["contextKeys"] == ["app:jira", "tenant:acme"]
    assert [one.status_code for one in refused] == [400] * 4
    assert len({one.json()["message"] for one in refused}) == 1


async def test_a_proven_session_makes_the_contexts_that_do_not_exist(page: Page, api: Api) -> None:
    await set_hmac(api)
    await api.post("/v2/contexts", json={"type": "app", "id": "jira", "data": {"name": "Stored"}})
    context = {"app": {"id": "jira", "data": {"name": "Given"}}, "tenant": {"id": "acme", "data": {"name": "Acme"}}}
    text = '{"app":{"data":{"name":"Given"},"id":"jira"},"tenant":{"data":{"name":"Acme"},"id":"acme"}}'
    hashes = {"subscriberHash": sign(api.key, "ada"), "contextHash": sign(api.key, f"context\n{text}")}

    begun = [await page.begin(context=context, **hashes) for _ in range(2)]

    assert [one.status_code for one in begun] == [201, 201]
    assert (await api.get("/v2/contexts/app/jira")).json()["data"] == {"name": "Stored"}
    assert (await api.get("/v2/contexts/tenant/acme")).json()["data"] == {"name": "Acme"}


async def test_a_session_without_proof_makes_no_context(page: Page, api: Api) -> None:
    response = await page.begin(context={"tenant": {"id": "acme", "data": {"name": "<img>"}}})

    assert response.status_code == 201
    assert (await api.get("/v2/contexts")).json()["data"] == []


async def test_the_hash_of_a_subscriber_does_not_open_a_context(page: Page, api: Api) -> None:
    await set_hmac(api)
    text, context = '{"tenant":"acme"}', {"tenant": "acme"}
    person, thief = {"subscriberHash": sign(api.key, "ada")}, {"subscriber": {"subscriberId": text}}
    own = sign(api.key, f"subscriber\n{text}")

    begun = [await page.begin(**thief, subscriberHash=one) for one in (own, sign(api.key, text))]
    taken = [await page.begin(**person, context=context, contextHash=one) for one in (own, sign(api.key, text))]
    right = await page.begin(**person, context=context, contextHash=sign(api.key, f"context\n{text}"))

    assert [one.status_code for one in begun] == [201, 400]
    assert [one.status_code for one in taken] == [400, 400]
    assert right.status_code == 201


async def test_the_hash_of_a_context_does_not_open_an_inbox(page: Page, api: Api) -> None:
    await set_hmac(api)
    text = '{"tenant":"acme"}'
    hashes = [sign(api.key, text), sign(api.key, f"context\n{text}")]

    begun = [await page.begin(subscriber={"subscriberId": text}, subscriberHash=one) for one in hashes]

    assert [one.status_code for one in begun] == [400, 400]


@pytest.mark.parametrize("credentials", [{}, {"senderName": "News"}])
async def test_proof_is_switched_off_in_so_many_words_alone(page: Page, api: Api, credentials: dict[str, str]) -> None:
    await set_hmac(api)
    (inbox,) = (await api.get("/v1/integrations")).json()
    path = f"/v1/integrations/{inbox['_id']}"

    kept = (await api.put(path, json={"credentials": credentials})).json()
    refused = await page.begin()
    off = (await api.put(path, json={"credentials": {"hmac": False}})).json()
    entries = await list_entries(api, action="integration.update")

    assert kept["credentials"] == {"hmac": True, **credentials}
    assert (refused.status_code, off["credentials"]) == (400, {"hmac": False})
    assert entries[0]["before"]["credentials"]["hmac"] is True
    assert entries[0]["after"]["credentials"]["hmac"] is False
    assert (await page.begin()).status_code == 201


async def test_an_inbox_that_replaces_a_deleted_one_keeps_its_proof(page: Page, api: Api) -> None:
    await set_hmac(api)
    (inbox,) = (await api.get("/v1/integrations")).json()
    new = {"providerId": "svc", "channel": "in_app", "active": True}

    await api.delete(f"/v1/integrations/{inbox['_id']}")
    again = (await api.post("/v1/integrations", json=new)).json()
    refused = await page.begin()
    await api.delete(f"/v1/integrations/{again['_id']}")
    without = (await api.post("/v1/integrations", json=new | {"credentials": {"hmac": False}})).json()

    assert (again["credentials"], without["credentials"]) == ({"hmac": True}, {"hmac": False})
    assert refused.status_code == 400


async def test_a_session_that_changes_nothing_writes_nothing(page: Page, database: Database, site: Site) -> None:
    await page.begin()
    query = sql("SELECT version, updated_at FROM subscribers WHERE environment_id = :environment_id")

    async def rows() -> list[dict[str, Any]]:
        found = await database.read(lambda db: db.fetch(query, environment_id=site.development.id))
        return [dict(row) for row in found]

    before = await rows()
    await page.begin(subscriber={"subscriberId": "ada", "firstName": "Eve"})

    assert await rows() == before


async def test_a_session_lasts_as_long_as_the_setting_says(page: Page, clock: ManualClock) -> None:
    token = (await page.begin()).json()["data"]["token"]
    headers = {"Authorization": f"Bearer {token}"}

    clock.move(2 * DAY - 1)
    assert (await page.get(PROBE, headers=headers)).status_code == 200
    clock.move(1)
    assert (await page.get(PROBE, headers=headers)).status_code == 401


async def test_ending_all_sessions_of_an_environment_leaves_those_of_others(
    api: Api, ada: Person, page: Page, make_person: MakePerson, site: Site
) -> None:
    other = await make_person("ada", site.production)
    assert [(await one.get(PROBE)).status_code for one in (ada, other)] == [200, 200]

    ended = await api.post("/v1/environments/sessions/revoke")

    fresh = (await page.begin()).json()["data"]["token"]
    assert ended.status_code == 204
    assert [(await one.get(PROBE)).status_code for one in (ada, other)] == [401, 200]
    assert (await page.get(PROBE, headers={"Authorization": f"Bearer {fresh}"})).status_code == 200


async def test_deleting_a_person_ends_their_sessions_also_for_a_namesake(api: Api, ada: Person) -> None:
    await api.delete("/v2/subscribers/ada")
    assert (await ada.get(PROBE)).status_code == 401

    await api.post("/v2/subscribers", json={"subscriberId": "ada"})
    assert (await ada.get(PROBE)).status_code == 401
