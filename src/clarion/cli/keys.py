"""`clarion keys`: make, list and revoke API keys."""

from typing import Annotated

import typer

from clarion.audit.model import Action
from clarion.audit.recording import record
from clarion.cli.installation import Installation, command_line_author, get_environment, print_line, with_installation
from clarion.cli.listing import AsJson, moment, print_listing
from clarion.cli.options import EnvironmentName
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
@with_installation
def create_key(
    installation: Installation,
    environment: EnvironmentName,
    name: Annotated[str, typer.Option(help="What the key is for.")] = "API key",
    scope: Annotated[
        list[str] | None, typer.Option(help="A scope such as subscribers:read; repeatable; default: all.")
    ] = None,
    expires_in_days: Annotated[int | None, typer.Option(min=1, help="Days until it expires; default: never.")] = None,
) -> None:
    """Make an API key; its secret is printed once."""
    settings = installation.settings
    vault, now = open_configured_vault(settings), SystemClock().now()
    expires_at = None if expires_in_days is None else Millis(now + expires_in_days * DAY)
    request = actions.KeyRequest(name=name, scopes=_parse_scopes(scope or ["all"]), expires_at=expires_at)

    async def create(db: Connection) -> actions.NewKey:
        await check_vault(db, settings, vault)
        found = await get_environment(db, environment)
        made = await actions.create_api_key(db, found.id, request, vault=vault, now=now)
        await record(db, Action.API_KEY_CREATE, command_line_author(), now, after=made.record)
        return made

    created = installation.run(create)
    print_line(f"API key for {environment}, shown this once:\n{created.text}")


@commands.command("list")
@with_installation
def list_keys(installation: Installation, *, as_json: AsJson = False) -> None:
    """List the API keys of every environment, without their secrets."""

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
        for environment, key in installation.run(fetch_keys)
    ]
    print_listing(_COLUMNS, rows, as_json=as_json)


@commands.command("scopes")
def list_scopes(as_json: AsJson = False) -> None:  # noqa: FBT002
    """List the scopes that a key can have, and what each of them allows."""
    columns = {"scope": "Scope", "description": "What it allows"}
    print_listing(columns, [(scope, SCOPE_DESCRIPTIONS[scope]) for scope in Scope], as_json=as_json)


@commands.command("revoke")
@with_installation
def revoke_key(
    installation: Installation,
    key_id: Annotated[str, typer.Argument(help="Id of the key, from `clarion keys list`.", metavar="KEY_ID")],
) -> None:
    """Revoke an API key; running processes refuse it within two seconds."""
    found_id = find_id(key_id)
    now = SystemClock().now()

    async def revoke(db: Connection) -> bool:
        for one in await store.list_environments(db) if found_id else ():
            key = await store.find_api_key(db, one.id, ApiKeyId(found_id or b""))
            if key is not None and await store.revoke_api_key(db, one.id, key.id, now):
                await record(db, Action.API_KEY_REVOKE, command_line_author(), now, before=key)
                return True
        return False

    if not installation.run(revoke):
        raise SettingsError(f"There is no API key '{key_id}'; `clarion keys list` shows the ids.")
    print_line("Revoked.")


def _parse_scopes(texts: list[str]) -> frozenset[Scope]:
    known = {scope.value for scope in Scope}
    unknown = [text for text in texts if text not in known]
    if unknown:
        raise SettingsError(f"There is no scope '{unknown[0]}'; there are {', '.join(sorted(known))}.")
    return frozenset(Scope(text) for text in texts)
