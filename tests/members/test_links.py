"""Getting in by links: the first owner, invitations, and new passwords."""

from collections.abc import AsyncIterator

import httpx
import pytest

from clarion.clock import DAY, HOUR, MINUTE, ManualClock
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.members.actions import NewLink, create_setup_link
from clarion.settings.model import Settings
from clarion.vocabulary import Role
from tests.audit.support import list_entries
from tests.members.support import PASSWORD, Browser, SignIn
from tests.members.test_team import invite
from tests.support import Api, Site

NEW_PASSWORD = "a better password"


@pytest.fixture(autouse=True)
async def _forget_members(database: Database) -> AsyncIterator[None]:
    await database.transaction(_delete_members)
    yield
    await database.transaction(_delete_members)


async def _delete_members(db: Connection) -> None:
    for table in ("members", "member_sessions", "member_links"):
        await db.execute(sql(f"DELETE FROM {table}"))


def token_of(link: str) -> str:
    return link.partition("#")[2]


async def sign_in(browser: Browser, email: str, password: str) -> httpx.Response:
    return await browser.post("/v1/auth/sign-in", json={"email": email, "password": password})


async def make_setup_token(database: Database, site: Site, clock: ManualClock) -> str:
    async def make(db: Connection) -> NewLink | None:
        return await create_setup_link(db, site.development.organization_id, clock.now())

    link = await database.transaction(make)
    assert link is not None
    return link.token


async def test_the_setup_link_makes_the_first_owner_who_is_signed_in(
    open_browser: SignIn, database: Database, site: Site, clock: ManualClock, api: Api
) -> None:
    browser = await open_browser()
    body = {"token": await make_setup_token(database, site, clock), "email": "Ada@Example.com", "name": "Ada"}
    needs_setup = (await browser.get("/v1/auth/methods")).json()

    short = await browser.post("/v1/auth/setup", json={**body, "password": "short"})
    made = await browser.post("/v1/auth/setup", json={**body, "password": PASSWORD})
    again = await browser.post("/v1/auth/setup", json={**body, "email": "b@example.com", "password": PASSWORD})
    members = await browser.get("/v1/members", headers={"Clarion-Environment": site.production.identifier})

    assert needs_setup == {"passwords": True, "needsSetup": True}
    assert (short.status_code, list(short.json()["errors"])) == (422, ["password"])
    assert (made.status_code, made.json()["member"]["role"]) == (201, "owner")
    assert "HttpOnly" in made.headers["set-cookie"]
    assert (again.status_code, list(again.json()["errors"])) == (422, ["token"])
    assert [one["email"] for one in members.json()] == ["ada@example.com"]
    assert (await browser.get("/v1/auth/methods")).json()["needsSetup"] is False
    assert (await sign_in(await open_browser(), "ada@example.com", PASSWORD)).status_code == 200
    entries = await list_entries(api)
    assert [one["action"] for one in entries][::-1] == ["member.create", "member.signIn", "member.signIn"]
    assert str(body["token"]) not in str(entries)


async def test_a_setup_link_ends_after_half_an_hour(
    open_browser: SignIn, database: Database, site: Site, clock: ManualClock
) -> None:
    token = await make_setup_token(database, site, clock)
    clock.move(30 * MINUTE)
    body = {"token": token, "email": "ada@example.com", "name": "Ada", "password": PASSWORD}

    assert (await (await open_browser()).post("/v1/auth/setup", json=body)).status_code == 422


async def test_an_invitation_is_looked_at_and_accepted_once(
    open_browser: SignIn, make_browser: SignIn, site: Site
) -> None:
    owner, browser = await make_browser(Role.OWNER, site.development), await open_browser()
    token = token_of((await invite(owner, "bob@example.com", role="author"))["link"])

    shown = (await browser.post("/v1/auth/invitation", json={"token": token})).json()
    body = {"token": token, "name": "Bob", "password": PASSWORD}
    accepted = await browser.post("/v1/auth/invitation/accept", json=body)
    again = await (await open_browser()).post("/v1/auth/invitation/accept", json=body)

    assert (shown["organization"], shown["email"], shown["role"]) == ("Test", "bob@example.com", "author")
    assert shown["invitedBy"] == {"name": "The owner", "email": owner.member.email}
    assert accepted.status_code == 201
    assert accepted.json()["member"]["email"] == "bob@example.com"
    assert (await browser.get("/v1/auth/me")).json()["member"]["name"] == "Bob"
    assert again.status_code == 422


