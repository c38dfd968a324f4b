"""`clarion subscribers`: export a person's data, and erase it."""

import os
import sys
from functools import partial
from pathlib import Path
from typing import Annotated, TextIO

import typer

from clarion.cli.installation import (
    Installation,
    command_line_author,
    get_environment,
    with_installation,
)
from clarion.cli.options import EnvironmentName
from clarion.clock import SystemClock, iso_text
from clarion.db.port import Database
from clarion.errors import SettingsError
from clarion.ids import EnvironmentId, SubscriberKey
from clarion.jsontext import json_text
from clarion.subscribers.model import Subscriber
from clarion.subscribers.personal_data.erasure import erase_history, erase_rest, has_long_history
from clarion.subscribers.personal_data.export import MAX_ITEMS, ExportPosition, read_page
from clarion.subscribers.store import get_subscriber

commands = typer.Typer(help="Export the data of people, and erase it.", no_args_is_help=True)

SubscriberArgument = Annotated[str, typer.Argument(help="The subscriberId of the person.", metavar="SUBSCRIBER_ID")]


@commands.command("export")
@with_installation
def export_subscriber(
    installation: Installation,
    subscriber_id: SubscriberArgument,
    environment: EnvironmentName,
    output: Annotated[
        Path | None, typer.Option(help="File to write, for its owner alone; else standard output.")
    ] = None,
) -> None:
    """Write everything that is stored of a person as one JSON document."""
    key = SubscriberKey(subscriber_id)
    installation.use(lambda database: _export(database, environment, key, output))


@commands.command("erase")
@with_installation
def erase_subscriber(
    installation: Installation,
    *,
    subscriber_id: SubscriberArgument,
    environment: EnvironmentName,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Erase a person and everything that is stored of them; this cannot be undone."""
    if not yes and not typer.confirm(f"Erase '{subscriber_id}' of {environment} for good?"):
        raise SettingsError("Nothing was erased.")
    installation.use(lambda database: _erase(database, environment, SubscriberKey(subscriber_id)))
    typer.echo(f"Erased '{subscriber_id}'.")


async def _export(database: Database, environment: str, key: SubscriberKey, output: Path | None) -> None:
    environment_id = await _find_environment(database, environment)
    person = await database.read(lambda db: get_subscriber(db, environment_id, key))
    if output is None:
        await _write(sys.stdout, database, person)
        return
    with _open_new(output) as file:
        await _write(file, database, person)


async def _write(file: TextIO, database: Database, person: Subscriber) -> None:
    """Write the document page by page: a person's data may be larger than the memory."""
    head = json_text({"subscriberId": person.key, "exportedAt": iso_text(SystemClock().now())})
    file.write(f'{head[:-1]},"data":[')
    separator = "\n"
    position: ExportPosition | None = ExportPosition()
    while position is not None:
        page = await database.scan(partial(read_page, person=person, position=position, limit=MAX_ITEMS))
        for item in page.items:
            file.write(separator + json_text(item))
            separator = ",\n"
        position = page.next
    file.write("\n]}\n")


def _open_new(path: Path) -> TextIO:
    """Create a file that only its owner can read."""
    try:
        return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"The file {path} cannot be created: {error.strerror}.") from None


async def _erase(database: Database, environment: str, key: SubscriberKey) -> None:
    clock, author = SystemClock(), command_line_author()
    environment_id = await _find_environment(database, environment)
    if await has_long_history(database, environment_id, key):
        await erase_history(database, environment_id, key, author, clock)
    await database.transaction(lambda db: erase_rest(db, environment_id, key, author, clock.now()))


async def _find_environment(database: Database, name: str) -> EnvironmentId:
    return (await database.read(lambda db: get_environment(db, name))).id
