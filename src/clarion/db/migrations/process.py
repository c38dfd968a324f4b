"""Migrates a store in a process of its own: Alembic and SQLAlchemy take 25 MB, which a serving process would keep.

`python -m clarion.db.migrations.process` reads what to migrate from standard input and writes the result to standard
output, both as JSON: addresses of databases contain passwords, which do not belong into arguments.
"""

import asyncio
import subprocess
import sys
from pathlib import Path

import msgspec
from msgspec import Struct

from clarion import errors
from clarion.db.migrations.migrate import migrate_postgres, migrate_sqlite
from clarion.errors import StoreError


class Order(Struct, frozen=True):
    """What to migrate: a file or a database."""

    path: str | None = None
    url: str | None = None
    force: bool = False


class Report(Struct, frozen=True):
    """What came of it."""

    applied: list[str] = []
    error: str | None = None
    """The name of the class of an error that was raised on purpose."""
    message: str = ""


async def run_migration(order: Order) -> list[str]:
    """Migrate in another process; returns the revisions that were applied, or raises what that process raised."""
    return await asyncio.to_thread(_run_process, order)


def _run_process(order: Order) -> list[str]:
    command = [sys.executable, "-m", "clarion.db.migrations.process"]
    done = subprocess.run(command, input=msgspec.json.encode(order), stdout=subprocess.PIPE, check=False)  # noqa: S603
    if done.returncode:
        raise StoreError("The store could not be migrated; the reason is above. Run `clarion migrate` to try again.")
    report = msgspec.json.decode(done.stdout, type=Report)
    if report.error is not None:
        raise getattr(errors, report.error)(report.message)
    return report.applied


def _migrate(order: Order) -> Report:
    try:
        if order.url is not None:
            return Report(asyncio.run(migrate_postgres(order.url, force=order.force)))
        return Report(migrate_sqlite(Path(order.path or "")))
    except StoreError as error:
        return Report(error=type(error).__name__, message=str(error))


if __name__ == "__main__":
    ordered = msgspec.json.decode(sys.stdin.buffer.read(), type=Order)
    sys.stdout.buffer.write(msgspec.json.encode(_migrate(ordered)))
