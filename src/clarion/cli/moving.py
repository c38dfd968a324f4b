"""`clarion move`: from SQLite to PostgreSQL."""

import asyncio
from typing import Annotated
from urllib.parse import urlsplit

import typer
from rich.console import Console
from rich.table import Table

from clarion.cli.options import DataDir
from clarion.cli.stores import load_settings
from clarion.db.migrations.process import Order, run_migration
from clarion.db.migrations.revisions import list_known_revisions
from clarion.db.move import TableCount, move_to_postgres
from clarion.db.open import list_missing_migrations, store_path
from clarion.db.sqlite.file import require_unused
from clarion.errors import SettingsError
from clarion.settings.model import Settings
from clarion.vault import KEY_FILE
from clarion.wording import count_text

_console = Console()

To = Annotated[
    str | None,
    typer.Option(
        "--to",
        help="An empty PostgreSQL database, without its password; default: CLARION_DATABASE_URL.",
        metavar="postgresql://…",
    ),
]


def move(to: To = None, data_dir: DataDir = None) -> None:
    """Move the installation from SQLite to the empty database of CLARION_DATABASE_URL; `clarion serve` must be stopped.

    Everything is moved in one transaction, and the numbers of rows are compared. The SQLite store stays as it is.
    """
    settings = load_settings(data_dir, to)
    url = _choose_target(settings, to)
    path = store_path(settings)
    if not path.exists():
        raise SettingsError(f"There is no store {path}; name its folder with --data-dir.")
    for line in _describe(asyncio.run(_move(settings, url))):
        _console.print(line)
    keys = (
        "the same CLARION_ENCRYPTION_KEYS" if settings.encryption_keys else f"a copy of {settings.data_dir / KEY_FILE}"
    )
    _console.print(
        f"Start the processes with this CLARION_DATABASE_URL and {keys} in their data folder. "
        f"Do not serve {path} any more: it would send everything a second time.",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )


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


def _describe(counts: list[TableCount]) -> list[Table | str]:
    table = Table("Table", "SQLite", "PostgreSQL")
    for one in counts:
        if one.rows:
            table.add_row(one.table, str(one.rows), str(one.rows))
    empty = sum(not one.rows for one in counts)
    rows = count_text(sum(one.rows for one in counts), "row", "rows")
    return [table, f"Moved {rows} of {len(counts)} tables, {empty} of them empty."]
