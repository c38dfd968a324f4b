"""What commands share: the configured store, finding what is named on the command line, who runs it, printing."""

import asyncio
import getpass
import inspect
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import typer
from msgspec import Struct
from rich.console import Console

from clarion.audit.model import Actor, ActorType, Author
from clarion.cli.options import DatabaseUrl, DataDir
from clarion.clock import Millis, iso_text
from clarion.db.open import open_store, require_current_store
from clarion.db.port import Connection, Database, Work
from clarion.environments import store
from clarion.environments.model import Environment, Organization
from clarion.errors import SettingsError, StoreUnavailable
from clarion.ids import id_text
from clarion.settings.model import Settings
from clarion.vault import KEY_FILE

T = TypeVar("T")

_MIN_WIDTH = 160
_STORE_OPTIONS = tuple(
    inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
    for name, annotation in (("data_dir", DataDir), ("database_url", DatabaseUrl))
)


def load_settings(data_dir: str | None, database_url: str | None, **options: str | None) -> Settings:
    settings = Settings.load(os.environ, data_dir=data_dir, database_url=database_url, **options)
    if settings.database_url is None or settings.encryption_keys is None:
        _check_folder(settings.data_dir)
    return settings


def _check_folder(folder: Path) -> None:
    """Refuse a data folder that is none, or whose files this user cannot see."""
    try:
        if folder.exists() and not folder.is_dir():
            raise SettingsError(f"The data folder {folder} is a file; name a folder with CLARION_DATA_DIR.")
        (folder / KEY_FILE).exists()
    except OSError as error:
        raise StoreUnavailable(
            f"The data folder {folder} cannot be read: {error.strerror}. Run this as the user of the service, or name "
            "another folder with CLARION_DATA_DIR."
        ) from error


@asynccontextmanager
async def open_current_store(settings: Settings) -> AsyncIterator[Database]:
    """Open the configured store, which must have the schema of this version."""
    await require_current_store(settings)
    database = await open_store(settings)
    try:
        yield database
    finally:
        await database.close()


class Installation(Struct, frozen=True):
    """What the options of a command and the settings name."""

    settings: Settings

    def run(self, work: Work[T]) -> T:
        """Run one unit of work on its store."""
        return self.use(lambda database: database.transaction(work))

    def use(self, use: Callable[[Database], Awaitable[T]]) -> T:
        """Run what needs several units of work, or none, on its store."""

        async def run() -> T:
            async with open_current_store(self.settings) as database:
                return await use(database)

        return asyncio.run(run())


def with_installation(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command have the options that name the store; its first argument is the installation."""

    @wraps(command)
    def run(*, data_dir: str | None = None, database_url: str | None = None, **options: Any) -> None:
        command(Installation(load_settings(data_dir, database_url)), **options)

    signature = inspect.signature(command)
    _, *own = signature.parameters.values()
    shown = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in (*own, *_STORE_OPTIONS)]
    # What typer reads.
    run.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in shown}
    return run


def command_line_author() -> Author:
    """Return the user of the operating system and the machine; a container may have no name for its user."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = str(os.getuid())
    return Author(actor=Actor(type=ActorType.COMMAND_LINE, name=f"{user}@{socket.gethostname()}"))


async def get_environment(db: Connection, name: str) -> Environment:
    """Find an environment by name, public identifier or id; `Organization/Name` is of one organization."""
    environments = await store.list_environments(db)
    organizations = {one.id: one.name for one in await store.list_organizations(db)}
    exact = [one for one in environments if name in (one.identifier, id_text(one.id))]
    named = [one for one in environments if name in (one.name, f"{organizations[one.organization_id]}/{one.name}")]
    matches = exact or named
    if len(matches) == 1:
        return matches[0]
    is_only = len(organizations) == 1
    choices = [
        one.name if is_only else f"{organizations[one.organization_id]}/{one.name}" for one in matches or environments
    ]
    if matches:
        raise SettingsError(f"Several organizations have an environment '{name}'; choose one of {', '.join(choices)}.")
    raise SettingsError(f"There is no environment '{name}'; there are {', '.join(choices) or 'none'}.")


async def get_organization(db: Connection, name: str | None) -> Organization:
    """Find an organization by name or id; None is the only one."""
    known = await store.list_organizations(db)
    matches = [one for one in known if name is None or name in (one.name, id_text(one.id))]
    if len(matches) == 1:
        return matches[0]
    choices = ", ".join(f"{one.name} ({id_text(one.id)})" for one in matches or known)
    if name is None:
        raise SettingsError(f"There are several organizations; choose one with --organization: {choices}.")
    raise SettingsError(f"There is no single organization '{name}'; there are {choices or 'none'}.")


def confirm(question: str, *, is_confirmed: bool) -> None:
    """Ask the operator before something is lost; raises typer.Abort if they do not agree."""
    if not is_confirmed:
        typer.confirm(question, abort=True)


def format_time(moment: Millis | None) -> str:
    return "–" if moment is None else iso_text(moment)[:16].replace("T", " ")


def print_line(text: str) -> None:
    """Print a text as it is: names may contain what rich takes for markup, and what people copy must not wrap."""
    Console().print(text, markup=False, highlight=False, soft_wrap=True)


def wide_console() -> Console:
    # Ids must not wrap: people copy them.
    return Console(width=max(Console().width, _MIN_WIDTH))
