"""`clarion sessions`: look after the sessions of subscribers' inboxes."""

import asyncio

import typer
from rich.console import Console

from clarion.audit.model import Action
from clarion.audit.recording import record_event
from clarion.cli.author import command_line_author
from clarion.cli.options import DatabaseUrl, DataDir, EnvironmentName
from clarion.cli.stores import get_environment, load_settings, run_in_store
from clarion.clock import SystemClock
from clarion.db.port import Connection
from clarion.environments import store
from clarion.environments.model import Environment

commands = typer.Typer(help="Look after the sessions of subscribers' inboxes.", no_args_is_help=True)


@commands.callback()
def choose() -> None:
    """Keep `end` a command of its own, also while it is the only one."""


@commands.command("end")
def end_sessions(environment: EnvironmentName, data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """End all sessions of the subscribers of an environment; their pages begin new ones when they are loaded."""
    settings = load_settings(data_dir, database_url)

    async def end(db: Connection) -> Environment:
        found = await get_environment(db, environment)
        await store.raise_session_epoch(db, found.id)
        await record_event(db, Action.ENVIRONMENT_REVOKE_SESSIONS, found, command_line_author(), SystemClock().now())
        return found

    ended = asyncio.run(run_in_store(settings, end))
    Console().print(f"All sessions of {ended.name} are over.")
