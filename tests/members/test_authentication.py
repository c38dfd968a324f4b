"""Requests of members: a cookie and an environment take the place of an API key."""

from typing import Any

import httpx
import pytest

from clarion.app import Application
from clarion.bus import Signal
from clarion.clock import DAY, HOUR, MINUTE, SECOND, ManualClock
from clarion.db.port import Database
from clarion.http.origins import SESSION_COOKIE
from clarion.ids import id_text
from clarion.members import store
from clarion.members.model import hash_token
from clarion.members.sessions.authentication import SessionAuthenticator
from clarion.members.sessions.sign_in import LOCAL_NAME
from clarion.vocabulary import Role
from tests.members.support import Browser, SignIn
from tests.support import Api, Site

TOPICS = "/v2/topics"
TOPIC = {"key": "news", "name": "News"}


@pytest.mark.parametrize("by", ["id", "identifier"])
async def test_a_member_calls_the_operations_of_api_keys_in_the_environment_that_a_header_names(
    make_browser: SignIn, site: Site, other_api: Api, by: str
) -> None:
    browser = await make_browser(Role.AUTHOR)
    environment = site.production
    name = id_text(environment.id) if by == "id" else environment.identifier

    made = await browser.post(TOPICS, json=TOPIC, headers={"Clarion-Environment": name})

    assert made.status_code == 201
    assert (await other_api.get(f"{TOPICS}/news")).json()["key"] == "news"


async def test_a_request_without_an_environment_is_answered_with_the_header_to_send(make_browser: SignIn) -> None:
    browser = await make_browser(Role.OWNER)

    response = await browser.get(TOPICS)

    assert response.status_code == 400
    assert "Clarion-Environment" in response.json()["message"]


@pytest.mark.parametrize("name", ["nowhere", id_text(bytes(range(16)))])
async def test_an_environment_that_does_not_exist_is_refused_as_one_without_access(
    make_browser: SignIn, site: Site, name: str
) -> None:
    browser = await make_browser(Role.OWNER, roles={site.production.id: None})

    unknown = await browser.get(TOPICS, headers={"Clarion-Environment": name})
    closed = await browser.get(TOPICS, headers={"Clarion-Environment": site.production.identifier})

    assert (unknown.status_code, closed.status_code) == (403, 403)
    pattern = unknown.json()["message"].replace(name, "…")
    assert closed.json()["message"].replace(site.production.identifier, "…") == pattern


async def test_the_role_in_the_environment_decides(make_browser: SignIn, site: Site) -> None:
    browser = await make_browser(Role.VIEWER, site.development, {site.production.id: Role.AUTHOR})

    refused = await browser.post(TOPICS, json=TOPIC)
    accepted = await browser.entering(site.production).post(TOPICS, json=TOPIC)

    assert refused.status_code == 403
    assert "viewer" in refused.json()["message"]
    assert accepted.status_code == 201


async def test_an_api_key_is_used_even_if_there_is_a_cookie(make_browser: SignIn, api: Api) -> None:
    browser = await make_browser(Role.VIEWER)

    response = await browser.post(TOPICS, json=TOPIC, headers={"Authorization": f"ApiKey {api.key}"})

    assert response.status_code == 201


async def test_caches_do_not_store_what_members_get(make_browser: SignIn, site: Site, api: Api) -> None:
    browser = await make_browser(Role.VIEWER, site.development)

    answers = [await browser.get(path) for path in (TOPICS, f"{TOPICS}/missing", "/v1/auth/me")]

    assert [one.status_code for one in answers] == [200, 404, 200]
    assert {one.headers.get("Cache-Control") for one in answers} == {"no-store"}
    assert "Cache-Control" not in (await api.get(TOPICS)).headers


async def test_a_request_with_neither_cookie_nor_key_is_told_to_send_a_key(open_browser: SignIn) -> None:
    browser = await open_browser()

    response = await browser.get(TOPICS)

    assert response.status_code == 401
    assert "Authorization: ApiKey" in response.json()["message"]


async def test_an_unknown_cookie_is_refused(make_browser: SignIn, site: Site) -> None:
    browser = await make_browser(Role.OWNER, site.development)
    browser.cookies.set(SESSION_COOKIE, "A" * 43, domain="clarion.test")

    assert (await browser.get(TOPICS)).status_code == 401


@pytest.mark.parametrize(("idle", "status"), [(12 * HOUR - 1, 200), (12 * HOUR, 401)])
async def test_a_session_ends_after_twelve_hours_without_use(
    make_browser: SignIn, site: Site, clock: ManualClock, idle: int, status: int
) -> None:
    browser = await make_browser(Role.VIEWER, site.development)

    clock.move(idle)

    assert (await browser.get(TOPICS)).status_code == status


