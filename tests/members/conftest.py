"""Fixtures: members with sessions."""

import itertools
from collections.abc import AsyncIterator, Iterator, Mapping

import httpx
import pytest

from clarion.app import Application
from clarion.clock import ManualClock
from clarion.db.port import Connection, Database
from clarion.environments.model import Environment
from clarion.http.origins import SESSION_COOKIE
from clarion.ids import EnvironmentId
from clarion.members import actions
from clarion.members.model import Access, Member, read_address
from clarion.members.sessions.passwords import Passwords
from clarion.vocabulary import Role
from tests.members.provider import run_provider
from tests.members.support import ORIGIN, PASSWORD, Browser, SignIn
from tests.support import Site

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def issuer() -> Iterator[str]:
    """The address of an OpenID Connect provider."""
    with run_provider() as address:
        yield address


@pytest.fixture(scope="session")
async def password_hash() -> str:
    """The hash of PASSWORD."""
    return await Passwords().hash(PASSWORD)


@pytest.fixture
async def open_browser(application: Application) -> AsyncIterator[SignIn]:
    """Open browsers without a session: `await open_browser()`."""
    opened: list[Browser] = []

    async def open_one() -> Browser:
        transport = httpx.ASGITransport(app=application.asgi, raise_app_exceptions=False)
        headers = {"Origin": ORIGIN, "Sec-Fetch-Site": "same-origin", "X-Clarion": "1"}
        opened.append(Browser(transport=transport, base_url=ORIGIN, headers=headers))
        return opened[-1]

    yield open_one
    for one in opened:
        await one.aclose()


@pytest.fixture
async def make_browser(
    open_browser: SignIn, database: Database, site: Site, clock: ManualClock, password_hash: str
) -> SignIn:
    """Create members who are signed in: `await make_browser(Role.ADMIN, site.development, {production.id: None})`."""

    async def make(
        role: Role,
        environment: Environment | None = None,
        roles: Mapping[EnvironmentId, Role | None] | None = None,
    ) -> Browser:
        address = read_address(f"member-{next(_numbers)}@example.com")
        person = actions.NewMember(email=address, name=f"The {role}", password=password_hash)
        access = Access(role=role, environment_roles={one.hex(): given for one, given in (roles or {}).items()})
        now = clock.now()

        async def create(db: Connection) -> tuple[Member, actions.NewSession]:
            member = await actions.create_member(db, site.development.organization_id, person, access, now)
            return member, await actions.begin_session(db, member, actions.Device(), now)

        browser = await open_browser()
        browser.member, session = await database.transaction(create)
        browser.token = session.token
        browser.cookies.set(SESSION_COOKIE, session.token, domain="clarion.test")
        return browser if environment is None else browser.entering(environment)

    return make
