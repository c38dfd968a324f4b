"""`clarion migrate`: bring the store to the schema of this version."""

import asyncio

from rich.console import Console

from clarion.cli.options import DatabaseUrl, DataDir, Force
from clarion.cli.stores import load_settings
from clarion.db.open import migrate_store


def migrate(
    force: Force = False,  # noqa: FBT002
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Bring the store to the schema of this version; --force although processes are alive that cannot work with it."""
    applied = asyncio.run(migrate_store(load_settings(data_dir, database_url), force=force))
    Console().print(f"Applied {', '.join(applied)}." if applied else "The store is up to date.", soft_wrap=True)
