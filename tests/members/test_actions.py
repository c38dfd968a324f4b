"""Members: links that work once, roles that reach no further than their giver's, and an owner who always stays."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

import pytest

from clarion.audit.model import SERVICE, Author
from clarion.clock import DAY, HOUR, MINUTE, Millis
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.errors import Forbidden, Invalid, NotFound
from clarion.ids import EnvironmentId, MemberId, OrganizationId, new_id
from clarion.members import actions, store
from clarion.members.actions import Device, NewMember
from clarion.members.model import Access, Link, LinkKind, Member, hash_token, read_address
from clarion.members.team import managing
from clarion.members.team.managing import Manager
from clarion.vocabulary import Role
from tests.support import Site

T = TypeVar("T")
NOW = Millis(1_800_000_000_000)


class Office:
    """Members of one organization."""

    def __init__(self, database: Database, organization_id: OrganizationId) -> None:
        self._database = database
        self.organization_id = organization_id

    async def do(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        async def run(db: Connection) -> T:
            return await work(db)

        return await self._database.transaction(run)

    async def add(self, email: str, role: Role | Access) -> Member:
        person = NewMember(email=read_address(email), name=email, password=None)
        access = Access(role=role) if isinstance(role, Role) else role
        return await self.do(lambda db: actions.create_member(db, self.organization_id, person, access, NOW))


@pytest.fixture
async def office(database: Database, site: Site) -> AsyncIterator[Office]:
    yield Office(database, site.development.organization_id)
    # Addresses are unique in the store, which tests share.
    await database.transaction(lambda db: db.execute(sql("DELETE FROM members")))
    await database.transaction(lambda db: db.execute(sql("DELETE FROM member_links")))


def by(member: Member) -> Manager:
    return Manager.of(member, Author(actor=SERVICE))


async def invite(office: Office, inviter: Member, email: str, role: Role) -> None:
    await office.do(lambda db: managing.invite(db, by(inviter), read_address(email), Access(role=role), NOW))


def person(email: str = "ada@example.com") -> NewMember:
    return NewMember(email=read_address(email), name="Ada", password="$argon2id$…")


async def test_the_setup_link_makes_the_first_owner_once(office: Office) -> None:
    link = await office.do(lambda db: actions.create_setup_link(db, office.organization_id, NOW))
    assert link is not None

    async def accept(db: Connection) -> Member:
        found = await actions.find_valid_link(db, LinkKind.SETUP, link.token, NOW)
        return await actions.accept_link(db, found, person("Ada@Example.com"), NOW)

    member = await office.do(accept)

    assert (member.email, member.role) == ("ada@example.com", Role.OWNER)
    with pytest.raises(Invalid):
        await office.do(accept)
    assert await office.do(lambda db: actions.create_setup_link(db, office.organization_id, NOW)) is None


async def test_a_new_setup_link_replaces_the_one_before(office: Office) -> None:
    first = await office.do(lambda db: actions.create_setup_link(db, office.organization_id, NOW))
    second = await office.do(lambda db: actions.create_setup_link(db, office.organization_id, NOW))
    assert first is not None
    assert second is not None

    with pytest.raises(Invalid):
        await office.do(lambda db: actions.find_valid_link(db, LinkKind.SETUP, first.token, NOW))
    await office.do(lambda db: actions.find_valid_link(db, LinkKind.SETUP, second.token, NOW))


@pytest.mark.parametrize(
    ("kind", "lifetime"),
    [(LinkKind.SETUP, 30 * MINUTE), (LinkKind.INVITATION, 7 * DAY), (LinkKind.RESET, HOUR)],
)
async def test_a_link_works_until_it_is_too_old(office: Office, kind: LinkKind, lifetime: int) -> None:
    if kind is LinkKind.SETUP:
        link = await office.do(lambda db: actions.create_setup_link(db, office.organization_id, NOW))
    else:
        owner = await office.add("owner@example.com", Role.OWNER)
        if kind is LinkKind.RESET:
            link = await office.do(lambda db: actions.create_reset_link(db, owner, NOW))
        else:
            access = Access(role=Role.VIEWER)
            link = await office.do(
                lambda db: managing.invite(db, by(owner), read_address("new@example.com"), access, NOW)
            )
    assert link is not None

    await office.do(lambda db: actions.find_valid_link(db, kind, link.token, Millis(NOW + lifetime - 1)))
    with pytest.raises(Invalid):
        await office.do(lambda db: actions.find_valid_link(db, kind, link.token, Millis(NOW + lifetime)))


async def test_a_link_is_of_no_use_for_another_purpose(office: Office) -> None:
    owner = await office.add("owner@example.com", Role.OWNER)
    link = await office.do(lambda db: actions.create_reset_link(db, owner, NOW))

    with pytest.raises(Invalid):
        await office.do(lambda db: actions.find_valid_link(db, LinkKind.INVITATION, link.token, NOW))


async def test_an_invitation_is_for_its_address_and_role(office: Office) -> None:
    owner = await office.add("owner@example.com", Role.OWNER)
    production = EnvironmentId(new_id(NOW))
    access = Access(role=Role.AUTHOR, environment_roles={production.hex(): None})
    link = await office.do(lambda db: managing.invite(db, by(owner), read_address("Bob@example.com"), access, NOW))

    async def accept(db: Connection) -> Member:
        found = await actions.find_valid_link(db, LinkKind.INVITATION, link.token, NOW)
        return await actions.accept_link(db, found, person("eve@example.com"), NOW)

    member = await office.do(accept)

    assert member.email == "bob@example.com"
    assert member.role_in(EnvironmentId(new_id(NOW))) is Role.AUTHOR
    assert member.role_in(production) is None


async def test_someone_who_is_a_member_cannot_be_invited(office: Office) -> None:
    owner = await office.add("owner@example.com", Role.OWNER)

    with pytest.raises(Invalid):
        await office.do(
            lambda db: managing.invite(db, by(owner), read_address("OWNER@example.com"), Access(role=Role.VIEWER), NOW)
        )


@pytest.mark.parametrize(
    ("actor", "given", "is_allowed"),
    [
        (Role.OWNER, Role.OWNER, True),
        (Role.ADMIN, Role.ADMIN, True),
        (Role.ADMIN, Role.OWNER, False),
        (Role.AUTHOR, Role.VIEWER, False),
        (Role.VIEWER, Role.VIEWER, False),
    ],
)
async def test_members_invite_up_to_their_own_rank(office: Office, actor: Role, given: Role, is_allowed: bool) -> None:
    await office.add("first@example.com", Role.OWNER)
    inviter = await office.add("actor@example.com", actor)

    if is_allowed:
        await office.do(
            lambda db: managing.invite(db, by(inviter), read_address("new@example.com"), Access(role=given), NOW)
        )
    else:
        with pytest.raises(Forbidden):
            await office.do(
                lambda db: managing.invite(db, by(inviter), read_address("new@example.com"), Access(role=given), NOW)
            )


async def test_an_admin_cannot_make_an_owner_of_one_environment(office: Office) -> None:
    admin = await office.add("admin@example.com", Role.ADMIN)
    access = Access(role=Role.VIEWER, environment_roles={"aa" * 16: Role.OWNER})

    with pytest.raises(Forbidden):
        await office.do(lambda db: managing.invite(db, by(admin), read_address("new@example.com"), access, NOW))


async def test_the_only_owner_can_neither_leave_nor_step_down(office: Office) -> None:
    owner = await office.add("owner@example.com", Role.OWNER)

    with pytest.raises(Invalid):
        await office.do(lambda db: managing.remove_member(db, by(owner), owner.id, NOW))
    with pytest.raises(Invalid):
        await office.do(lambda db: managing.change_access(db, by(owner), owner.id, Access(role=Role.ADMIN), NOW))

    second = await office.add("second@example.com", Role.OWNER)
    await office.do(lambda db: managing.remove_member(db, by(owner), owner.id, NOW))
    assert [one.id for one in await office.do(lambda db: store.list_members(db, office.organization_id))] == [second.id]


async def test_an_admin_cannot_change_an_owner(office: Office) -> None:
    owner = await office.add("owner@example.com", Role.OWNER)
    await office.add("other@example.com", Role.OWNER)
    admin = await office.add("admin@example.com", Role.ADMIN)

    with pytest.raises(Forbidden):
        await office.do(lambda db: managing.change_access(db, by(admin), owner.id, Access(role=Role.VIEWER), NOW))
    with pytest.raises(Forbidden):
        await office.do(lambda db: managing.remove_member(db, by(admin), owner.id, NOW))


async def test_a_member_of_another_organization_is_not_found(office: Office) -> None:
    owner = await office.add("owner@example.com", Role.OWNER)
    stranger = replace_organization(owner)

    with pytest.raises(NotFound):
        await office.do(lambda db: managing.remove_member(db, by(stranger), owner.id, NOW))
    with pytest.raises(NotFound):
        await office.do(lambda db: managing.remove_member(db, by(owner), MemberId(new_id(NOW)), NOW))


def replace_organization(member: Member) -> Member:
    values = {name: getattr(member, name) for name in member.__struct_fields__}
    return Member(**values | {"organization_id": OrganizationId(new_id(NOW)), "id": MemberId(new_id(NOW))})


async def test_an_admin_gives_no_more_than_their_own_role_in_any_environment(office: Office) -> None:
    """An admin who is kept out of Production must not get in there through another member."""
    await office.add("owner@example.com", Role.OWNER)
    limited = Access(role=Role.ADMIN, environment_roles={"aa" * 16: None, "bb" * 16: Role.VIEWER})
    admin = await office.add("admin@example.com", limited)
    other = await office.add("other@example.com", Role.ADMIN)

    with pytest.raises(Forbidden):
        await office.do(lambda db: managing.change_access(db, by(admin), admin.id, Access(role=Role.ADMIN), NOW))
    with pytest.raises(Forbidden):
        await invite(office, admin, "new@example.com", Role.VIEWER)
    with pytest.raises(Forbidden):
        await office.do(lambda db: managing.remove_member(db, by(admin), other.id, NOW))
    as_limited = Access(role=Role.AUTHOR, environment_roles={"aa" * 16: None, "bb" * 16: Role.VIEWER})
    await office.do(lambda db: managing.invite(db, by(admin), read_address("new@example.com"), as_limited, NOW))


async def test_a_role_in_one_environment_manages_no_members(office: Office) -> None:
    viewer = await office.add("v@example.com", Access(role=Role.VIEWER, environment_roles={"aa" * 16: Role.OWNER}))

    with pytest.raises(Forbidden):
        await office.do(
            lambda db: managing.invite(db, by(viewer), read_address("new@example.com"), Access(role=Role.VIEWER), NOW)
        )


async def test_invitations_end_with_the_right_to_make_them(office: Office) -> None:
    owner = await office.add("owner@example.com", Role.OWNER)
    second = await office.add("second@example.com", Role.OWNER)
    for role in (Role.VIEWER, Role.OWNER):
        await invite(office, second, f"{role}@example.net", role)

    async def list_invited() -> list[str | None]:
        found: list[Link] = await office.do(lambda db: store.list_invitations(db, office.organization_id, NOW))
        return [one.email for one in found]

    before = await list_invited()
    await office.do(lambda db: managing.change_access(db, by(owner), second.id, Access(role=Role.ADMIN), NOW))
    demoted = await list_invited()
    await office.do(lambda db: managing.remove_member(db, by(owner), second.id, NOW))

    assert sorted(str(one) for one in before) == ["owner@example.net", "viewer@example.net"]
    assert demoted == ["viewer@example.net"]
    assert await list_invited() == []


async def test_an_invitation_leaves_that_of_another_organization_alone(office: Office) -> None:
    owner = await office.add("owner@example.com", Role.OWNER)
    first = await office.do(
        lambda db: managing.invite(db, by(owner), read_address("x@example.com"), Access(role=Role.VIEWER), NOW)
    )
    elsewhere = by(replace_organization(owner))
    await office.do(
        lambda db: managing.invite(db, elsewhere, read_address("x@example.com"), Access(role=Role.VIEWER), NOW)
    )

    await office.do(lambda db: actions.find_valid_link(db, LinkKind.INVITATION, first.token, NOW))


async def test_a_reset_link_is_gone_with_its_member(office: Office) -> None:
    owner = await office.add("owner@example.com", Role.OWNER)
    member = await office.add("bob@example.com", Role.VIEWER)
    link = await office.do(lambda db: managing.make_reset_link(db, by(owner), member.id, NOW))
    await office.do(lambda db: managing.remove_member(db, by(owner), member.id, NOW))
    await office.add("bob@example.com", Role.VIEWER)

    with pytest.raises(Invalid):
        await office.do(lambda db: actions.find_valid_link(db, LinkKind.RESET, link.token, NOW))


async def test_a_new_password_ends_all_sessions(office: Office) -> None:
    owner = await office.add("owner@example.com", Role.OWNER)
    session = await office.do(lambda db: actions.begin_session(db, owner, Device(user_agent="Browser"), NOW))
    link = await office.do(lambda db: actions.create_reset_link(db, owner, NOW))

    async def reset(db: Connection) -> Member:
        found = await actions.find_valid_link(db, LinkKind.RESET, link.token, NOW)
        return await actions.reset_password(db, found, "new", NOW)

    assert (await office.do(reset)).password == "new"
    assert await office.do(lambda db: store.find_session(db, hash_token(session.token))) is None


async def test_sessions_end_when_they_are_idle_or_old(office: Office) -> None:
    owner = await office.add("owner@example.com", Role.OWNER)
    begun = await office.do(lambda db: actions.begin_session(db, owner, Device(), NOW))
    session = begun.record

    assert not session.is_over(Millis(NOW + 12 * HOUR - 1))
    assert session.is_over(Millis(NOW + 12 * HOUR))
    await office.do(lambda db: store.mark_sessions_seen(db, {session.hash: Millis(NOW + 14 * DAY - 1)}))
    used = await office.do(lambda db: store.find_session(db, session.hash))
    assert used is not None
    assert not used.is_over(Millis(NOW + 14 * DAY - 1))
    assert used.is_over(Millis(NOW + 14 * DAY))
    await office.do(lambda db: store.delete_expired(db, Millis(NOW + 14 * DAY)))
    assert await office.do(lambda db: store.list_sessions(db, owner.id)) == []
