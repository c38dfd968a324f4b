"""`clarion move`: from SQLite to PostgreSQL."""

import asyncio
import os
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from clarion.cli.options import DataDir
from clarion.db.exclusive import require_unused
from clarion.db.migration_process import Order, run_migration
from clarion.db.move import TableCount, move_to_postgres
from clarion.db.open import list_missing_migrations, store_path
from clarion.db.revisions import list_known_revisions
from clarion.errors import SettingsError
from clarion.settings import Settings
from clarion.vault import KEY_FILE
from clarion.wording import count_text

_console = Console()

To = Annotated[str, typer.Option("--to", help="An empty PostgreSQL database.", metavar="postgresql://…")]


def move(to: To, data_dir: DataDir = None) -> None:
    """Move the installation from SQLite to an empty PostgreSQL database; `clarion serve` must be stopped.

    Everything is moved in one transaction, and the numbers of rows are compared. The SQLite store stays as it is.
    """
    if os.environ.get("CLARION_DATABASE_URL"):
        raise SettingsError(
            "CLARION_DATABASE_URL is set, and this command reads the SQLite store: unset it, and use --to."
        )
    settings = Settings.load({**os.environ, "CLARION_DATABASE_URL": to}, data_dir=data_dir)
    path = store_path(settings)
    if not path.exists():
        raise SettingsError(f"There is no store {path}; name its folder with --data-dir.")
    for line in _describe(asyncio.run(_move(settings, to))):
        _console.print(line)
    keys = (
        "the same CLARION_ENCRYPTION_KEYS" if settings.encryption_keys else f"a copy of {settings.data_dir / KEY_FILE}"
    )
    _console.print(
        f"Start the processes with CLARION_DATABASE_URL and {keys} in their data folder. Do not serve {path} any more: "
        "it would send everything a second time.",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )


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
