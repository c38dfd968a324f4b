"""`clarion members`: the people who sign in, without a browser."""

import asyncio
import sys
from typing import Annotated, Any, TypeVar

import typer

from clarion.cli.environments import OrganizationOption, YesOption
from clarion.cli.installation import (
    Installation,
    command_line_author,
    confirm,
    format_time,
    get_environment,
    get_organization,
    print_line,
    with_installation,
)
from clarion.cli.listing import AsJson, Shown, moment, print_listing
from clarion.clock import Millis, SystemClock
from clarion.db.port import Connection
from clarion.environments.store import list_environments
from clarion.errors import SettingsError
from clarion.ids import OrganizationId
from clarion.members import store
from clarion.members.actions import NewLink, NewMember, create_setup_link, link_url
from clarion.members.model import Access, Link, Member, MemberSession, find_address, read_address
from clarion.members.sessions.passwords import Passwords, find_password_problem
from clarion.members.team import managing
from clarion.members.team.managing import Manager
from clarion.settings.model import Settings
from clarion.vocabulary import Role, count_text

T = TypeVar("T")

commands = typer.Typer(help="Look after the members of the team, who sign in to the dashboard.", no_args_is_help=True)

EmailArgument = Annotated[str, typer.Argument(help="E-mail address of the member.", metavar="EMAIL")]
PasswordStdin = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from standard input instead of asking.")
]
NoPassword = Annotated[
    bool, typer.Option("--no-password", help="For members who sign in with OpenID Connect, or get a link.")
]

_NO_ACCESS, _AS_ELSEWHERE = "none", "default"
_COLUMNS = {
    "email": "E-mail",
    "name": "Name",
    "role": "Role",
    "environmentRoles": "Other roles",
    "hasPassword": "Password",
    "createdAt": "Since",
    "invitedUntil": None,
}


@commands.command("list")
@with_installation
def list_all(installation: Installation, *, as_json: AsJson = False) -> None:
    """List the members of all organizations, and who is invited."""

    async def fetch(db: Connection) -> tuple[dict[str, str], list[Member], list[Link]]:
        environments = await list_environments(db)
        organizations = dict.fromkeys(one.organization_id for one in environments)
        members = [member for one in organizations for member in await store.list_members(db, one)]
        invited = [link for one in organizations for link in await store.list_invitations(db, one, _now())]
        return {one.id.hex(): one.name for one in environments}, members, invited

    names, members, invited = installation.run(fetch)
    rows: list[tuple[Any, ...]] = [
        (
            member.email,
            member.name,
            member.role,
            _other_roles(member.access, names),
            member.password is not None,
            moment(member.created_at),
            None,
        )
        for member in members
    ]
    for link in invited:
        until = moment(link.expires_at)
        since = Shown(f"invited until {until.text}", None)
        rows.append((link.email, None, link.access.role, _other_roles(link.access, names), None, since, until))
    print_listing(_COLUMNS, rows, as_json=as_json)


@commands.command("create")
@with_installation
def create(  # noqa: PLR0913 - the options of a command
    installation: Installation,
    *,
    email: EmailArgument,
    name: Annotated[str | None, typer.Option(help="Name of the member; default: the address.")] = None,
    role: Annotated[Role | None, typer.Option(help="Default: owner while there is none, then viewer.")] = None,
    password_stdin: PasswordStdin = False,
    no_password: NoPassword = False,
    organization: OrganizationOption = None,
) -> None:
    """Make a member, who can sign in at once."""
    settings = installation.settings
    address = read_address(email)
    password = None if no_password else _read_password(settings, from_stdin=password_stdin)
    password_hash = None if password is None else asyncio.run(Passwords().hash(password))

    async def insert(db: Connection) -> Member:
        manager = _manager((await get_organization(db, organization)).id)
        has_owner = await store.has_owner(db, manager.organization_id)
        access = Access(role=role or (Role.VIEWER if has_owner else Role.OWNER))
        person = NewMember(email=address, name=name or address, password=password_hash)
        return await managing.add_member(db, manager, person, access, _now())

    made = installation.run(insert)
    print_line(f"{made.email} is a member with the role '{made.role}'.")


@commands.command("invite")
@with_installation
def invite(
    installation: Installation,
    email: EmailArgument,
    role: Annotated[Role, typer.Option(help="The role in all environments.")] = Role.VIEWER,
    organization: OrganizationOption = None,
) -> None:
    """Make a link by which somebody becomes a member; it works once, within seven days."""
    settings = installation.settings
    address = read_address(email)

    async def insert(db: Connection) -> NewLink:
        manager = _manager((await get_organization(db, organization)).id)
        return await managing.invite(db, manager, address, Access(role=role), _now())

    _print_link(settings, installation.run(insert), f"Link for {email}")


