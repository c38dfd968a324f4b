"""`clarion environments` and `clarion sessions`: create, rename, set and delete environments."""

from typing import Annotated, Any

import typer
from rich.table import Table

from clarion.audit.model import Action, Change
from clarion.audit.recording import record, record_change, record_event
from clarion.audit.resources import target_of
from clarion.cli.installation import (
    Installation,
    command_line_author,
    confirm,
    get_environment,
    get_organization,
    print_line,
    wide_console,
    with_installation,
)
from clarion.cli.listing import AsJson, print_listing
from clarion.cli.options import EnvironmentName
from clarion.clock import Millis, SystemClock
from clarion.db.port import Connection
from clarion.environments.actions import (
    FIRST_KEY,
    KeyRequest,
    NewEnvironment,
    change_environment,
    create_environment,
    list_environments_to_change,
)
from clarion.environments.bootstrap import check_vault
from clarion.environments.deletion import delete_environment
from clarion.environments.lifecycle_wire import EnvironmentIn
from clarion.environments.model import Environment, Organization
from clarion.environments.options import DataKind
from clarion.environments.store import list_environments, list_organizations, raise_session_epoch
from clarion.environments.wire import EnvironmentPatch, EnvironmentType
from clarion.errors import SettingsError
from clarion.http.input.validation import make_body_reader
from clarion.ids import id_text
from clarion.jsontext import encode_json
from clarion.settings.rate_limits import LimitCategory
from clarion.vault import open_configured_vault
from clarion.vocabulary import count_text

commands = typer.Typer(help="Create, rename, set and delete environments.", no_args_is_help=True)
session_commands = typer.Typer(help="Look after the sessions of subscribers' inboxes.", no_args_is_help=True)

EnvironmentArgument = Annotated[
    str, typer.Argument(help="Name, Organization/Name, identifier or id of the environment.", metavar="ENVIRONMENT")
]
OrganizationOption = Annotated[
    str | None, typer.Option(help="Name or id of the organization; needed if there are several.", metavar="NAME")
]
YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask.")]

_BACKGROUND = "Its keys and sessions are over; running workers delete its data in the background."


@commands.command("list")
@with_installation
def list_all(installation: Installation, *, as_json: AsJson = False) -> None:
    """List the environments with their ids and public identifiers."""

    async def fetch(db: Connection) -> tuple[list[Organization], list[Environment]]:
        return await list_organizations(db), await list_environments(db)

    organizations, environments = installation.run(fetch)
    names = {one.id: one.name for one in organizations}
    columns = {
        "name": "Name",
        "id": "Id",
        "identifier": "Application identifier",
        "type": "Type",
        "organization": "Organization",
    }
    rows = [(one.name, id_text(one.id), one.identifier, one.kind, names[one.organization_id]) for one in environments]
    print_listing(columns, rows, as_json=as_json)


@commands.command("create")
@with_installation
def create(
    installation: Installation,
    name: Annotated[str, typer.Argument(help="Name of the new environment.", metavar="NAME")],
    organization: OrganizationOption = None,
    kind: Annotated[EnvironmentType, typer.Option("--type", help="What it is for.")] = EnvironmentType.DEV,
    color: Annotated[str | None, typer.Option(help="How people tell it from others.", metavar="#RRGGBB")] = None,
) -> None:
    """Create an environment with an inbox and an API key, which is printed once."""
    settings = installation.settings
    body = {"name": name, "type": kind} | ({} if color is None else {"color": color})
    draft = make_body_reader(EnvironmentIn)(encode_json(body), []).draft()
    vault, now = open_configured_vault(settings), SystemClock().now()

    async def insert(db: Connection) -> NewEnvironment:
        await check_vault(db, settings, vault)
        found = await get_organization(db, organization)
        siblings = await list_environments_to_change(db, found.id)
        key = KeyRequest(name=FIRST_KEY)
        made = await create_environment(db, siblings, draft, key=key, vault=vault, now=now)
        await record_new(db, made, now)
        return made

    print_new([installation.run(insert)])


@commands.command("rename")
@with_installation
def rename(
    installation: Installation,
    environment: EnvironmentArgument,
    new_name: Annotated[str, typer.Argument(help="The name that it gets.", metavar="NEW_NAME")],
) -> None:
    """Rename an environment; its id, identifier and keys stay."""
    before, after = _change(installation, environment, {"name": new_name})
    print_line(f"'{before.name}' is now '{after.name}'.")


@commands.command("set")
@with_installation
def set_options(
    installation: Installation,
    environment: EnvironmentArgument,
    timezone: Annotated[
        str | None, typer.Option(help="Time zone of subscribers who have none; `default` is UTC.", metavar="ZONE")
    ] = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            help="Requests per second by category: trigger=100, or trigger=100:500 with the burst; "
            "trigger=default takes it back. Repeatable.",
            metavar="CATEGORY=RATE",
        ),
    ] = None,
    retention: Annotated[
        list[str] | None,
        typer.Option(
            help="Days by kind of data: runs=30; runs=default takes it back. Repeatable.", metavar="KIND=DAYS"
        ),
    ] = None,
) -> None:
    """Set the time zone, the rate limits and the retention of an environment; what is left out stays as it is."""
    changes: dict[str, Any] = {}
    if timezone is not None:
        changes["timezone"] = None if timezone == "default" else timezone
    if limit:
        changes["limits"] = dict(_parse_limit(one) for one in limit)
    if retention:
        changes["retentionDays"] = dict(_parse_retention(one) for one in retention)
    if not changes:
        raise SettingsError("There is nothing to set; give --timezone, --limit or --retention.")
    before, after = _change(installation, environment, changes)
    _print_settings(before, after)


