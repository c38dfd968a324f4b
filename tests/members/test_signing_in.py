"""Signing in and out: cookies, new sessions, attempts that give nothing away, and requests of other pages."""

from dataclasses import replace

import httpx
import pytest

from clarion.app import Application, build_application
from clarion.members.sessions.passwords import PasswordChecks, Passwords
from clarion.members.sessions.throttle import SignInThrottle
from clarion.vocabulary import Role
from tests.audit.support import list_entries
from tests.members.support import ORIGIN, PASSWORD, Browser, SignIn
from tests.support import Api, Site

SIGN_IN = "/v1/auth/sign-in"
SIGN_OUT = "/v1/auth/sign-out"
ME = "/v1/auth/me"
COOKIE = "__Host-clarion-session"


class CountingPasswords(Passwords):
    """Counts how often a password is compared with a hash."""

    def __init__(self) -> None:
        super().__init__()
        self.checks: list[bool] = []

    async def check(self, password: str, stored: str | None) -> bool:
        answer = await super().check(password, stored)
        self.checks.append(answer)
        return answer


def count_checks(application: Application) -> CountingPasswords:
    passwords = CountingPasswords()
    throttle = SignInThrottle(application.services.clock)
    application.services.shared.put(PasswordChecks, PasswordChecks(passwords, throttle, pause_seconds=0))
    return passwords


@pytest.fixture
async def member(make_browser: SignIn) -> Browser:
    """An admin who has signed in before."""
    return await make_browser(Role.ADMIN)


async def attempt(browser: Browser, email: str, password: str = PASSWORD) -> httpx.Response:
    return await browser.post(SIGN_IN, json={"email": email, "password": password})


async def test_a_password_begins_a_session(member: Browser, open_browser: SignIn, site: Site) -> None:
    browser = await open_browser()

    signed_in = await attempt(browser, member.member.email.upper())
    me = await browser.get(ME)

    assert signed_in.status_code == 200, signed_in.text
    assert signed_in.json() == me.json()
    assert me.json()["member"]["email"] == member.member.email
    assert me.json()["member"]["role"] == "admin"
    assert [(one["name"], one["role"]) for one in me.json()["environments"]] == [
        ("Development", "admin"),
        ("Production", "admin"),
    ]
    assert "environments:write" in me.json()["environments"][0]["scopes"]
    assert "integrations:secrets" not in me.json()["environments"][0]["scopes"]
    assert (await browser.get("/v2/topics", headers={"Clarion-Environment": site.development.identifier})).is_success


async def test_the_cookie_is_for_this_host_over_https_and_for_no_script(member: Browser, open_browser: SignIn) -> None:
    response = await attempt(await open_browser(), member.member.email)

    value, *attributes = response.headers["Set-Cookie"].split("; ")
    assert value.startswith(f"{COOKIE}=")
    assert len(value.partition("=")[2]) == 43  # 256 bits in base64
    assert set(attributes) == {"Path=/", "Max-Age=1209600", "HttpOnly", "SameSite=Lax", "Secure"}


@pytest.mark.parametrize("origin", ["http://127.0.0.1:3000", "http://localhost:3000", "http://[::1]:3000"])
async def test_on_this_machine_the_cookie_needs_no_tls(member: Browser, application: Application, origin: str) -> None:
    transport = httpx.ASGITransport(app=application.asgi)
    headers = {"Origin": origin, "X-Clarion": "1"}
    async with httpx.AsyncClient(transport=transport, base_url=origin, headers=headers) as client:
        response = await client.post(SIGN_IN, json={"email": member.member.email, "password": PASSWORD})

    assert response.headers["Set-Cookie"].startswith("clarion-session=")
    assert "Secure" not in response.headers["Set-Cookie"]


@pytest.mark.parametrize("headers", [{"Origin": "https://localhost"}, {"X-Forwarded-Proto": "https"}])
async def test_a_proxy_that_ends_tls_on_this_machine_gets_the_cookie_for_https(
    member: Browser, application: Application, headers: dict[str, str]
) -> None:
    transport = httpx.ASGITransport(app=application.asgi)
    all_headers = {"Sec-Fetch-Site": "same-origin", "X-Clarion": "1", **headers}
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=all_headers) as client:
        response = await client.post(SIGN_IN, json={"email": member.member.email, "password": PASSWORD})

    assert response.headers["Set-Cookie"].startswith(f"{COOKIE}=")


