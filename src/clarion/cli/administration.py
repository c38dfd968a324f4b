"""Commands that read or change the store and exit."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from rich.console import Console
from rich.table import Table

from clarion.bootstrap import check_vault
from clarion.clock import DAY, Millis, SystemClock, iso_text
from clarion.db.open import migrate_store, open_store, require_current_store
from clarion.db.port import Connection, Database, Work
from clarion.environments import actions, store
from clarion.environments.model import ApiKey, Environment
from clarion.errors import SettingsError
from clarion.http.idempotency import reseal_responses
from clarion.ids import ApiKeyId, find_id, id_text
from clarion.integrations.actions import reencrypt_credentials
from clarion.settings import Settings, variable
from clarion.vault import Vault, open_vault
from clarion.vocabulary import Scope
from clarion.webhooks.actions import reencrypt_secrets

T = TypeVar("T")

_console = Console()


def migrate(settings: Settings) -> None:
    applied = asyncio.run(migrate_store(settings))
    _console.print(f"Applied {', '.join(applied)}." if applied else "The store is up to date.")


def show_settings() -> None:
    table = Table("Variable", "Default", "What it is for")
    for row in settings_rows():
        table.add_row(*row)
    _console.print(table)


def settings_rows() -> list[tuple[str, str, str]]:
    """Every setting as (variable, default, meaning)."""
    return [
        (variable(item.name), _default_text(item.default), str(item.metadata["about"]))
        for item in dataclasses.fields(Settings)
    ]


def create_key(settings: Settings, environment_name: str, *, name: str, scopes: list[str], days: int | None) -> None:
    vault, now = _open_vault(settings), SystemClock().now()
    expires_at = None if days is None else Millis(now + days * DAY)
    request = actions.KeyRequest(name=name, scopes=_parse_scopes(scopes), expires_at=expires_at)

    async def create(db: Connection) -> actions.NewKey:
        await check_vault(db, settings, vault)
        environment = await get_environment(db, environment_name)
        return await actions.create_api_key(db, environment.id, request, vault=vault, now=now)

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


def revoke_key(settings: Settings, key_text: str) -> None:
    key_id = find_id(key_text)
    now = SystemClock().now()

    async def revoke(db: Connection) -> bool:
        if key_id is None:
            return False
        found = await store.list_environments(db)
        return any([await store.revoke_api_key(db, one.id, ApiKeyId(key_id), now) for one in found])

    if not asyncio.run(run_in_store(settings, revoke)):
        raise SettingsError(f"There is no API key '{key_text}'; `clarion keys list` shows the ids.")
    _console.print("Revoked.")


def end_sessions(settings: Settings, environment_name: str) -> None:
    async def end(db: Connection) -> Environment:
        environment = await get_environment(db, environment_name)
        await store.raise_session_epoch(db, environment.id)
        return environment

    environment = asyncio.run(run_in_store(settings, end))
    _console.print(f"All sessions of {environment.name} are over.")


def list_environments(settings: Settings) -> None:
    table = Table("Name", "Id", "Application identifier", "Type")
    for one in asyncio.run(run_in_store(settings, store.list_environments)):
        table.add_row(one.name, id_text(one.id), one.identifier, one.kind)
    wide_console().print(table)


def rotate_encryption(settings: Settings) -> None:
    vault = _open_vault(settings)

    async def rotate() -> int:
        async with open_current_store(settings) as database:
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
    """Find an environment by name, public identifier or id."""
    found = await store.list_environments(db)
    for one in found:
        if name in (one.name, one.identifier, id_text(one.id)):
            return one
    raise SettingsError(
        f"There is no environment '{name}'; there are {', '.join(one.name for one in found) or 'none'}."
    )


def format_time(moment: Millis | None) -> str:
    return "–" if moment is None else iso_text(moment)[:16].replace("T", " ")


def wide_console() -> Console:
    # Ids must not wrap: people copy them.
    return Console(width=max(_console.width, 160))


def _open_vault(settings: Settings) -> Vault:
    return open_vault(settings.encryption_keys.reveal() if settings.encryption_keys else None, settings.data_dir)


@asynccontextmanager
async def open_current_store(settings: Settings) -> AsyncIterator[Database]:
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


def _default_text(default: Any) -> str:
    if default is None or default == ():
        return "–"
    if isinstance(default, tuple):
        return ",".join(one if isinstance(one, str) else f"{one[0]}={one[1]}" for one in default)
    return str(default)
