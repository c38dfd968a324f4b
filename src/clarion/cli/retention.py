"""`clarion retention`: look at what is kept, and delete what is old."""

from collections import Counter
from collections.abc import Mapping
from typing import Annotated

import typer

from clarion.cli.installation import Installation, with_installation
from clarion.cli.listing import AsJson, Shown, print_listing
from clarion.clock import SystemClock
from clarion.db.port import Connection, Database
from clarion.environments.model import Environment
from clarion.environments.options import DataKind
from clarion.environments.store import list_environments
from clarion.errors import SettingsError
from clarion.ids import EnvironmentId
from clarion.retention.periods import days_of
from clarion.retention.tasks import WALKS
from clarion.retention.walks import list_deleted
from clarion.retention.worker import Retention, count_old
from clarion.settings.model import Settings

commands = typer.Typer(help="Look at how long data is kept, and delete what is old.", no_args_is_help=True)


@commands.command("show")
@with_installation
def show(installation: Installation, *, as_json: AsJson = False) -> None:
    """Show the days of each environment and kind of data, and how many rows were deleted so far."""
    settings = installation.settings

    async def read(db: Connection) -> tuple[list[Environment], dict[EnvironmentId, Counter[str]]]:
        return await list_environments(db), await list_deleted(db)

    environments, deleted = installation.use(lambda database: database.read(read))
    columns = {
        "environment": "Environment",
        "kind": "Kind",
        "days": "Days",
        "setBy": "Set by",
        "deleted": "Deleted so far",
    }
    rows = [
        (
            environment.name,
            kind,
            days,
            "environment" if kind in environment.options.retention_days else "installation",
            _deleted_of(kind, deleted.get(environment.id, Counter())),
        )
        for environment in environments
        for kind, days in days_of(environment.options, settings).items()
    ]
    print_listing(columns, rows, as_json=as_json)


@commands.command("run")
@with_installation
def run(
    installation: Installation,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Delete; without it, only count.")] = False,
    as_json: AsJson = False,
) -> None:
    """Count what is old, and with --yes delete it now instead of in the background."""
    settings = installation.settings
    if yes:
        _print_counts(installation.use(lambda database: _delete(database, settings)), "Deleted", as_json=as_json)
    else:
        _print_counts(installation.use(lambda database: _count(database, settings)), "Old", as_json=as_json)
        typer.echo("Nothing was deleted; --yes does that.", err=True)


async def _count(database: Database, settings: Settings) -> Mapping[str, int]:
    total: Counter[str] = Counter()
    for counts in (await count_old(database, settings, SystemClock().now())).values():
        total.update(counts)
    return total


async def _delete(database: Database, settings: Settings) -> Mapping[str, int]:
    retention = Retention(database, settings=settings, clock=SystemClock())
    if not await retention.run_round():
        raise SettingsError("Another process is deleting old data at this moment; its log says how much.")
    return retention.deleted


def _deleted_of(kind: DataKind, deleted: Counter[str]) -> Shown:
    counts = {walk.name: deleted[walk.name] for walk in WALKS if walk.kind is kind and deleted[walk.name]}
    return Shown(", ".join(f"{count} {name}" for name, count in counts.items()) or "–", counts)


def _print_counts(counts: Mapping[str, int], title: str, *, as_json: bool) -> None:
    rows = [(walk.name, counts.get(walk.name, 0)) for walk in WALKS]
    print_listing({"what": "What", "count": title}, rows, as_json=as_json)
