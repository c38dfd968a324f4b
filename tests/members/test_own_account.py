"""What members see and change of themselves: name, password, sessions."""

import pytest

from clarion.clock import ManualClock
from clarion.db.port import Connection, Database
from clarion.members import actions
from clarion.members.model import MAX_SESSIONS
from clarion.vocabulary import Role
from tests.audit.support import list_entries
from tests.members.support import PASSWORD, Browser, SignIn
from tests.support import Api, Site

ME = "/v1/auth/me"
SESSIONS = "/v1/auth/sessions"
CHANGE = "/v1/auth/me/password"
NEW_PASSWORD = "another horse battery"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"


async def sign_in(browser: Browser, email: str, password: str = PASSWORD) -> int:
    body = {"email": email, "password": password}
    return (await browser.post("/v1/auth/sign-in", json=body, headers={"User-Agent": FIREFOX})).status_code


@pytest.fixture
async def member(make_browser: SignIn, site: Site) -> Browser:
    """Signed in, with a role in one environment only."""
    return await make_browser(Role.VIEWER, roles={site.production.id: None})


@pytest.fixture
async def second(member: Browser, open_browser: SignIn) -> Browser:
    """Another browser of the same member."""
    browser = await open_browser()
    assert await sign_in(browser, member.member.email) == 200
    return browser


async def test_environments_without_access_are_not_shown(member: Browser) -> None:
    shown = (await member.get(ME)).json()

    assert [one["name"] for one in shown["environments"]] == ["Development"]
    assert "Production" not in str(shown)


async def test_members_are_not_asked_for_an_environment_about_themselves(member: Browser) -> None:
    assert [(await member.get(path)).status_code for path in (ME, SESSIONS)] == [200, 200]


async def test_api_keys_have_no_account(api: Api) -> None:
    assert (await api.get(ME)).status_code == 401


async def test_a_name_is_changed_and_logged(member: Browser, api: Api) -> None:
    changed = await member.patch(ME, json={"name": "Ada Lovelace"})
    same = await member.patch(ME, json={"name": "Ada Lovelace"})

    assert (changed.status_code, same.status_code) == (200, 200)
    assert (await member.get(ME)).json()["member"]["name"] == "Ada Lovelace"
    (entry,) = await list_entries(api)
    assert (entry["action"], entry["before"], entry["after"]) == (
        "member.update",
        {"name": member.member.name},
        {"name": "Ada Lovelace"},
    )


@pytest.mark.parametrize("name", ["", " Ada", "A" * 101, "A\nB"])
async def test_a_name_that_cannot_be_shown_is_refused(member: Browser, name: str) -> None:
    response = await member.patch(ME, json={"name": name})

    assert response.status_code == 422
    assert list(response.json()["errors"]) == ["name"]


async def test_sessions_are_listed_with_their_devices_and_without_anything_to_sign_in_with(
    member: Browser, second: Browser
) -> None:
    listed = sorted((await second.get(SESSIONS)).json(), key=lambda one: bool(one["current"]))

    assert [(one["device"], one["current"]) for one in listed] == [
        ("Unknown device", False),
        ("Firefox on Linux", True),
    ]
    assert listed[1]["address"] == "127.0.0.1"
    assert listed[1]["userAgent"] == FIREFOX
    assert listed[0].keys() >= {"id", "createdAt", "seenAt", "expiresAt"}
    assert (await member.get(ME, headers={"Cookie": f"__Host-clarion-session={listed[1]['id']}"})).status_code == 401


async def test_a_session_is_revoked_at_once(member: Browser, second: Browser, api: Api) -> None:
    assert (await second.get(ME)).status_code == 200
    other = next(one for one in (await member.get(SESSIONS)).json() if not one["current"])

    revoked = await member.delete(f"{SESSIONS}/{other['id']}")

    assert revoked.status_code == 204
    assert (await second.get(ME)).status_code == 401
    assert (await member.get(ME)).status_code == 200
    assert (await list_entries(api))[0]["action"] == "member.revokeSession"


async def test_sessions_of_other_members_are_not_found(member: Browser, make_browser: SignIn) -> None:
    other = await make_browser(Role.OWNER)
    (session,) = (await other.get(SESSIONS)).json()

    response = await member.delete(f"{SESSIONS}/{session['id']}")

    assert response.status_code == 404
    assert (await other.get(ME)).status_code == 200


async def test_all_other_sessions_are_revoked_together(member: Browser, second: Browser) -> None:
    assert (await second.get(ME)).status_code == 200

    assert (await member.post(f"{SESSIONS}/revoke-others")).status_code == 204

    assert (await second.get(ME)).status_code == 401
    assert len((await member.get(SESSIONS)).json()) == 1


async def test_a_new_password_ends_all_other_sessions(
    member: Browser, second: Browser, open_browser: SignIn, api: Api
) -> None:
    assert (await second.get(ME)).status_code == 200

    changed = await member.post(CHANGE, json={"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD})

    assert changed.status_code == 204, changed.text
    assert ((await second.get(ME)).status_code, (await member.get(ME)).status_code) == (401, 200)
    browser = await open_browser()
    assert await sign_in(browser, member.member.email) == 401
    assert await sign_in(browser, member.member.email, NEW_PASSWORD) == 200
    entry = next(one for one in await list_entries(api) if one["action"] == "member.changePassword")
    assert (entry["before"], entry["after"]) == ({"password": "********"}, {"password": "********"})


async def test_a_password_is_not_changed_without_the_current_one(member: Browser, second: Browser) -> None:
    refused = await member.post(CHANGE, json={"currentPassword": "not the password", "newPassword": NEW_PASSWORD})

    assert refused.status_code == 422
    assert list(refused.json()["errors"]) == ["currentPassword"]
    assert "value" not in refused.json()["errors"]["currentPassword"]
    assert (await second.get(ME)).status_code == 200


async def test_the_current_password_cannot_be_guessed_with_a_stolen_session(member: Browser) -> None:
    body = {"currentPassword": "not the password", "newPassword": NEW_PASSWORD}

    statuses = [(await member.post(CHANGE, json=body)).status_code for _ in range(6)]

    assert statuses == [422] * 5 + [429]


async def test_a_short_password_is_refused_and_not_repeated(member: Browser) -> None:
    response = await member.post(CHANGE, json={"currentPassword": PASSWORD, "newPassword": "short-secret"[:11]})

    assert response.status_code == 422
    assert list(response.json()["errors"]) == ["newPassword"]
    assert "short-secre" not in response.text


async def test_a_further_session_ends_the_one_that_was_not_used_for_longest(
    member: Browser, database: Database, open_browser: SignIn, clock: ManualClock
) -> None:
    async def fill(db: Connection) -> None:
        for _ in range(MAX_SESSIONS):
            await actions.begin_session(db, member.member, actions.Device(), clock.now())

    clock.move(1)
    await database.transaction(fill)
    browser = await open_browser()

    assert await sign_in(browser, member.member.email) == 200

    assert len((await browser.get(SESSIONS)).json()) == MAX_SESSIONS
    assert (await member.get(ME)).status_code == 401
