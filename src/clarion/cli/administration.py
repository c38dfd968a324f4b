"""Commands that read or change the store and exit."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import TypeVar

import typer
from rich.console import Console
from rich.table import Table

from clarion.audit.model import Action, Change, Target, TargetType
from clarion.audit.recording import record_change
from clarion.bootstrap import check_vault
from clarion.cli.author import command_line_author
from clarion.clock import DAY, Millis, SystemClock, iso_text
from clarion.db.open import migrate_store, open_store, require_current_store
from clarion.db.port import Connection, Database, Work
from clarion.environments import actions, store
from clarion.environments.auditing import record_api_key, target_of
from clarion.environments.model import ApiKey, Environment, Organization
from clarion.errors import SettingsError
from clarion.http.idempotency import reseal_responses
from clarion.ids import ApiKeyId, find_id, id_text
from clarion.integrations.actions import reencrypt_credentials
from clarion.integrations.store import list_samples as list_credential_samples
from clarion.settings import Settings
from clarion.vault import Vault, open_vault, sealing_key_id
from clarion.vocabulary import SCOPE_DESCRIPTIONS, Scope
from clarion.webhooks.actions import reencrypt_secrets
from clarion.webhooks.store import list_samples as list_secret_samples

T = TypeVar("T")

_console = Console()


def migrate(settings: Settings, *, force: bool = False) -> None:
    applied = asyncio.run(migrate_store(settings, force=force))
    _console.print(f"Applied {', '.join(applied)}." if applied else "The store is up to date.")


def create_key(settings: Settings, environment_name: str, *, name: str, scopes: list[str], days: int | None) -> None:
    vault, now = open_configured_vault(settings), SystemClock().now()
    expires_at = None if days is None else Millis(now + days * DAY)
    request = actions.KeyRequest(name=name, scopes=_parse_scopes(scopes), expires_at=expires_at)

    async def create(db: Connection) -> actions.NewKey:
        await check_vault(db, settings, vault)
        environment = await get_environment(db, environment_name)
        made = await actions.create_api_key(db, environment.id, request, vault=vault, now=now)
        await record_api_key(db, Action.API_KEY_CREATE, command_line_author(), now, after=made.record)
        return made

    created = asyncio.run(run_in_store(settings, create))
    _console.print(f"API key for {environment_name}, shown this once:\n{created.text}", highlight=False, soft_wrap=True)


def list_keys(settings: Settings) -> None:
    async def fetch_keys(db: Connection) -> list[tuple[Environment, ApiKey]]:
        found = await store.list_environments(db)
        return [(one, key) for one in found for key in await store.list_api_keys(db, one.id)]

    table = Table("Environment", "Key id", "Name", "Ends in", "Scopes", "Expires", "Last used")
    for environment, key in asyncio.run(run_in_store(settings, fetch_keys)):
        scopes = ", ".join(sorted(key.scopes))
        table.add_row(
            environment.name,
            id_text(key.id),
            key.name,
            key.hint,
            scopes,
            format_time(key.expires_at),
            format_time(key.last_used_at),
        )
    wide_console().print(table)


def list_scopes() -> None:
    table = Table("Scope", "What it allows")
    for scope in Scope:
        table.add_row(scope, SCOPE_DESCRIPTIONS[scope])
    _console.print(table)


def revoke_key(settings: Settings, key_text: str) -> None:
    key_id = find_id(key_text)
    now = SystemClock().now()

    async def revoke(db: Connection) -> bool:
        for one in await store.list_environments(db) if key_id else ():
            key = await store.find_api_key(db, one.id, ApiKeyId(key_id or b""))
            if key is not None and await store.revoke_api_key(db, one.id, key.id, now):
                await record_api_key(db, Action.API_KEY_REVOKE, command_line_author(), now, before=key)
                return True
        return False

    if not asyncio.run(run_in_store(settings, revoke)):
        raise SettingsError(f"There is no API key '{key_text}'; `clarion keys list` shows the ids.")
    _console.print("Revoked.")


def end_sessions(settings: Settings, environment_name: str) -> None:
    async def end(db: Connection) -> Environment:
        environment = await get_environment(db, environment_name)
        await store.raise_session_epoch(db, environment.id)
        now = SystemClock().now()
        change = Change(action=Action.ENVIRONMENT_REVOKE_SESSIONS, target=target_of(environment))
        await record_change(db, environment.id, change, command_line_author(), now)
        return environment

    environment = asyncio.run(run_in_store(settings, end))
    _console.print(f"All sessions of {environment.name} are over.")


def rotate_encryption(settings: Settings) -> None:
    vault = open_configured_vault(settings)

    async def rotate() -> int:
        async with open_current_store(settings) as database:
            await database.transaction(partial(_record_rotation, vault=vault))
            count = await reencrypt_credentials(database, vault) + await reencrypt_secrets(database, vault)
            count += await actions.reencrypt_api_keys(database, vault)
            return count + await reseal_responses(database, vault)

    count = asyncio.run(rotate())
    _console.print(f"Sealed {count} secrets again with key '{vault.writing_key_id}'.")


async def run_in_store(settings: Settings, work: Work[T]) -> T:
    """Run one unit of work on the configured store."""
    async with open_current_store(settings) as database:
        return await database.transaction(work)


async def get_environment(db: Connection, name: str) -> Environment:
    """Find an environment by name, public identifier or id; `Organization/Name` is of one organization."""
    found = await store.list_environments(db)
    organizations = {one.id: one.name for one in await store.list_organizations(db)}
    exact = [one for one in found if name in (one.identifier, id_text(one.id))]
    named = [one for one in found if name in (one.name, f"{organizations[one.organization_id]}/{one.name}")]
    matches = exact or named
    if len(matches) == 1:
        return matches[0]
    is_only = len(organizations) == 1
    choices = [one.name if is_only else f"{organizations[one.organization_id]}/{one.name}" for one in matches or found]
    if matches:
        raise SettingsError(f"Several organizations have an environment '{name}'; choose one of {', '.join(choices)}.")
    raise SettingsError(f"There is no environment '{name}'; there are {', '.join(choices) or 'none'}.")


async def get_organization(db: Connection, name: str | None) -> Organization:
    """Find an organization by name or id; None is the only one."""
    found = await store.list_organizations(db)
    matches = [one for one in found if name is None or name in (one.name, id_text(one.id))]
    if len(matches) == 1:
        return matches[0]
    choices = ", ".join(f"{one.name} ({id_text(one.id)})" for one in matches or found)
    if name is None:
        raise SettingsError(f"There are several organizations; choose one with --organization: {choices}.")
    raise SettingsError(f"There is no single organization '{name}'; there are {choices or 'none'}.")


def confirm(question: str, *, is_confirmed: bool) -> None:
    """Ask the operator before something is lost; raises typer.Abort if they do not agree."""
    if not is_confirmed:
        typer.confirm(question, abort=True)


def format_time(moment: Millis | None) -> str:
    return "–" if moment is None else iso_text(moment)[:16].replace("T", " ")


def wide_console() -> Console:
    # Ids must not wrap: people copy them.
    return Console(width=max(_console.width, 160))


async def _record_rotation(db: Connection, vault: Vault) -> None:
    """Record, before it begins, that secrets are sealed with another key; the log of each environment has it.

    The secrets are sealed in many units of work, and what is done of a rotation that was interrupted is done.
    """
    found = [*await store.list_samples(db), *await list_credential_samples(db), *await list_secret_samples(db)]
    old_keys = sorted({sealing_key_id(one.text) for one in found} - {vault.writing_key_id})
    if not old_keys:
        return
    now, author = SystemClock().now(), command_line_author()
    change = Change(
        action=Action.ENCRYPTION_ROTATE,
        target=Target(type=TargetType.ENCRYPTION, id=vault.writing_key_id),
        before={"keys": old_keys},
        after={"keys": [vault.writing_key_id]},
    )
    for environment in await store.list_environments(db):
        await record_change(db, environment.id, change, author, now)


def load_settings(data_dir: str | None, database_url: str | None) -> Settings:
    return Settings.load(os.environ, data_dir=data_dir, database_url=database_url)


def open_configured_vault(settings: Settings) -> Vault:
    return open_vault(settings.encryption_keys.reveal() if settings.encryption_keys else None, settings.data_dir)


@asynccontextmanager
async def open_current_store(settings: Settings) -> AsyncIterator[Database]:
    """Open the configured store, which must have the schema of this version."""
    await require_current_store(settings)
    database = await open_store(settings)
    try:
        yield database
    finally:
        await database.close()


def _parse_scopes(texts: list[str]) -> frozenset[Scope]:
    known = {scope.value for scope in Scope}
    unknown = [text for text in texts if text not in known]
    if unknown:
        raise SettingsError(f"There is no scope '{unknown[0]}'; there are {', '.join(sorted(known))}.")
    return frozenset(Scope(text) for text in texts)