async def test_without_tls_on_another_machine_signing_in_is_refused_with_the_reason(
    member: Browser, application: Application
) -> None:
    transport = httpx.ASGITransport(app=application.asgi)
    origin = "http://10.0.0.5:3000"
    async with httpx.AsyncClient(transport=transport, base_url=origin) as client:
        response = await client.post(
            SIGN_IN,
            json={"email": member.member.email, "password": PASSWORD},
            headers={"Origin": origin, "X-Clarion": "1"},
        )

    assert response.status_code == 403
    assert "https" in response.json()["message"]


async def test_wrong_passwords_and_unknown_addresses_get_the_same_answer_after_the_same_work(
    member: Browser, open_browser: SignIn, application: Application
) -> None:
    passwords = count_checks(application)
    browser = await open_browser()

    wrong = await attempt(browser, member.member.email, "not the password")
    unknown = await attempt(browser, "nobody@example.com", "not the password")

    assert passwords.checks == [False, False]
    answers = [{**one.json(), "timestamp": ""} for one in (wrong, unknown)]
    assert answers[0] == answers[1]
    assert [one.status_code for one in (wrong, unknown)] == [401, 401]
    assert {name.lower() for name in wrong.headers} == {name.lower() for name in unknown.headers}
    assert "Set-Cookie" not in wrong.headers


async def test_guessing_is_slowed_down_alike_for_members_and_unknown_addresses(
    member: Browser, open_browser: SignIn, application: Application
) -> None:
    passwords = count_checks(application)
    browser = await open_browser()

    statuses = {
        email: [(await attempt(browser, email, "not the password")).status_code for _ in range(6)]
        for email in (member.member.email, "nobody@example.com")
    }

    assert list(statuses.values()) == [[401] * 5 + [429]] * 2
    assert passwords.checks == [False] * 12


async def test_failures_lock_nobody_out_who_knows_the_password(member: Browser, open_browser: SignIn) -> None:
    stranger, owner = await open_browser(), await open_browser()
    for number in range(31):
        await attempt(stranger, f"guess-{number}@example.com", "not the password")
    for _ in range(6):
        refused = await attempt(stranger, member.member.email, "not the password")

    accepted = await attempt(owner, member.member.email)

    assert (refused.status_code, accepted.status_code) == (429, 200)
    assert int(refused.headers["Retry-After"]) >= 1


async def test_a_session_that_was_prepared_by_somebody_else_is_not_used(
    member: Browser, make_browser: SignIn, open_browser: SignIn
) -> None:
    attacker = await make_browser(Role.VIEWER)
    victim = await open_browser()
    victim.cookies.set(COOKIE, attacker.token, domain="clarion.test")

    await attempt(victim, member.member.email)
    token = victim.cookies.get(COOKIE, domain="clarion.test")

    assert token not in (None, attacker.token, member.token)
    assert (await attacker.get(ME)).status_code == 401
    assert (await victim.get(ME)).json()["member"]["email"] == member.member.email


async def test_a_token_that_no_session_has_does_not_become_one(member: Browser, open_browser: SignIn) -> None:
    chosen = "A" * 43
    victim = await open_browser()
    victim.cookies.set(COOKIE, chosen, domain="clarion.test")

    await attempt(victim, member.member.email)
    attacker = await open_browser()
    attacker.cookies.set(COOKIE, chosen, domain="clarion.test")

    assert (await attacker.get(ME)).status_code == 401


async def test_a_cookie_is_of_no_use_after_signing_out(member: Browser) -> None:
    before = await member.get(ME)
    signed_out = await member.post(SIGN_OUT)
    member.cookies.set(COOKIE, member.token, domain="clarion.test")
    replayed = await member.get(ME)

    assert (before.status_code, signed_out.status_code, replayed.status_code) == (200, 204, 401)
    assert f"{COOKIE}=; Path=/; Max-Age=0" in signed_out.headers["Set-Cookie"]


