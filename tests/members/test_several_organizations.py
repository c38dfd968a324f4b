"""Several organizations on one installation: who is a member of one is not told to another, and nobody is in two."""

from collections.abc import AsyncIterator

import httpx
import pytest

from clarion.audit.model import SERVICE, Author
from clarion.clock import DAY, ManualClock, Millis
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.environments.actions import create_without_inboxes
from clarion.environments.model import Environment
from clarion.environments.store import list_environments
from clarion.ids import OrganizationId
from clarion.members import store
from clarion.members.actions import NewMember
from clarion.members.model import Access, Member, MemberAddress, read_address
from clarion.members.oidc.flow import Identity
from clarion.members.oidc.identities import find_member
from clarion.members.oidc.problem import OidcProblem, OidcRefusal
from clarion.members.team import managing
from clarion.members.team.managing import Manager
from clarion.settings.model import Settings
from clarion.vault import Vault
from clarion.vocabulary import Role
from tests.members.support import PASSWORD, Browser, SignIn
from tests.members.test_team import INVITATIONS, invite
from tests.support import Site

KIM = read_address("kim@partner.example")


class Elsewhere:
    """Another organization, and its owner."""

    def __init__(self, database: Database, clock: ManualClock, environment: Environment) -> None:
        self._database = database
        self._clock = clock
        self.organization_id = environment.organization_id
        self.manager = Manager(
            organization_id=self.organization_id, access=Access(role=Role.OWNER), author=Author(actor=SERVICE)
        )

    async def invite(self, address: MemberAddress = KIM) -> str:
        """Returns the token of the link."""

        async def work(db: Connection) -> str:
            access = Access(role=Role.ADMIN)
            return (await managing.invite(db, self.manager, address, access, self._clock.now())).token

        return await self._database.transaction(work)

    async def add(self, address: MemberAddress = KIM) -> Member:
        person = NewMember(email=address, name="Kim", password=None)
        return await self._database.transaction(
            lambda db: managing.add_member(db, self.manager, person, Access(role=Role.VIEWER), self._clock.now())
        )

    async def remove(self, member: Member) -> None:
        await self._database.transaction(
            lambda db: managing.remove_member(db, self.manager, member.id, self._clock.now())
        )

    async def count_invitations(self) -> int:
        found = await self._database.read(
            lambda db: store.list_invitations(db, self.organization_id, self._clock.now())
        )
        return len(found)


@pytest.fixture
async def elsewhere(database: Database, clock: ManualClock, vault: Vault, site: Site) -> AsyncIterator[Elsewhere]:
    # Ids sort by time, and this one must not be the first organization of the store.
    later = Millis(clock.now() + DAY)
    environment, _ = await database.transaction(
        lambda db: create_without_inboxes(db, name="Elsewhere", identifiers={}, vault=vault, now=later)
    )
    yield Elsewhere(database, clock, environment)
    for table in ("members", "member_links"):
        await database.transaction(lambda db, name=table: db.execute(sql(f"DELETE FROM {name}")))  # type: ignore[misc]


async def accept(browser: Browser, token: str) -> httpx.Response:
    body = {"token": token, "name": "Kim", "password": PASSWORD}
    return await browser.post("/v1/auth/invitation/accept", json=body)


def token_of(made: dict[str, str]) -> str:
    return made["link"].partition("#")[2]


async def test_inviting_a_member_of_another_organization_tells_nothing(
    elsewhere: Elsewhere, make_browser: SignIn, site: Site
) -> None:
    await elsewhere.add()
    admin = await make_browser(Role.ADMIN, site.development)

    of_member = await invite(admin, KIM)
    of_nobody = await invite(admin, "nobody@partner.example")
    listed = (await admin.get(INVITATIONS)).json()

    assert of_member.keys() == of_nobody.keys()
    assert of_member["invitation"].keys() == of_nobody["invitation"].keys()
    assert {one["email"] for one in listed} == {KIM, "nobody@partner.example"}


async def test_a_member_of_the_own_organization_is_not_invited_again(make_browser: SignIn, site: Site) -> None:
    admin = await make_browser(Role.ADMIN, site.development)

    refused = await admin.post(INVITATIONS, json={"email": admin.member.email, "role": "viewer"})

    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["email"])


async def test_whoever_is_a_member_elsewhere_is_told_so_and_the_link_works_once_they_are_not(
    elsewhere: Elsewhere, make_browser: SignIn, open_browser: SignIn, site: Site
) -> None:
    member = await elsewhere.add()
    admin, browser = await make_browser(Role.ADMIN, site.development), await open_browser()
    token = token_of(await invite(admin, KIM))

    refused = await accept(browser, token)
    still_open = (await admin.get(INVITATIONS)).json()
    await elsewhere.remove(member)
    accepted = await accept(browser, token)

    assert refused.status_code == 422
    assert "a member of another organization" in refused.json()["errors"]["token"]["messages"][0]
    assert [one["email"] for one in still_open] == [KIM]
    assert accepted.status_code == 201


async def test_several_organizations_invite_and_the_person_chooses_by_the_link(
    elsewhere: Elsewhere, make_browser: SignIn, open_browser: SignIn, site: Site
) -> None:
    other = await elsewhere.invite()
    own = token_of(await invite(await make_browser(Role.ADMIN, site.development), KIM))

    accepted = await accept(await open_browser(), own)
    refused = await accept(await open_browser(), other)

    assert (accepted.status_code, accepted.json()["organization"]["name"]) == (201, "Test")
    assert refused.status_code == 422
    assert await elsewhere.count_invitations() == 1


async def sign_in_with_provider(database: Database, settings: Settings, now: ManualClock) -> Member:
    return await database.transaction(lambda db: find_member(db, Identity(KIM, "Kim"), settings, now.now()))


async def test_the_provider_takes_nobody_into_one_of_several_organizations(
    elsewhere: Elsewhere, make_browser: SignIn, site: Site, database: Database, settings: Settings, clock: ManualClock
) -> None:
    await elsewhere.invite()
    await invite(await make_browser(Role.ADMIN, site.development), KIM)

    with pytest.raises(OidcProblem) as refused:
        await sign_in_with_provider(database, settings, clock)

    assert refused.value.reason is OidcRefusal.SEVERAL_INVITATIONS


class TestPeopleOfADomain:
    """They belong to the first organization of the store."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return Settings(
            data_dir=settings.data_dir,
            oidc_issuer="https://id.example.com",
            oidc_client_id="clarion",
            oidc_domains=(("partner.example", Role.AUTHOR),),
        )

    async def test_an_invitation_of_another_organization_does_not_take_them_in(
        self, elsewhere: Elsewhere, open_browser: SignIn, database: Database, settings: Settings, clock: ManualClock
    ) -> None:
        token = await elsewhere.invite()
        refused = await accept(await open_browser(), token)

        member = await sign_in_with_provider(database, settings, clock)

        assert refused.status_code == 422
        assert "belong to another organization" in refused.json()["errors"]["token"]["messages"][0]
        assert (member.organization_id, member.role) == (await find_first(database), Role.AUTHOR)
        assert member.organization_id != elsewhere.organization_id


async def find_first(database: Database) -> OrganizationId:
    return (await database.read(list_environments))[0].organization_id