@commands.command("delete")
@with_installation
def delete(installation: Installation, *, environment: EnvironmentArgument, yes: YesOption = False) -> None:
    """Delete an environment and all of its data, for good."""
    target = installation.run(lambda db: get_environment(db, environment))
    confirm(f"Delete the environment '{target.name}' and all of its data?", is_confirmed=yes)

    async def mark(db: Connection) -> None:
        siblings = await list_environments_to_change(db, target.organization_id)
        if len(siblings) == 1:
            raise SettingsError(
                f"'{target.name}' is the only environment of its organization; use `clarion organizations delete`."
            )
        now = SystemClock().now()
        await delete_environment(db, target, now)
        # Its own log is deleted with it.
        change = Change(action=Action.ENVIRONMENT_DELETE, target=target_of(target))
        for sibling in siblings:
            if sibling.id != target.id:
                await record_change(db, sibling.id, change, command_line_author(), now)

    installation.run(mark)
    print_line(f"Deleted '{target.name}'. {_BACKGROUND}")


@session_commands.callback()
def choose() -> None:
    """Keep `end` a command of its own, also while it is the only one."""


@session_commands.command("end")
@with_installation
def end_sessions(installation: Installation, environment: EnvironmentName) -> None:
    """End all sessions of the subscribers of an environment; their pages begin new ones when they are loaded."""

    async def end(db: Connection) -> Environment:
        ended = await get_environment(db, environment)
        await raise_session_epoch(db, ended.id)
        await record_event(db, Action.ENVIRONMENT_REVOKE_SESSIONS, ended, command_line_author(), SystemClock().now())
        return ended

    ended = installation.run(end)
    print_line(f"All sessions of {ended.name} are over.")


async def record_new(db: Connection, made: NewEnvironment, now: Millis) -> None:
    """Record a new environment and its API key in its audit log."""
    author = command_line_author()
    await record(db, Action.ENVIRONMENT_CREATE, author, now, after=made.environment)
    await record(db, Action.API_KEY_CREATE, author, now, after=made.key.record)


def print_new(made: list[NewEnvironment]) -> None:
    """Print new environments with their API keys."""
    for new in made:
        name, ids = new.environment.name, f"id {id_text(new.environment.id)}"
        text = f"{name}: {ids}, application identifier {new.environment.identifier}"
        text += f"\nAPI key for {name}, shown this once:\n{new.key.text}"
        print_line(text)


def _change(installation: Installation, name: str, changes: dict[str, Any]) -> tuple[Environment, Environment]:
    patch = make_body_reader(EnvironmentPatch)(encode_json(changes), [])

    async def change(db: Connection) -> tuple[Environment, Environment]:
        environment = await get_environment(db, name)
        siblings = await list_environments_to_change(db, environment.organization_id)
        current = next((one for one in siblings if one.id == environment.id), environment)
        now = SystemClock().now()
        before, after = await change_environment(
            db, siblings, current, patch.fields(current, installation.settings), now
        )
        author = command_line_author()
        await record(db, Action.ENVIRONMENT_UPDATE, author, now, before=before, after=after)
        return before, after

    return installation.run(change)


def _parse_limit(text: str) -> tuple[str, Any]:
    category, value = _parse_pair(text, [one.value for one in LimitCategory], "--limit trigger=100")
    if value == "default":
        return category, None
    rate, _, burst = value.partition(":")
    try:
        return category, {"perSecond": float(rate)} | ({"burst": int(burst)} if burst else {})
    except ValueError:
        raise SettingsError(f"'{text}' is no rate limit; write --limit {category}=100 or {category}=100:500.") from None


def _parse_retention(text: str) -> tuple[str, int | None]:
    kind, value = _parse_pair(text, [one.value for one in DataKind], "--retention runs=30")
    if value == "default":
        return kind, None
    try:
        return kind, int(value)
    except ValueError:
        raise SettingsError(f"'{text}' is no number of days; write --retention {kind}=30.") from None


def _parse_pair(text: str, names: list[str], example: str) -> tuple[str, str]:
    name, mark, value = text.partition("=")
    if not mark or name not in names:
        raise SettingsError(f"'{text}' cannot be set; write {example}, with one of {', '.join(names)}.")
    return name, value


def _print_settings(before: Environment, after: Environment) -> None:
    table = Table("Setting", "Before", "Now", title=after.name)
    old, new = _rows(before), _rows(after)
    for name in sorted(old.keys() | new.keys()):
        table.add_row(name, old.get(name, "–"), new.get(name, "–"))
    wide_console().print(table)


def _rows(environment: Environment) -> dict[str, str]:
    rows = {"timezone": environment.timezone or "–"}
    for category, limit in environment.options.limits.items():
        burst = "" if limit.burst is None else f", up to {limit.burst} at once"
        rows[f"limit {category.value}"] = f"{limit.per_second:g} a second{burst}"
    for kind, days in environment.options.retention_days.items():
        rows[f"retention {kind.value}"] = count_text(days, "day", "days")
    return rows
