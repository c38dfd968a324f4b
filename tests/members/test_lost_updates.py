"""Two changes of one member at the same time: neither undoes the other. PostgreSQL alone has several writers."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from clarion.audit.model import SERVICE, Author
from clarion.clock import ManualClock
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.ids import id_text
from clarion.members import actions, store
from clarion.members.model import Access, LinkKind, Member
from clarion.members.team import managing
from clarion.members.team.managing import Manager
from clarion.vocabulary import Role
from tests.members.support import PASSWORD, Browser, SignIn
from tests.support import Site

pytestmark = pytest.mark.parametrize("backend", ["postgresql"], indirect=True)

OPERATOR = Author(actor=SERVICE)
COUNT_WAITING = sql("""
    SELECT count(*) AS count FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
""")
Change = Callable[[Connection], Awaitable[object]]


@asynccontextmanager
async def under_way(database: Database, change: Change) -> AsyncIterator[None]:
    """A unit of work that has made a change; it commits when the block is left, if another unit waits by then."""
    changed, may_commit = asyncio.Event(), asyncio.Event()

    async def work(db: Connection) -> None:
        await change(db)
        changed.set()
        await may_commit.wait()

    unit = asyncio.create_task(database.transaction(work))
    await changed.wait()
    yield
    async with asyncio.timeout(30):
        while not (await database.read(lambda db: db.fetch(COUNT_WAITING)))[0]["count"]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    may_commit.set()
    await unit


@pytest.fixture
async def member(make_browser: SignIn) -> Browser:
    return await make_browser(Role.ADMIN)


@pytest.fixture
def demote(site: Site, clock: ManualClock, member: Browser) -> Change:
    manager = Manager(organization_id=site.development.organization_id, access=Access(role=Role.OWNER), author=OPERATOR)

    async def change(db: Connection) -> None:
        await managing.change_access(db, manager, member.member.id, Access(role=Role.VIEWER), clock.now())

    return change


async def find(database: Database, member: Browser) -> Member:
    found = await database.read(lambda db: store.find_member(db, member.member.id))
    assert found is not None
    return found


async def test_a_new_name_does_not_undo_a_demotion(database: Database, member: Browser, demote: Change) -> None:
    async with under_way(database, demote):
        renaming = asyncio.create_task(member.patch("/v1/auth/me", json={"name": "Still here"}))

    assert (await renaming).status_code == 200
    found = await find(database, member)
    assert (found.role, found.name) == (Role.VIEWER, "Still here")


async def test_a_new_password_does_not_undo_a_demotion(database: Database, member: Browser, demote: Change) -> None:
    body = {"currentPassword": PASSWORD, "newPassword": "another horse battery"}
    async with under_way(database, demote):
        changing = asyncio.create_task(member.post("/v1/auth/me/password", json=body))

    assert (await changing).status_code == 204
    found = await find(database, member)
    assert (found.role, found.password != member.member.password) == (Role.VIEWER, True)


async def test_a_new_name_does_not_undo_a_new_password(database: Database, member: Browser, clock: ManualClock) -> None:
    async def reset(db: Connection) -> None:
        link = await actions.create_reset_link(db, member.member, clock.now())
        found = await actions.find_valid_link(db, LinkKind.RESET, link.token, clock.now())
        await actions.reset_password(db, found, "$argon2id$new", clock.now())

    async with under_way(database, reset):
        renaming = asyncio.create_task(member.patch("/v1/auth/me", json={"name": "Still here"}))

    await renaming
    assert (await find(database, member)).password == "$argon2id$new"


async def test_a_role_in_one_environment_does_not_undo_a_demotion(
    database: Database, make_browser: SignIn, site: Site, member: Browser, demote: Change
) -> None:
    owner = await make_browser(Role.OWNER, site.development)
    path = f"/v1/members/{(await member.get('/v1/auth/me')).json()['member']['_id']}"
    body = {"environmentRoles": {id_text(site.production.id): "author"}}

    async with under_way(database, demote):
        changing = asyncio.create_task(owner.patch(path, json=body))

    assert (await changing).status_code == 200
    assert (await find(database, member)).role is Role.VIEWER


async def test_signing_in_waits_for_a_new_password_and_is_refused(
    database: Database, member: Browser, open_browser: SignIn, clock: ManualClock
) -> None:
    """Otherwise the session would begin after the new password has ended all of them."""

    async def reset(db: Connection) -> None:
        link = await actions.create_reset_link(db, member.member, clock.now())
        found = await actions.find_valid_link(db, LinkKind.RESET, link.token, clock.now())
        await actions.reset_password(db, found, "$argon2id$new", clock.now())

    browser = await open_browser()
    body = {"email": member.member.email, "password": PASSWORD}
    async with under_way(database, reset):
        signing_in = asyncio.create_task(browser.post("/v1/auth/sign-in", json=body))

    assert (await signing_in).status_code == 401
