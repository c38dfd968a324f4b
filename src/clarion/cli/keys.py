"""`clarion keys` and `clarion encryption`: API keys, and the keys that credentials are sealed with."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated

import typer
from rich.console import Console

from clarion.audit.model import Action, AuditTarget, Change, TargetType
from clarion.audit.recording import record, record_change
from clarion.cli.installation import (
    Installation,
    command_line_author,
    get_environment,
    print_line,
    with_installation,
)
from clarion.cli.listing import AsJson, moment, print_listing
from clarion.cli.options import EnvironmentName
from clarion.clock import DAY, Millis, SystemClock
from clarion.db.port import Connection, Database
from clarion.engine import requests
from clarion.environments import actions, link_secrets, store
from clarion.environments.bootstrap import check_vault
from clarion.environments.model import ApiKey, Environment
from clarion.environments.variables import store as variables
from clarion.errors import SettingsError, StoreInUse
from clarion.http.idempotency import reseal_responses
from clarion.ids import ApiKeyId, find_id, id_text
from clarion.integrations.store import list_samples as list_credential_samples
from clarion.integrations.store import reencrypt_credentials
from clarion.monitoring.heartbeat import ProcessRow, list_processes
from clarion.subscribers.addresses.sealing import list_samples as list_address_samples
from clarion.subscribers.addresses.sealing import reencrypt_addresses
from clarion.vault import Vault, open_configured_vault, sealing_key_id
from clarion.vocabulary import SCOPE_DESCRIPTIONS, Scope, count_text
from clarion.webhooks.store import list_samples as list_secret_samples
from clarion.webhooks.store import reencrypt_secrets

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

encryption_commands = typer.Typer(help="Look after the keys that credentials are sealed with.", no_args_is_help=True)


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
        for environment in await store.list_environments(db) if found_id else ():
            key = await store.find_api_key(db, environment.id, ApiKeyId(found_id or b""))
            if key is not None and await store.revoke_api_key(db, environment.id, key.id, now):
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


@encryption_commands.callback()
def choose() -> None:
    """Keep `rotate` a command of its own, also while it is the only one."""


@encryption_commands.command("rotate")
@with_installation
def rotate_encryption(installation: Installation) -> None:
    """Seal all stored credentials again with the first encryption key; afterwards the older ones can go.

    It is refused while a process runs that lacks that key.
    """
    vault = open_configured_vault(installation.settings)

    async def rotate(database: Database) -> int:
        processes = [one for one in await database.read(list_processes) if one.is_alive]
        _require_key_of(processes, vault.writing_key_id)
        await database.transaction(partial(_record_rotation, vault=vault))
        count = await reencrypt_credentials(database, vault) + await reencrypt_secrets(database, vault)
        count += await store.reencrypt_api_keys(database, vault)
        count += await link_secrets.reencrypt_link_secrets(database, vault) + await reencrypt_addresses(database, vault)
        count += await variables.reencrypt_values(database, vault) + await requests.SEALED.reencrypt(database, vault)
        return count + await reseal_responses(database, vault)

    count = installation.use(rotate)
    Console().print(f"Sealed {count_text(count, 'secret', 'secrets')} again with key '{vault.writing_key_id}'.")


def _require_key_of(processes: Sequence[ProcessRow], key_id: str) -> None:
    """Refuse to seal with a key that a live process could not open anything with."""
    lacking = [one for one in processes if key_id not in (one.report.encryption_key_ids or ())]
    if lacking:
        names = ", ".join(f"{one.kind} on {one.host} (pid {one.pid})" for one in lacking)
        raise StoreInUse(
            f"Running processes lack the encryption key '{key_id}': {names}. Add it to their CLARION_ENCRYPTION_KEYS, "
            "behind the old one, and restart them first. Processes that are gone are forgotten within 90 seconds."
        )


async def _record_rotation(db: Connection, vault: Vault) -> None:
    """Record, before it begins, that secrets are sealed with another key; the log of each environment has it.

    The secrets are sealed in many units of work, and what is done of a rotation that was interrupted is done.
    """
    samples = [*await store.list_samples(db), *await list_credential_samples(db), *await list_secret_samples(db)]
    samples += [*await link_secrets.list_samples(db), *await variables.list_samples(db)]
    samples += await requests.SEALED.list_samples(db)
    samples += await list_address_samples(db)
    old_keys = sorted({sealing_key_id(one.text) for one in samples} - {vault.writing_key_id})
    if not old_keys:
        return
    now, author = SystemClock().now(), command_line_author()
    change = Change(
        action=Action.ENCRYPTION_ROTATE,
        target=AuditTarget(type=TargetType.ENCRYPTION, id=vault.writing_key_id),
        before={"keys": old_keys},
        after={"keys": [vault.writing_key_id]},
    )
    for environment in await store.list_environments(db):
        await record_change(db, environment.id, change, author, now)
