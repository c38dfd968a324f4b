"""The `clarion` command: its subcommands, and how errors are printed."""

import os
import sys
from typing import Annotated

import typer
from rich.console import Console

from clarion import __version__
from clarion.cli import administration, deadletters, retention, serving
from clarion.cli.options import DatabaseUrl, DataDir, EnvironmentName, Host, Port
from clarion.errors import ClarionError, SettingsError
from clarion.settings import Settings

app = typer.Typer(
    name="clarion",
    help="Notification infrastructure: trigger once, deliver in-app, by email, SMS, chat and push.",
    epilog="Every option is also a CLARION_… variable, and `clarion settings` lists them all.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
)
keys = typer.Typer(help="Make, list and revoke API keys.", no_args_is_help=True)
environments = typer.Typer(help="Look at environments.", no_args_is_help=True)
sessions = typer.Typer(help="Look after the sessions of subscribers' inboxes.", no_args_is_help=True)
encryption = typer.Typer(help="Look after the keys that credentials are sealed with.", no_args_is_help=True)
app.add_typer(keys, name="keys")
app.add_typer(environments, name="environments")
app.add_typer(encryption, name="encryption")
app.add_typer(sessions, name="sessions")
app.add_typer(deadletters.commands, name="dead-letters")
app.add_typer(retention.commands, name="retention")
app.command("compact")(retention.compact)


def main() -> None:
    """Run the command; errors are printed to standard error as one line."""
    try:
        app()
    except ClarionError as error:
        Console(stderr=True).print(f"clarion: {error}", markup=False, highlight=False, soft_wrap=True)
        sys.exit(2 if isinstance(error, SettingsError) else 1)


@app.callback(invoke_without_command=True)
def start(version: Annotated[bool, typer.Option("--version", help="Show the version and leave.")] = False) -> None:  # noqa: FBT002
    if version:
        typer.echo(f"clarion {__version__}")
        raise typer.Exit


@app.command()
def serve(host: Host = None, port: Port = None, data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """Run everything in one process: migrate the store, serve the API, do the work."""
    settings = _settings(host=host, port=port, data_dir=data_dir, database_url=database_url)
    serving.run_serve(settings)


@app.command()
def api(host: Host = None, port: Port = None, data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """Serve the API only; run any number of these on PostgreSQL."""
    settings = _settings(host=host, port=port, data_dir=data_dir, database_url=database_url)
    serving.run_api(settings)


@app.command()
def worker(data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """Do the background work only; run any number of these on PostgreSQL."""
    serving.run_worker(_settings(data_dir=data_dir, database_url=database_url))


@app.command()
def migrate(data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """Bring the store to the schema of this version."""
    administration.migrate(_settings(data_dir=data_dir, database_url=database_url))


@app.command()
def settings() -> None:
    """List every setting: its variable, its default and what it is for."""
    administration.show_settings()


@keys.command("create")
def create_key(
    environment: EnvironmentName,
    name: Annotated[str, typer.Option(help="What the key is for.")] = "API key",
    scope: Annotated[
        list[str] | None, typer.Option(help="A scope such as subscribers:read; repeatable; default: all.")
    ] = None,
    expires_in_days: Annotated[int | None, typer.Option(min=1, help="Days until it expires; default: never.")] = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Make an API key; its secret is printed once."""
    settings = _settings(data_dir=data_dir, database_url=database_url)
    administration.create_key(settings, environment, name=name, scopes=scope or ["all"], days=expires_in_days)


@keys.command("list")
def list_keys(data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """List the API keys of every environment, without their secrets."""
    administration.list_keys(_settings(data_dir=data_dir, database_url=database_url))


@keys.command("revoke")
def revoke_key(
    key_id: Annotated[str, typer.Argument(help="Id of the key, from `clarion keys list`.", metavar="KEY_ID")],
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Revoke an API key; running processes refuse it within two seconds."""
    administration.revoke_key(_settings(data_dir=data_dir, database_url=database_url), key_id)


@environments.command("list")
def list_environments(data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """List the environments with their ids and public identifiers."""
    administration.list_environments(_settings(data_dir=data_dir, database_url=database_url))


@sessions.command("end")
def end_sessions(environment: EnvironmentName, data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """End all sessions of the subscribers of an environment; their pages begin new ones when they are loaded."""
    administration.end_sessions(_settings(data_dir=data_dir, database_url=database_url), environment)


@encryption.command("rotate")
def rotate_encryption(data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """Seal all stored credentials again with the first encryption key; afterwards the older ones can go."""
    administration.rotate_encryption(_settings(data_dir=data_dir, database_url=database_url))


def _settings(**options: str | None) -> Settings:
    return Settings.load(os.environ, **options)