async def test_a_session_that_is_used_ends_after_fourteen_days(
    make_browser: SignIn, site: Site, clock: ManualClock, application: Application
) -> None:
    browser = await make_browser(Role.VIEWER, site.development)

    for _ in range(2 * 14 - 1):
        clock.move(12 * HOUR - 1)
        assert (await browser.get(TOPICS)).status_code == 200
        await application.member_sessions.record_use()
    clock.move(14 * DAY - (2 * 14 - 1) * (12 * HOUR - 1))

    assert (await browser.get(TOPICS)).status_code == 401


async def test_the_last_use_is_stored_afterwards_and_at_most_once_a_minute(
    make_browser: SignIn, site: Site, clock: ManualClock, application: Application, database: Database
) -> None:
    browser = await make_browser(Role.VIEWER, site.development)
    began = clock.now()

    async def seen_after(pause: int) -> int:
        clock.move(pause)
        assert (await browser.get(TOPICS)).status_code == 200
        await application.member_sessions.record_use()
        session = await database.read(lambda db: store.find_session(db, hash_token(browser.token)))
        assert session is not None
        return session.seen_at - began

    assert [await seen_after(MINUTE - 1), await seen_after(1), await seen_after(5 * SECOND)] == [0, MINUTE, MINUTE]


async def test_old_sessions_are_deleted(
    make_browser: SignIn, clock: ManualClock, application: Application, database: Database
) -> None:
    browser = await make_browser(Role.VIEWER)

    clock.move(12 * HOUR)
    await application.member_sessions.record_use()

    assert await database.read(lambda db: store.find_session(db, hash_token(browser.token))) is None


async def test_an_ended_session_is_over_at_once_here_and_soon_in_other_processes(
    make_browser: SignIn, site: Site, application: Application, database: Database, clock: ManualClock
) -> None:
    browser = await make_browser(Role.VIEWER, site.development)
    assert (await browser.get(TOPICS)).status_code == 200
    await database.transaction(lambda db: store.delete_session(db, hash_token(browser.token)))

    elsewhere = (await browser.get(TOPICS)).status_code
    clock.move(2 * SECOND)
    later = (await browser.get(TOPICS)).status_code

    assert (elsewhere, later) == (200, 401)


async def test_the_cache_forgets_when_members_change(
    make_browser: SignIn, site: Site, application: Application, database: Database
) -> None:
    browser = await make_browser(Role.VIEWER, site.development)
    assert (await browser.get(TOPICS)).status_code == 200
    await database.transaction(lambda db: store.delete_session(db, hash_token(browser.token)))

    application.services.bus.publish(Signal.MEMBERS_CHANGED)

    assert (await browser.get(TOPICS)).status_code == 401


class StaleDatabase:
    """A database whose reads return what was there before `meanwhile` happened."""

    def __init__(self, database: Database, meanwhile: Any) -> None:
        self._database = database
        self._meanwhile = meanwhile

    async def read(self, work: Any) -> Any:
        found = await self._database.read(work)
        await self._meanwhile()
        return found


async def test_a_session_that_ends_while_it_is_looked_up_is_not_cached(
    make_browser: SignIn, application: Application, database: Database, clock: ManualClock
) -> None:
    browser = await make_browser(Role.VIEWER)
    bus = application.services.bus

    async def end() -> None:
        await database.transaction(lambda db: store.delete_session(db, hash_token(browser.token)))
        bus.publish(Signal.MEMBERS_CHANGED)

    stale: Any = StaleDatabase(database, end)
    authenticator = SessionAuthenticator(stale, clock, bus)
    headers = {b"cookie": f"{SESSION_COOKIE}={browser.token}".encode()}
    await authenticator("GET", headers, in_environment=False, is_suspect=False)

    with pytest.raises(Exception, match="not signed in"):
        await authenticator("GET", headers, in_environment=False, is_suspect=False)


@pytest.mark.parametrize(
    ("base_url", "status"),
    [("http://127.0.0.1:3000", 200), ("http://localhost:3000", 200), ("https://clarion.test", 401)],
)
async def test_the_cookie_without_tls_is_accepted_on_this_machine_alone(
    make_browser: SignIn, application: Application, site: Site, base_url: str, status: int
) -> None:
    """Another host of the same domain can set a cookie of that name for all its hosts."""
    browser: Browser = await make_browser(Role.VIEWER)
    transport = httpx.ASGITransport(app=application.asgi)
    headers = {"Cookie": f"{LOCAL_NAME}={browser.token}", "Clarion-Environment": site.development.identifier}

    async with httpx.AsyncClient(transport=transport, base_url=base_url, headers=headers) as client:
        response = await client.get(TOPICS)

    assert response.status_code == status
