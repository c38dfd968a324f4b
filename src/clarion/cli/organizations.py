"""`clarion organizations`: tenants that share an installation and nothing else."""

from collections import Counter
from typing import Annotated

import typer

from clarion.audit.model import Action, AuditTarget, Change, TargetType
from clarion.audit.recording import record_change
from clarion.cli.environments import YesOption, print_new, record_new
from clarion.cli.installation import (
    Installation,
    command_line_author,
    confirm,
    get_organization,
    print_line,
    with_installation,
)
from clarion.cli.listing import AsJson, Shown, moment, print_listing
from clarion.clock import SystemClock
from clarion.db.port import Connection
from clarion.environments.actions import FIRST_KEY, KeyRequest, NewEnvironment, create_api_key, create_organization
from clarion.environments.bootstrap import check_vault
from clarion.environments.deletion import delete_organization, has_data
from clarion.environments.model import Environment, Organization
from clarion.environments.store import list_environments, list_organizations, update_organization
from clarion.environments.wire import EnvironmentName
from clarion.errors import SettingsError
from clarion.ids import id_text
from clarion.members.store import delete_all as delete_members
from clarion.vault import open_configured_vault

commands = typer.Typer(help="Create, rename and delete organizations.", no_args_is_help=True)

OrganizationArgument = Annotated[str, typer.Argument(help="Name or id of the organization.", metavar="ORGANIZATION")]


@commands.command("list")
@with_installation
def list_all(installation: Installation, *, as_json: AsJson = False) -> None:
    """List the organizations with their ids."""

    async def fetch(db: Connection) -> tuple[list[Organization], list[Environment]]:
        return await list_organizations(db), await list_environments(db)

    organizations, environments = installation.run(fetch)
    counts = Counter(one.organization_id for one in environments)
    columns = {"name": "Name", "id": "Id", "environments": "Environments", "createdAt": "Created"}
    rows = [
        (one.name, id_text(one.id), counts[one.id] or Shown("being deleted", 0), moment(one.created_at))
        for one in organizations
    ]
    print_listing(columns, rows, as_json=as_json)


@commands.command("create")
@with_installation
def create(
    installation: Installation,
    name: Annotated[str, typer.Argument(help="Name of the new organization.", metavar="NAME")],
) -> None:
    """Create an organization with Development and Production; their API keys are printed once."""
    settings = installation.settings
    vault, now = open_configured_vault(settings), SystemClock().now()

    async def insert(db: Connection) -> list[NewEnvironment]:
        await check_vault(db, settings, vault)
        await _check_name(db, name)
        made = await create_organization(db, name=name, identifiers={}, vault=vault, now=now)
        request = KeyRequest(name=FIRST_KEY)
        created = [
            NewEnvironment(environment=one, key=await create_api_key(db, one.id, request, vault=vault, now=now))
            for one in made
        ]
        for one in created:
            await record_new(db, one, now)
        return created

    print_new(installation.run(insert))


@commands.command("rename")
@with_installation
def rename(
    installation: Installation,
    organization: OrganizationArgument,
    new_name: Annotated[str, typer.Argument(help="The name that it gets.", metavar="NEW_NAME")],
) -> None:
    """Rename an organization."""

    async def change(db: Connection) -> Organization:
        before = await get_organization(db, organization)
        if new_name != before.name:
            await _check_name(db, new_name)
            await update_organization(db, before.id, new_name)
            await _record_rename(db, before, new_name)
        return before

    before = installation.run(change)
    print_line(f"'{before.name}' is now '{new_name}'.")


@commands.command("delete")
@with_installation
def delete(installation: Installation, *, organization: OrganizationArgument, yes: YesOption = False) -> None:
    """Delete an organization with all of its environments and their data, for good."""

    async def look(db: Connection) -> tuple[Organization, bool, bool]:
        target = await get_organization(db, organization)
        live = {one.organization_id for one in await list_environments(db)}
        return target, await has_data(db, target.id), live == {target.id}

    target, is_used, is_only = installation.run(look)
    if is_only:
        raise SettingsError(f"'{target.name}' is the only organization; create another one first.")
    if is_used:
        confirm(f"Delete the organization '{target.name}' and all of its data?", is_confirmed=yes)
    now = SystemClock().now()

    async def remove(db: Connection) -> list[Environment]:
        await delete_members(db, target.id)
        return await delete_organization(db, target.id, now)

    deleted = installation.run(remove)
    names = ", ".join(one.name for one in deleted)
    print_line(f"Deleted '{target.name}' with {names}. Running workers delete the data in the background.")


async def _record_rename(db: Connection, before: Organization, new_name: str) -> None:
    """Record the new name in the audit logs of all environments of the organization."""
    change = Change(
        action=Action.ORGANIZATION_UPDATE,
        target=AuditTarget(type=TargetType.ORGANIZATION, id=id_text(before.id), name=before.name),
        before={"name": before.name},
        after={"name": new_name},
    )
    for one in await list_environments(db, before.id):
        await record_change(db, one.id, change, command_line_author(), SystemClock().now())


async def _check_name(db: Connection, name: str) -> None:
    if not EnvironmentName.accepts(name):
        raise SettingsError(f"The name of an organization {EnvironmentName.RULE}.")
    if any(one.name == name for one in await list_organizations(db)):
        raise SettingsError(f"There is an organization '{name}' already; choose another name.")
