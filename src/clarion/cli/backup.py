"""`clarion backup` and `clarion restore`: copies of the SQLite store."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from clarion.cli.options import DataDir, Force
from clarion.cli.stores import load_settings
from clarion.db.migrations.revisions import list_known_revisions
from clarion.db.open import store_path
from clarion.db.sqlite.backup import back_up, check_copy, put_in_place
from clarion.db.sqlite.database import read_copy
from clarion.environments.bootstrap import check_vault
from clarion.errors import SettingsError, StoreError
from clarion.private_files import replace_private_file
from clarion.settings.model import Settings
from clarion.vault import KEY_FILE, Vault, describe_keys, read_keys

_KEYS_SUFFIX = ".keys"

_console = Console()

BackupFile = Annotated[Path, typer.Argument(help="The file of the backup.", metavar="FILE")]
WithKeys = Annotated[bool, typer.Option("--with-keys", help="Also write the encryption keys, to FILE.keys.")]


def backup(
    file: BackupFile,
    with_keys: WithKeys = False,  # noqa: FBT002
    force: Force = False,  # noqa: FBT002
    data_dir: DataDir = None,
) -> None:
    """Copy the SQLite store to a file, while it is served; the copy is of one moment, and checked."""
    settings = _load_settings(data_dir)
    key_text = _read_keys_for(_keys_beside(file), settings, force=force) if with_keys else None
    report = back_up(store_path(settings), file, force=force)
    _print(f"Wrote {file}: {report.size / 1e6:.1f} MB, schema {report.schema.revision}, intact.")
    kept = [report.kept]
    if key_text is not None:
        kept.append(replace_private_file(_keys_beside(file), key_text.encode()))
        _print(f"Wrote {_keys_beside(file)}. Whoever has both files can read all credentials: keep them apart.")
    else:
        _print(
            "Without the encryption keys it is useless: the service does not start on it. "
            f"Keep a copy of {describe_keys(settings)} elsewhere, or let `--with-keys` write one."
        )
    _print_kept(kept)


def restore(
    file: BackupFile,
    keys: Annotated[
        Path | None,
        typer.Option(help="File of the encryption keys; default: FILE.keys if there is one.", metavar="FILE"),
    ] = None,
    force: Force = False,  # noqa: FBT002
    data_dir: DataDir = None,
) -> None:
    """Make the SQLite store of a backup; `clarion serve` must not be running on it."""
    settings = _load_settings(data_dir)
    if not file.exists():
        raise SettingsError(f"There is no file {file}.")
    report = check_copy(file)
    key_text = _choose_keys(settings, file, keys)
    is_old = report.schema.revision != list_known_revisions()[-1]
    _check_keys(file, settings, Vault.parse(key_text), is_old=is_old)
    _require_same_keys(settings, key_text, force=force)
    kept: list[Path | None] = [*put_in_place(file, store_path(settings), force=force)]
    if settings.encryption_keys is None:
        kept.append(replace_private_file(settings.data_dir / KEY_FILE, key_text.encode(), like=settings.data_dir))
    _print(f"Restored {store_path(settings)} from {file}.")
    _print_kept(kept)
    if is_old:
        _print(f"Its schema is {report.schema.revision}; the next `clarion serve` migrates it.")


def _load_settings(data_dir: str | None) -> Settings:
    settings = load_settings(data_dir, None)
    if settings.database_url is not None:
        raise SettingsError(
            "CLARION_DATABASE_URL is set, and this command is for the SQLite store: back up PostgreSQL with its own "
            "tools (pg_dump, or pg_basebackup and the log), as docs/backup.md shows, and keep the encryption keys, too."
        )
    return settings


def _choose_keys(settings: Settings, file: Path, keys: Path | None) -> str:
    """The keys that the service will use after the restore."""
    if settings.encryption_keys is not None:
        if keys is not None:
            raise SettingsError("CLARION_ENCRYPTION_KEYS is set, and the service would use those: leave out --keys.")
        return read_keys(settings)
    if keys is not None and not keys.exists():
        raise SettingsError(f"There is no file {keys}.")
    chosen = keys or _keys_beside(file)
    return chosen.read_text() if chosen.exists() else read_keys(settings)


def _read_keys_for(target: Path, settings: Settings, *, force: bool) -> str:
    """The keys that a backup writes to a file; refuses a file that has others, before anything is written."""
    text = read_keys(settings)
    has_others = target.exists() and target.read_bytes() != text.encode()
    if target.name == KEY_FILE or (has_others and not force):
        raise StoreError(f"The keys would be written to {target}, and other keys may be there; choose another name.")
    return text


def _check_keys(file: Path, settings: Settings, vault: Vault, *, is_old: bool) -> None:
    try:
        read_copy(file, lambda db: check_vault(db, settings, vault, is_old=is_old))
    except SettingsError as error:
        raise SettingsError(
            f"The keys at hand ({', '.join(sorted(vault.key_ids))}) do not open the secrets of {file}; "
            "name the file of the right ones with --keys."
        ) from error


def _require_same_keys(settings: Settings, key_text: str, *, force: bool) -> None:
    path = settings.data_dir / KEY_FILE
    if settings.encryption_keys is None and not force and path.exists() and path.read_text() != key_text:
        raise StoreError(f"The file {path} has other keys than the backup; replace it with --force.")


def _keys_beside(file: Path) -> Path:
    return file.with_name(file.name + _KEYS_SUFFIX)


def _print_kept(files: list[Path | None]) -> None:
    for one in filter(None, files):
        _print(f"What was there is now {one}; delete it when you need it no more.")


def _print(line: str) -> None:
    _console.print(line, markup=False, highlight=False, soft_wrap=True)