async def test_an_invitation_ends_after_a_week(make_browser: SignIn, site: Site, clock: ManualClock) -> None:
    owner = await make_browser(Role.OWNER, site.development)
    token = token_of((await invite(owner, "bob@example.com"))["link"])
    clock.move(7 * DAY)

    answer = await owner.post("/v1/auth/invitation", json={"token": token})

    assert answer.status_code == 422
    assert token not in answer.text


@pytest.mark.parametrize("path", ["/v1/auth/setup", "/v1/auth/invitation/accept"])
async def test_pages_of_other_origins_cannot_begin_sessions(open_browser: SignIn, path: str) -> None:
    browser = await open_browser()
    body = {"token": "x", "email": "eve@example.com", "name": "Eve", "password": PASSWORD}
    if "invitation" in path:
        del body["email"]

    answer = await browser.post(path, json=body, headers={"Sec-Fetch-Site": "cross-site"})

    assert answer.status_code == 403


async def test_without_mail_an_admin_makes_the_link(
    open_browser: SignIn, make_browser: SignIn, site: Site, clock: ManualClock
) -> None:
    owner, member = await make_browser(Role.OWNER, site.development), await make_browser(Role.VIEWER)
    browser = await open_browser()

    asked = await browser.post("/v1/auth/reset-request", json={"email": member.member.email})
    path = f"/v1/members/{(await member.get('/v1/auth/me')).json()['member']['_id']}/reset-link"
    made = (await owner.post(path)).json()
    clock.move(HOUR - 1)
    reset = await browser.post("/v1/auth/reset", json={"token": token_of(made["link"]), "password": NEW_PASSWORD})

    assert (asked.status_code, asked.json()["means"]) == (202, "admin")
    assert reset.status_code == 204
    assert (await sign_in(browser, member.member.email, NEW_PASSWORD)).status_code == 200


async def test_those_who_ask_for_many_links_are_slowed_down(open_browser: SignIn) -> None:
    browser = await open_browser()

    answers = [await browser.post("/v1/auth/reset-request", json={"email": "asks-often@example.com"}) for _ in range(6)]

    assert [one.status_code for one in answers] == [202] * 5 + [429]
    assert "Retry-After" in answers[-1].headers


class TestWithoutPasswords:
    """An installation where members sign in with another provider only."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return Settings(
            data_dir=settings.data_dir, passwords=False, oidc_issuer="https://id.example.com", oidc_client_id="clarion"
        )

    async def test_no_password_is_accepted(
        self, open_browser: SignIn, database: Database, site: Site, clock: ManualClock
    ) -> None:
        browser = await open_browser()
        body = {"token": await make_setup_token(database, site, clock), "email": "ada@example.com", "name": "Ada"}

        methods = (await browser.get("/v1/auth/methods")).json()
        refused = await browser.post("/v1/auth/setup", json={**body, "password": PASSWORD})
        made = await browser.post("/v1/auth/setup", json=body)
        signed_in = await sign_in(browser, "ada@example.com", PASSWORD)
        asked = await browser.post("/v1/auth/reset-request", json={"email": "ada@example.com"})

        assert methods["passwords"] is False
        assert methods["oidc"] == {"issuer": "https://id.example.com", "url": "/v1/auth/oidc/start"}
        assert (refused.status_code, made.status_code) == (422, 201)
        assert made.json()["member"]["hasPassword"] is False
        assert (signed_in.status_code, asked.status_code) == (403, 403)