@pytest.mark.parametrize("token", [None, "A" * 43])
async def test_signing_out_without_a_session_deletes_the_cookie(open_browser: SignIn, token: str | None) -> None:
    browser = await open_browser()
    if token is not None:
        browser.cookies.set(COOKIE, token, domain="clarion.test")

    response = await browser.post(SIGN_OUT)

    assert response.status_code == 204
    assert "Max-Age=0" in response.headers["Set-Cookie"]


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
        {"Sec-Fetch-Site": "same-site", "Origin": "https://other.clarion.test"},
        {"Sec-Fetch-Site": "none", "Origin": ORIGIN},
        {"Sec-Fetch-Site": None, "Origin": "https://evil.example"},
        {"Sec-Fetch-Site": None, "Origin": "null"},
        {"Sec-Fetch-Site": None, "Origin": "https://clarion.test.evil.example"},
        {"Sec-Fetch-Site": None, "Origin": "https://clarion.test:8443"},
        {"Sec-Fetch-Site": None, "Origin": None},
        {"X-Clarion": None},
    ],
    ids=str,
)
@pytest.mark.parametrize("path", ["/v2/topics", ME, SIGN_IN, SIGN_OUT])
async def test_pages_of_other_origins_change_nothing(
    member: Browser, api: Api, path: str, headers: dict[str, str | None]
) -> None:
    for name, value in headers.items():
        if value is None:
            del member.headers[name]
        else:
            member.headers[name] = value
    bodies = {
        ME: {"name": "Changed"},
        "/v2/topics": {"key": "news"},
        SIGN_IN: {"email": member.member.email, "password": PASSWORD},
    }

    response = await member.request("PATCH" if path == ME else "POST", path, json=bodies.get(path))

    assert response.status_code == 403
    assert "Set-Cookie" not in response.headers
    assert (await api.get("/v2/topics")).json()["data"] == []
    member.headers.update({"Sec-Fetch-Site": "same-origin"})
    assert (await member.get(ME)).json()["member"]["name"] == member.member.name


@pytest.mark.parametrize("site_header", ["cross-site", "same-site"])
async def test_pages_of_other_origins_read_nothing(member: Browser, site_header: str) -> None:
    response = await member.get(ME, headers={"Sec-Fetch-Site": site_header})

    assert response.status_code == 403


async def test_without_fetch_metadata_the_origin_of_the_own_host_is_accepted(member: Browser) -> None:
    del member.headers["Sec-Fetch-Site"]

    assert (await member.patch(ME, json={"name": "Ada"})).status_code == 200


async def test_who_signs_in_and_out_is_in_the_log_of_every_environment(
    member: Browser, open_browser: SignIn, api: Api, other_api: Api
) -> None:
    browser = await open_browser()
    await attempt(browser, member.member.email, "not the password")
    await attempt(browser, member.member.email)
    await browser.post(SIGN_OUT)

    for one in (api, other_api):
        entries = await list_entries(one)
        assert [entry["action"] for entry in entries] == ["member.signOut", "member.signIn"]
        assert {entry["actor"]["name"] for entry in entries} == {member.member.name}
        assert entries[1]["after"] == {"means": "password"}


async def test_changes_by_members_are_in_the_log_with_their_name(member: Browser, site: Site, api: Api) -> None:
    member.entering(site.development)
    step = {"name": "Inbox", "type": "in_app", "controlValues": {"body": "Hi"}}

    made = await member.post("/v2/workflows", json={"name": "Welcome", "workflowId": "welcome", "steps": [step]})

    assert made.status_code == 201, made.text
    (entry,) = await list_entries(api, actorType="member")
    assert (entry["action"], entry["actor"]["name"]) == ("workflow.create", member.member.name)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"email": "ada@example.com"}, "password"),
        ({"password": PASSWORD}, "email"),
        ({"email": "", "password": "x"}, "email"),
    ],
)
async def test_what_is_missing_is_named(open_browser: SignIn, body: dict[str, str], field: str) -> None:
    browser = await open_browser()

    response = await browser.post(SIGN_IN, json=body)

    assert response.status_code == 422
    assert list(response.json()["errors"]) == [field]


@pytest.mark.parametrize("origins", [("*",), ("https://app.example",)], ids=str)
@pytest.mark.parametrize("path", ["/v2/topics", ME, SIGN_IN, "/v1/inbox/session"])
async def test_cross_origin_requests_never_may_send_cookies(
    application: Application, member: Browser, origins: tuple[str, ...], path: str
) -> None:
    settings = replace(application.settings, cors_origins=origins, inbox_origins=origins)
    services = application.services
    opened = build_application(
        settings, application.database, application.vault, services.gateway, clock=services.clock
    )
    headers = {"Origin": "https://app.example", "Access-Control-Request-Method": "POST"}
    headers |= {"Cookie": f"{COOKIE}={member.token}", "Sec-Fetch-Site": "cross-site"}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=opened.asgi), base_url=ORIGIN) as client:
        answers = [await client.request(method, path, headers=headers) for method in ("OPTIONS", "GET", "POST")]

    assert "access-control-allow-origin" in answers[0].headers
    assert all("access-control-allow-credentials" not in one.headers for one in answers)
    assert not any(one.is_success for one in answers[1:])
