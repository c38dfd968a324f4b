"""`clarion keys`: make, list and revoke API keys."""

import asyncio
from typing import Annotated

import typer
from rich.console import Console

from clarion.audit.model import Action
from clarion.audit.recording import record
from clarion.cli.author import command_line_author
from clarion.cli.listing import AsJson, moment, print_listing
from clarion.cli.options import DatabaseUrl, DataDir, EnvironmentName
from clarion.cli.stores import get_environment, load_settings, run_in_store
from clarion.clock import DAY, Millis, SystemClock
from clarion.db.port import Connection
from clarion.environments import actions, store
from clarion.environments.bootstrap import check_vault
from clarion.environments.model import ApiKey, Environment
from clarion.errors import SettingsError
from clarion.ids import ApiKeyId, find_id, id_text
from clarion.vault import open_configured_vault
from clarion.vocabulary import SCOPE_DESCRIPTIONS, Scope

commands = typer.Typer(help="Make, list and revoke API keys.", no_args_is_help=True)

_console = Console()
_COLUMNS = {
    "environment": "Environment",
    "id": "Key id",
    "name": "Name",
    "hint": "Ends in",
    "scopes": "Scopes",
    "expiresAt": "Expires",
    "lastUsedAt": "Last used",
}


@commands.command("create")
def create_key(
    environment: EnvironmentName,
    name: Annotated[str, typer.Option(help="What the key is for.")] = "API key",
    scope: Annotated[
        list[str] | None, typer.Option(help="A scope such as subscribers:read; repeatable; default: all.")
    ] = None,
    expires_in_days: Annotated[int | None, typer.Option(min=1, help="Days until it expires; default: never.")] = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Make an API key; its secret is printed once."""
    settings = load_settings(data_dir, database_url)
    vault, now = open_configured_vault(settings), SystemClock().now()
    expires_at = None if expires_in_days is None else Millis(now + expires_in_days * DAY)
    request = actions.KeyRequest(name=name, scopes=_parse_scopes(scope or ["all"]), expires_at=expires_at)

    async def create(db: Connection) -> actions.NewKey:
        await check_vault(db, settings, vault)
        found = await get_environment(db, environment)
        made = await actions.create_api_key(db, found.id, request, vault=vault, now=now)
        await record(db, Action.API_KEY_CREATE, command_line_author(), now, after=made.record)
        return made

    created = asyncio.run(run_in_store(settings, create))
    _console.print(f"API key for {environment}, shown this once:\n{created.text}", highlight=False, soft_wrap=True)


@commands.command("list")
def list_keys(
    as_json: AsJson = False,  # noqa: FBT002
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """List the API keys of every environment, without their secrets."""
    settings = load_settings(data_dir, database_url)

    async def fetch_keys(db: Connection) -> list[tuple[Environment, ApiKey]]:
        found = await store.list_environments(db)
        return [(one, key) for one in found for key in await store.list_api_keys(db, one.id)]

    rows = [
        (
            environment.name,
            id_text(key.id),
            key.name,
            key.hint,
            sorted(key.scopes),
            moment(key.expires_at),
            moment(key.last_used_at),
        )
        for environment, key in asyncio.run(run_in_store(settings, fetch_keys))
    ]
    print_listing(_COLUMNS, rows, as_json=as_json)


@commands.command("scopes")
def list_scopes(as_json: AsJson = False) -> None:  # noqa: FBT002
    """List the scopes that a key can have, and what each of them allows."""
    columns = {"scope": "Scope", "description": "What it allows"}
    print_listing(columns, [(scope, SCOPE_DESCRIPTIONS[scope]) for scope in Scope], as_json=as_json)


@commands.command("revoke")
def revoke_key(
    key_id: Annotated[str, typer.Argument(help="Id of the key, from `clarion keys list`.", metavar="KEY_ID")],
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Revoke an API key; running processes refuse it within two seconds."""
    settings = load_settings(data_dir, database_url)
    found_id = find_id(key_id)
    now = SystemClock().now()

    async def revoke(db: Connection) -> bool:
        for one in await store.list_environments(db) if found_id else ():
            key = await store.find_api_key(db, one.id, ApiKeyId(found_id or b""))
            if key is not None and await store.revoke_api_key(db, one.id, key.id, now):
                await record(db, Action.API_KEY_REVOKE, command_line_author(), now, before=key)
                return True
        return False

    if not asyncio.run(run_in_store(settings, revoke)):
        raise SettingsError(f"There is no API key '{key_id}'; `clarion keys list` shows the ids.")
    _console.print("Revoked.")


def _parse_scopes(texts: list[str]) -> frozenset[Scope]:
    known = {scope.value for scope in Scope}
    unknown = [text for text in texts if text not in known]
    if unknown:
        raise SettingsError(f"There is no scope '{unknown[0]}'; there are {', '.join(sorted(known))}.")
    return frozenset(Scope(text) for text in texts)