@commands.command("link")
@with_installation
def link(
    installation: Installation,
    email: Annotated[
        str | None, typer.Argument(help="E-mail address of a member; none: the first owner.", metavar="[EMAIL]")
    ] = None,
    organization: OrganizationOption = None,
) -> None:
    """Make a link by which a member sets a new password; without EMAIL, the link for the first owner."""
    settings = installation.settings

    async def insert(db: Connection) -> NewLink:
        if email is not None:
            member = await _get_member(db, email)
            return await managing.make_reset_link(db, _manager(member.organization_id), member.id, _now())
        made = await create_setup_link(db, (await get_organization(db, organization)).id, _now())
        if made is None:
            raise SettingsError("There is an owner already; name a member, or use `clarion members create`.")
        return made

    _print_link(settings, installation.run(insert), "Link" if email is None else f"Link for {email}")


@commands.command("role")
@with_installation
def change_role(
    installation: Installation,
    email: EmailArgument,
    role: Annotated[str, typer.Argument(help="viewer, author, admin or owner.", metavar="ROLE")],
    environment: Annotated[
        str | None, typer.Option(help="Only there; ROLE can also be none or default.", metavar="NAME")
    ] = None,
) -> None:
    """Give a member another role, in all environments that have none of their own, or in one of them."""

    async def change(db: Connection) -> Member:
        member = await _get_member(db, email)
        access = await _change(db, member, role, environment)
        return await managing.change_access(db, _manager(member.organization_id), member.id, access, _now())

    changed = installation.run(change)
    where = "" if environment is None else f" in {environment}"
    print_line(f"{changed.email} has the role '{role}'{where}.")


@commands.command("remove")
@with_installation
def remove(installation: Installation, *, email: EmailArgument, yes: YesOption = False) -> None:
    """Remove a member; their sessions end, and the invitations that they made."""
    confirm(f"Remove {email}?", is_confirmed=yes)

    async def delete(db: Connection) -> Member:
        member = await _get_member(db, email)
        return await managing.remove_member(db, _manager(member.organization_id), member.id, _now())

    print_line(f"Removed {installation.run(delete).email}.")


@commands.command("sessions")
@with_installation
def sessions(
    installation: Installation,
    *,
    email: EmailArgument,
    end: Annotated[bool, typer.Option("--end", help="End all of them.")] = False,
    as_json: AsJson = False,
) -> None:
    """List where a member is signed in; with --end, sign them out everywhere."""

    async def fetch(db: Connection) -> list[MemberSession]:
        member, now = await _get_member(db, email), _now()
        live = [one for one in await store.list_sessions(db, member.id) if not one.is_over(now)]
        if end:
            await managing.revoke_sessions(db, _manager(member.organization_id), member.id, now)
        return live

    live = installation.run(fetch)
    if end:
        print_line(f"Ended {count_text(len(live), 'session', 'sessions')} of {email}.")
        return
    columns = {"createdAt": "Since", "lastUsedAt": "Last used", "address": "Address", "userAgent": "Browser"}
    rows = [(moment(one.created_at), moment(one.seen_at), one.address, one.user_agent) for one in live]
    print_listing(columns, rows, as_json=as_json)


def _now() -> Millis:
    return SystemClock().now()


def _manager(organization_id: OrganizationId) -> Manager:
    """The operator, who may do what an owner may."""
    return Manager(organization_id=organization_id, access=Access(role=Role.OWNER), author=command_line_author())


async def _get_member(db: Connection, email: str) -> Member:
    address = find_address(email)
    member = None if address is None else await store.find_member_by_email(db, address)
    if member is None:
        raise SettingsError(f"There is no member '{email}'; `clarion members list` shows them.")
    return member


async def _change(db: Connection, member: Member, role: str, environment: str | None) -> Access:
    """The access of a member with another role, in all environments or in one."""
    if environment is None:
        return Access(role=_parse_role(role), environment_roles=member.environment_roles)
    place = await get_environment(db, environment)
    if place.organization_id != member.organization_id:
        raise SettingsError(f"'{environment}' is an environment of another organization than that of {member.email}.")
    roles = {one: given for one, given in member.environment_roles.items() if one != place.id.hex()}
    if role != _AS_ELSEWHERE:
        roles[place.id.hex()] = None if role == _NO_ACCESS else _parse_role(role, _NO_ACCESS, _AS_ELSEWHERE)
    return Access(role=member.role, environment_roles=roles)


def _parse_role(text: str, *others: str) -> Role:
    if text not in list(Role):
        raise SettingsError(f"There is no role '{text}'; there are {', '.join((*Role, *others))}.")
    return Role(text)


def _read_password(settings: Settings, *, from_stdin: bool) -> str:
    """Read a password, which is never an argument: other users of a machine see those."""
    if not settings.passwords:
        raise SettingsError("CLARION_PASSWORDS is off; use --no-password.")
    if from_stdin:
        password = sys.stdin.readline().rstrip("\r\n")
    else:
        password = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
    problem = find_password_problem(password)
    if problem is not None:
        raise SettingsError(f"The password {problem}.")
    return password


def _other_roles(access: Access, names: dict[str, str]) -> Shown:
    """The roles in single environments, by their names."""
    roles = {names[one]: role or _NO_ACCESS for one, role in access.environment_roles.items() if one in names}
    return Shown(", ".join(f"{name}: {role}" for name, role in roles.items()), roles)


def _print_link(settings: Settings, made: NewLink, title: str) -> None:
    print_line(f"{title}, shown this once, works until {format_time(made.record.expires_at)} UTC:")
    print_line(link_url(settings, made))
