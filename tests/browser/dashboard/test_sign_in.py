"""Getting in: the first owner, signing in, links, another provider, and sessions that end."""

import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.async_api import Page, Route, expect

from tests.browser.conftest import OpenPage, list_axe_problems
from tests.browser.dashboard.conftest import overflow_of
from tests.browser.dashboard.desk import PASSWORD, Desk, Team
from tests.members.provider import run_provider
from tests.processes import Process

NEW_PASSWORD = "a staple of correct horses"
LOOKS = [(1280, "light"), (390, "dark"), (390, "light"), (1280, "dark")]


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """A service that nobody has set up yet, with an OpenID Connect provider."""
    with run_provider() as issuer:
        environ = {
            "CLARION_OIDC_ISSUER": issuer,
            "CLARION_OIDC_CLIENT_ID": "clarion",
            "CLARION_OIDC_CLIENT_SECRET": "a secret",
        }
        process = Process(["serve", "--data-dir", str(tmp_path_factory.mktemp("fresh"))], environ)
        yield process
        process.close()


@pytest.fixture(scope="module")
def settled(fresh: Process) -> Process:
    """The same service, with an owner."""
    token = find_link(fresh).partition("#")[2]
    body = {"token": token, "email": "ada@example.com", "name": "Ada Lovelace", "password": PASSWORD}
    headers = {"Origin": fresh.address, "X-Clarion": "1"}
    # The test before may have set it up in the browser.
    httpx.post(f"{fresh.address}/v1/auth/setup", json=body, headers=headers)
    return fresh


def find_link(process: Process) -> str:
    found = re.search(r"http\S+/dashboard/setup#\S+", process.output)
    assert found
    return found[0]


def forgive(page: Page, status: int) -> None:
    """Browsers log an error for each answer that is none; this one is what the test is about."""
    problems: list[str] = page.__dict__["problems"]
    problems[:] = [one for one in problems if f"status of {status}" not in one]


async def sign_in(page: Page, email: str, password: str = PASSWORD) -> None:
    await page.get_by_label("Email address").fill(email)
    await page.get_by_label("Password", exact=True).fill(password)
    await page.get_by_role("button", name="Sign in").click()


async def invite(team: Team, email: str, role: str = "author") -> str:
    async with await team.client("owner", team.service.application) as owner:
        answer = await owner.post("/v1/members/invitations", json={"email": email, "role": role})
    assert answer.is_success, answer.text
    link: str = answer.json()["link"]
    return link


async def join(page: Page, link: str, name: str) -> None:
    await page.goto(link)
    await page.get_by_label("Your name").fill(name)
    await page.get_by_label("Password", exact=True).fill(PASSWORD)
    await page.get_by_role("button", name="Accept invitation").click()
    await expect(page.get_by_role("navigation", name="Pages")).to_be_visible()


async def test_the_printed_link_makes_the_first_owner(fresh: Process, page: Page) -> None:
    await page.goto(f"{fresh.address}/dashboard/sign-in")
    await expect(page.get_by_role("heading", name="Welcome to Clarion")).to_be_visible()
    await expect(page.get_by_text("It was printed where Clarion was started")).to_be_visible()

    await page.goto(find_link(fresh))
    await page.get_by_label("Email address").fill("ada@example.com")
    await page.get_by_label("Your name").fill("Ada Lovelace")
    await page.get_by_label("Password", exact=True).fill("short")
    await page.get_by_role("button", name="Create account").click()
    await expect(page.get_by_label("Password", exact=True)).to_have_accessible_description(re.compile("at least 12"))
    forgive(page, 422)
    await page.get_by_label("Password", exact=True).fill(PASSWORD)
    await page.get_by_role("button", name="Create account").click()

    await expect(page.get_by_role("heading", level=1, name="Overview")).to_be_visible()
    await page.goto(f"{fresh.address}/dashboard/setup#again")
    await expect(page.get_by_role("heading", name="Clarion is set up already")).to_be_visible()


async def test_another_provider_signs_in_and_leads_back(settled: Process, page: Page) -> None:
    async def leave_out(route: Route) -> None:
        await route.fulfill(body="")

    # The page of the provider has styles from elsewhere.
    await page.context.route(re.compile("^https:"), leave_out)
    await page.goto(f"{settled.address}/dashboard/topics")
    await page.get_by_role("link", name="Continue with 127.0.0.1").click()
    await page.get_by_role("button", name="ada").click()

    await expect(page.get_by_role("heading", level=1, name="Topics")).to_be_visible()
    forgive(page, 401)


async def test_the_reason_why_another_provider_was_not_enough_is_said(settled: Process, page: Page) -> None:
    await page.goto(f"{settled.address}/dashboard/sign-in#error=not-verified")

    await expect(page.get_by_role("alert")).to_contain_text("has not verified your email address")


async def test_signing_in_leads_to_the_page_that_was_asked_for(desk: Desk, page: Page) -> None:
    await desk.team.cookie_of("viewer")
    await page.goto(desk.address_of("/activity?status=failed&status=skipped"))
    await sign_in(page, "viewer@example.com", "not the password")
    await expect(page.get_by_role("alert")).to_contain_text("The e-mail address or the password is not right")
    await sign_in(page, "viewer@example.com")

    await expect(page.get_by_role("heading", level=1, name="Activity")).to_be_visible()
    assert page.url == desk.address_of("/activity?status=failed&status=skipped")
    forgive(page, 401)


