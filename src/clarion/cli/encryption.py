"""`clarion encryption`: look after the keys that credentials are sealed with."""

import asyncio
from collections.abc import Sequence
from functools import partial

import typer
from rich.console import Console

from clarion.audit.model import Action, AuditTarget, Change, TargetType
from clarion.audit.recording import record_change
from clarion.cli.installation import Installation, command_line_author, open_current_store, with_installation
from clarion.clock import SystemClock
from clarion.db.port import Connection
from clarion.environments import actions, store
from clarion.errors import StoreInUse
from clarion.http.idempotency import reseal_responses
from clarion.integrations.actions import reencrypt_credentials
from clarion.integrations.store import list_samples as list_credential_samples
from clarion.monitoring.heartbeat import ProcessRow, list_processes
from clarion.vault import Vault, open_configured_vault, sealing_key_id
from clarion.webhooks.actions import reencrypt_secrets
from clarion.webhooks.store import list_samples as list_secret_samples
from clarion.wording import count_text

commands = typer.Typer(help="Look after the keys that credentials are sealed with.", no_args_is_help=True)


@commands.callback()
def choose() -> None:
    """Keep `rotate` a command of its own, also while it is the only one."""


@commands.command("rotate")
@with_installation
def rotate_encryption(installation: Installation) -> None:
    """Seal all stored credentials again with the first encryption key; afterwards the older ones can go.

    It is refused while a process runs that lacks that key.
    """
    settings = installation.settings
    vault = open_configured_vault(settings)

    async def rotate() -> int:
        async with open_current_store(settings) as database:
            processes = [one for one in await database.read(list_processes) if one.is_alive]
            _require_key_of(processes, vault.writing_key_id)
            await database.transaction(partial(_record_rotation, vault=vault))
            count = await reencrypt_credentials(database, vault) + await reencrypt_secrets(database, vault)
            count += await actions.reencrypt_api_keys(database, vault)
            return count + await reseal_responses(database, vault)

    count = asyncio.run(rotate())
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
    found = [*await store.list_samples(db), *await list_credential_samples(db), *await list_secret_samples(db)]
    old_keys = sorted({sealing_key_id(one.text) for one in found} - {vault.writing_key_id})
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
