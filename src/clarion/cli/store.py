"""`clarion migrate`, `backup`, `restore`, `move` and `compact`: the store as a whole."""

import asyncio
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer
from rich.console import Console
from rich.table import Table

from clarion.cli.installation import Installation, load_settings, print_line, wide_console, with_installation
from clarion.cli.options import DataDir, Force
from clarion.db.migrations.migrate import Order, run_migration
from clarion.db.migrations.revisions import list_known_revisions
from clarion.db.move import TableCount, move_to_postgres
from clarion.db.open import list_missing_migrations, migrate_store, store_path
from clarion.db.sqlite.backup import back_up, check_copy, put_in_place
from clarion.db.sqlite.database import read_copy
from clarion.db.sqlite.file import compact_sqlite, require_unused
from clarion.environments.bootstrap import check_vault
from clarion.errors import SettingsError, StoreError
from clarion.private_files import replace_private_file
from clarion.settings.model import Settings
from clarion.vault import KEY_FILE, Vault, describe_keys, read_keys
from clarion.vocabulary import count_text

_KEYS_SUFFIX = ".keys"

BackupFile = Annotated[Path, typer.Argument(help="The file of the backup.", metavar="FILE")]
WithKeys = Annotated[bool, typer.Option("--with-keys", help="Also write the encryption keys, to FILE.keys.")]
To = Annotated[
    str | None,
    typer.Option(
        "--to",
        help="An empty PostgreSQL database, without its password; default: CLARION_DATABASE_URL.",
        metavar="postgresql://…",
    ),
]


@with_installation
def migrate(installation: Installation, *, force: Force = False) -> None:
    """Bring the store to the schema of this version; --force although processes are alive that cannot work with it."""
    applied = asyncio.run(migrate_store(installation.settings, force=force))
    print_line(f"Applied {', '.join(applied)}." if applied else "The store is up to date.")


def backup(
    file: BackupFile,
    with_keys: WithKeys = False,  # noqa: FBT002
    force: Force = False,  # noqa: FBT002
    data_dir: DataDir = None,
) -> None:
    """Copy the SQLite store to a file, while it is served; the copy is of one moment, and checked."""
    settings = _load_sqlite_settings(data_dir)
    key_text = _read_keys_for(_keys_beside(file), settings, force=force) if with_keys else None
    report = back_up(store_path(settings), file, force=force)
    print_line(f"Wrote {file}: {report.size / 1e6:.1f} MB, schema {report.schema.revision}, intact.")
    kept = [report.kept]
    if key_text is not None:
        kept.append(replace_private_file(_keys_beside(file), key_text.encode()))
        print_line(f"Wrote {_keys_beside(file)}. Whoever has both files can read all credentials: keep them apart.")
    else:
        print_line(
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
    settings = _load_sqlite_settings(data_dir)
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
    print_line(f"Restored {store_path(settings)} from {file}.")
    _print_kept(kept)
    if is_old:
        print_line(f"Its schema is {report.schema.revision}; the next `clarion serve` migrates it.")


def move(to: To = None, data_dir: DataDir = None) -> None:
    """Move the installation from SQLite to the empty database of CLARION_DATABASE_URL; `clarion serve` must be stopped.

    Everything is moved in one transaction, and the numbers of rows are compared. The SQLite store stays as it is.
    """
    settings = load_settings(data_dir, to)
    url = _choose_target(settings, to)
    path = store_path(settings)
    if not path.exists():
        raise SettingsError(f"There is no store {path}; name its folder with --data-dir.")
    console = Console()
    for line in _describe_moved(asyncio.run(_move(settings, url))):
        console.print(line)
    keys = (
        "the same CLARION_ENCRYPTION_KEYS" if settings.encryption_keys else f"a copy of {settings.data_dir / KEY_FILE}"
    )
    print_line(
        f"Start the processes with this CLARION_DATABASE_URL and {keys} in their data folder. "
        f"Do not serve {path} any more: it would send everything a second time."
    )


def compact(data_dir: DataDir = None) -> None:
    """Give the space that deleted data left in the SQLite file back to the disk; Clarion must not run."""
    settings = load_settings(data_dir, None)
    if settings.database_url is not None:
        raise SettingsError("`clarion compact` is for SQLite; PostgreSQL gives space back by itself.")
    before, after = compact_sqlite(store_path(settings))
    wide_console().print(f"{before / 1e6:.1f} MB before, {after / 1e6:.1f} MB now.", highlight=False)


def _load_sqlite_settings(data_dir: str | None) -> Settings:
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
        print_line(f"What was there is now {one}; delete it when you need it no more.")


def _choose_target(settings: Settings, to: str | None) -> str:
    if to is not None and urlsplit(to).password is not None:
        raise SettingsError(
            "Other users of this machine can read the password in --to: put the address into CLARION_DATABASE_URL, "
            "or leave the password out and put it into PGPASSWORD."
        )
    if settings.database_url is None:
        raise SettingsError("Put the address of an empty PostgreSQL database into CLARION_DATABASE_URL.")
    return settings.database_url.reveal()


async def _move(settings: Settings, url: str) -> list[TableCount]:
    require_unused(store_path(settings))
    if await list_missing_migrations(settings) == list_known_revisions():
        await run_migration(Order(url=url))
    return await move_to_postgres(store_path(settings), url)


def _describe_moved(counts: list[TableCount]) -> list[Table | str]:
    table = Table("Table", "SQLite", "PostgreSQL")
    for table_count in counts:
        if table_count.rows:
            table.add_row(table_count.table, str(table_count.rows), str(table_count.rows))
    empty = sum(not one.rows for one in counts)
    rows = count_text(sum(one.rows for one in counts), "row", "rows")
    return [table, f"Moved {rows} of {len(counts)} tables, {empty} of them empty."]