async def test_a_session_that_ends_is_renewed_without_losing_what_was_typed(desk: Desk, team: Team, page: Page) -> None:
    await desk.call("POST", "/v2/subscribers", {"subscriberId": "ada", "firstName": "Ada"})
    await team.cookie_of("author")
    await page.goto(desk.address_of("/topics"))
    await sign_in(page, "author@example.com")
    await expect(page.get_by_role("heading", level=1, name="Topics")).to_be_visible()
    cookies = {one["name"]: one["value"] for one in await page.context.cookies() if "name" in one}
    headers = {"Origin": team.service.address, "X-Clarion": "1"}
    async with httpx.AsyncClient(base_url=team.service.address, headers=headers, cookies=cookies) as api:
        assert (await api.post("/v1/auth/sign-out")).is_success

    await page.keyboard.press("Control+k")
    await page.get_by_role("combobox", name="Search people").fill("ada")
    again = page.get_by_role("dialog", name="Your session is over")
    await expect(again.get_by_label("Email address")).to_have_value("author@example.com")
    await expect(again.get_by_label("Password", exact=True)).to_be_focused()
    await page.keyboard.type(PASSWORD)
    await page.keyboard.press("Enter")

    await expect(page.get_by_role("option", name="Ada")).to_be_visible()
    await expect(page.get_by_role("combobox", name="Search people")).to_have_value("ada")
    await expect(again).to_be_hidden()
    forgive(page, 401)


async def test_closing_the_dialog_leads_to_signing_in_and_back(desk: Desk, page: Page) -> None:
    await desk.open(page, "/topics", role="viewer")
    await expect(page.get_by_role("heading", name="No topics yet")).to_be_visible()
    await expect(page.get_by_text("Connected")).to_be_visible()
    await page.context.clear_cookies()
    await page.get_by_role("navigation", name="Pages").get_by_role("link", name="Overview").click()
    await page.get_by_role("dialog", name="Your session is over").get_by_role("button", name="Close").click()
    await sign_in(page, "viewer@example.com")

    await expect(page.get_by_role("heading", level=1, name="Overview")).to_be_visible()
    assert page.url == desk.address_of("/")
    forgive(page, 401)


async def test_an_invitation_shows_who_invites_to_what_and_makes_a_member(team: Team, page: Page) -> None:
    link = await invite(team, "jean@example.com")
    await page.goto(link)
    await expect(page.get_by_text(re.compile("Olive Owner invites you to"))).to_be_visible()
    await expect(page.get_by_text("jean@example.com")).to_be_visible()
    await expect(page.get_by_text("Author: also changes workflows")).to_be_visible()
    await join(page, link, "Jean Bartik")
    await page.get_by_role("button", name="Your account: Jean Bartik").click()
    await expect(page.get_by_text("Author in Development")).to_be_visible()

    await page.goto("about:blank")
    await page.goto(link)
    await expect(page.get_by_role("heading", name="This invitation does not work")).to_be_visible()
    forgive(page, 422)


async def test_a_forgotten_password_is_set_anew_by_a_link(team: Team, page: Page) -> None:
    await join(page, await invite(team, "alan@example.com"), "Alan Turing")
    await page.goto(f"{team.service.address}/dashboard/forgotten")
    await page.get_by_label("Email address").fill("alan@example.com")
    await page.get_by_role("button", name="Ask for a link").click()
    await expect(page.get_by_role("main").get_by_role("status")).to_contain_text("ask an admin of your team for a link")
    async with await team.client("owner", team.service.application) as owner:
        members = (await owner.get("/v1/members")).json()
        (alan,) = [one for one in members if one["email"] == "alan@example.com"]
        link = (await owner.post(f"/v1/members/{alan['_id']}/reset-link")).json()["link"]

    await page.goto(link)
    await page.get_by_label("New password").fill(NEW_PASSWORD)
    await page.get_by_role("button", name="Set password").click()
    await expect(page.get_by_text("Your new password is set")).to_be_visible()
    await sign_in(page, "alan@example.com", NEW_PASSWORD)
    await expect(page.get_by_role("navigation", name="Pages")).to_be_visible()

    await page.goto(link)
    await page.get_by_label("New password").fill(NEW_PASSWORD)
    await page.get_by_role("button", name="Set password").click()
    await expect(page.get_by_role("link", name="Ask for a new link")).to_be_visible()
    forgive(page, 422)


async def test_pages_of_getting_in_are_accessible_and_fit_a_phone(team: Team, make_page: OpenPage) -> None:
    link = await invite(team, "joan@example.com")
    address = f"{team.service.address}/dashboard"
    places = {f"{address}/sign-in#error=refused": "Sign in", link: "Your invitation"}
    simple = {f"{address}/forgotten": "Reset your password", f"{address}/reset#token": "Set a new password"}
    for width, scheme in LOOKS:
        page = await make_page(width=width, color_scheme=scheme)
        for place, heading in (places | simple if scheme == "dark" else places).items():
            await page.goto(place)
            await expect(page.get_by_role("heading", level=1, name=heading)).to_be_visible()
            await expect(page.locator("form")).to_be_visible()
            assert (await list_axe_problems(page), await overflow_of(page)) == ([], 0), (place, width, scheme)
