"""The whole way through a running service and a real provider, as browsers go it."""

from collections.abc import Iterator

import httpx
import pytest

from clarion.clock import ManualClock
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.members.actions import insert_link
from clarion.members.model import Access, LinkKind, Member, read_address
from clarion.members.oidc.flow import Identity
from clarion.members.oidc.identities import find_member
from clarion.members.oidc.problem import OidcProblem
from clarion.settings.model import Settings
from clarion.vocabulary import Role
from tests.cli.support import run_here
from tests.processes import Process
from tests.support import Site

START = "/v1/auth/oidc/start"


class Service:
    """A running service with a provider, and the options of commands on its store."""

    def __init__(self, process: Process, store: list[str]) -> None:
        self.address = process.address
        self.store = store

    def open_browser(self) -> httpx.Client:
        return httpx.Client(base_url=self.address, headers={"Sec-Fetch-Site": "same-origin"})


@pytest.fixture(scope="module")
def service(issuer: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    store = ["--data-dir", str(tmp_path_factory.mktemp("oidc"))]
    environ = {
        "CLARION_OIDC_ISSUER": issuer,
        "CLARION_OIDC_CLIENT_ID": "clarion",
        "CLARION_OIDC_CLIENT_SECRET": "a secret",
        "CLARION_OIDC_DOMAINS": "example.com=author",
    }
    process = Process(["serve", *store], environ)
    yield Service(process, store)
    process.close()


@pytest.fixture
def browser(service: Service) -> Iterator[httpx.Client]:
    with service.open_browser() as opened:
        yield opened


def ask_provider(browser: httpx.Client, sub: str, return_to: str = "/dashboard") -> str:
    """Begin, and sign in at the provider; returns where the provider sends the browser."""
    begun = browser.get(START, params={"returnTo": return_to})
    assert begun.status_code == 302, begun.text
    answer = httpx.post(begun.headers["location"], data={"sub": sub})
    assert answer.status_code == 302, answer.text
    location: str = answer.headers["location"]
    return location


def sign_in(browser: httpx.Client, sub: str, return_to: str = "/dashboard") -> str:
    """Go all the way; returns where the browser ends up."""
    answer = browser.get(ask_provider(browser, sub, return_to))
    assert answer.status_code == 302, answer.text
    location: str = answer.headers["location"]
    return location


def role_of(browser: httpx.Client) -> str | None:
    answer = browser.get("/v1/auth/me")
    return answer.json()["member"]["role"] if answer.status_code == 200 else None


def test_someone_of_an_allowed_domain_becomes_a_member_and_comes_back_to_the_page(
    service: Service, browser: httpx.Client
) -> None:
    location = sign_in(browser, "ada", "/dashboard/team?tab=1#top")
    with service.open_browser() as other:
        again = sign_in(other, "ada")
        same = other.get("/v1/auth/me").json()["member"]

    assert (location, again) == ("/dashboard/team?tab=1#top", "/dashboard")
    assert browser.get("/v1/auth/me").json()["member"] == same
    assert (same["email"], same["name"], same["role"]) == ("ada@example.com", "Ada", "author")
    assert same["hasPassword"] is False


def test_a_member_known_by_the_address_keeps_their_role(service: Service, browser: httpx.Client) -> None:
    made = run_here("members", "create", "bob@example.com", "--role", "viewer", "--no-password", *service.store)

    location = sign_in(browser, "bob")

    assert made.exit_code == 0, made.output
    assert (location, role_of(browser)) == ("/dashboard", "viewer")


def test_someone_invited_becomes_a_member_as_the_invitation_says(service: Service, browser: httpx.Client) -> None:
    run_here("members", "invite", "kim@partner.example", "--role", "admin", *service.store)

    assert (sign_in(browser, "kim"), role_of(browser)) == ("/dashboard", "admin")
    assert "invited" not in run_here("members", "list", *service.store).output


@pytest.mark.parametrize(
    ("sub", "reason"),
    [
        ("zoe", "not-allowed"),
        ("eve", "not-verified"),
        ("una", "verification-unknown"),
        ("bot", "no-address"),
    ],
)
def test_others_are_sent_to_the_sign_in_page_with_the_reason(browser: httpx.Client, sub: str, reason: str) -> None:
    assert sign_in(browser, sub) == f"/dashboard/sign-in#error={reason}"
    assert role_of(browser) is None


def test_an_answer_with_another_state_is_refused(browser: httpx.Client) -> None:
    location = ask_provider(browser, "ada")

    answer = browser.get(location.replace("state=", "state=x"))

    assert answer.headers["location"] == "/dashboard/sign-in#error=begin-again"
    assert role_of(browser) is None


def test_an_answer_in_another_browser_is_refused(service: Service, browser: httpx.Client) -> None:
    """Nobody can sign somebody else in with their own account."""
    location = ask_provider(browser, "ada")

    with service.open_browser() as other:
        answer = other.get(location)
        assert answer.headers["location"] == "/dashboard/sign-in#error=begin-again"
        assert role_of(other) is None


def test_a_code_works_once(service: Service, browser: httpx.Client) -> None:
    location = ask_provider(browser, "ada")
    attempt = browser.cookies["clarion-oidc"]
    first = browser.get(location)

    with service.open_browser() as other:
        other.cookies.set("clarion-oidc", attempt)
        again = other.get(location)
        assert role_of(other) is None

    assert first.headers["location"] == "/dashboard"
    assert "clarion-oidc" not in browser.cookies
    assert again.headers["location"] == "/dashboard/sign-in#error=refused"


def test_a_refusal_of_the_provider_is_shown(browser: httpx.Client) -> None:
    browser.get(START)

    answer = browser.get("/v1/auth/oidc/callback", params={"error": "access_denied", "state": "x"})

    assert answer.headers["location"] == "/dashboard/sign-in#error=refused"


@pytest.mark.parametrize(
    "path", ["https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)", "dashboard", "/\t/x"]
)
def test_browsers_come_back_to_this_server_only(browser: httpx.Client, path: str) -> None:
    answer = browser.get(START, params={"returnTo": path})

    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["returnTo"])


async def test_identities_become_members_on_both_databases(
    database: Database, site: Site, settings: Settings, clock: ManualClock
) -> None:
    allowed = Settings(
        data_dir=settings.data_dir,
        oidc_issuer="https://id.example.com",
        oidc_client_id="clarion",
        oidc_domains=(("example.com", Role.AUTHOR),),
    )

    async def find(email: str, name: str = "Ada") -> Member:
        identity = Identity(read_address(email), name)
        return await database.transaction(lambda db: find_member(db, identity, allowed, clock.now()))

    async def invite(db: Connection) -> None:
        access = Access(role=Role.ADMIN)
        organization_id = site.development.organization_id
        await insert_link(
            db,
            LinkKind.INVITATION,
            organization_id,
            clock.now(),
            email=read_address("kim@partner.example"),
            access=access,
        )

    await database.transaction(invite)
    first, second = await find("Ada@Example.com"), await find("ada@example.com", "Other")
    invited = await find("kim@partner.example", "Kim\nx")
    with pytest.raises(OidcProblem):
        await find("zoe@notexample.com")
    await database.transaction(lambda db: db.execute(sql("DELETE FROM members")))

    assert (first.role, second) == (Role.AUTHOR, first)
    assert (invited.role, invited.name) == (Role.ADMIN, "kim@partner.example")
    assert invited.organization_id == site.development.organization_id
