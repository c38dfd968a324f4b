"""The `clarion` command: its subcommands, and how errors are printed."""

import os
import sys
from typing import Annotated

import typer
from rich.console import Console

from clarion import __version__
from clarion.cli import (
    administration,
    audit,
    backup,
    deadletters,
    doctor,
    environments,
    moving,
    organizations,
    people,
    promoting,
    retention,
    serving,
    status,
)
from clarion.cli.configuration import show_settings
from clarion.cli.options import (
    Config,
    DatabaseUrl,
    DataDir,
    EnvironmentName,
    Force,
    Host,
    Port,
    config_first,
    use_config,
)
from clarion.errors import ClarionError, SettingsError
from clarion.promotion.actions import Selected
from clarion.promotion.model import ResourceType
from clarion.settings import Settings

app = typer.Typer(
    name="clarion",
    help="Notification infrastructure: trigger once, deliver in-app, by email, SMS, chat and push.",
    epilog="Every setting is a CLARION_… variable or a line of the --config file; `clarion settings` lists them all.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
)
keys = typer.Typer(help="Make, list and revoke API keys.", no_args_is_help=True)
sessions = typer.Typer(help="Look after the sessions of subscribers' inboxes.", no_args_is_help=True)
encryption = typer.Typer(help="Look after the keys that credentials are sealed with.", no_args_is_help=True)
app.add_typer(keys, name="keys")
app.add_typer(environments.commands, name="environments")
app.add_typer(organizations.commands, name="organizations")
app.add_typer(encryption, name="encryption")
app.add_typer(sessions, name="sessions")
app.add_typer(deadletters.commands, name="dead-letters")
app.add_typer(audit.commands, name="audit")
app.command("status")(status.show_status)
app.command()(backup.backup)
app.command()(backup.restore)
app.command()(moving.move)
app.command()(doctor.doctor)
app.add_typer(people.commands, name="subscribers")
app.add_typer(retention.commands, name="retention")
app.command("compact")(retention.compact)


def main() -> None:
    """Run the command; errors are printed to standard error as one line."""
    try:
        app(config_first(sys.argv[1:]))
    except ClarionError as error:
        Console(stderr=True).print(f"clarion: {error}", markup=False, highlight=False, soft_wrap=True)
        sys.exit(2 if isinstance(error, SettingsError) else 1)


@app.callback(invoke_without_command=True)
def start(
    version: Annotated[bool, typer.Option("--version", help="Show the version and leave.")] = False,  # noqa: FBT002
    config: Config = None,
) -> None:
    use_config(config)
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
def migrate(
    force: Force = False,  # noqa: FBT002
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Bring the store to the schema of this version; --force although processes are alive that cannot work with it."""
    administration.migrate(_settings(data_dir=data_dir, database_url=database_url), force=force)


@app.command()
def settings() -> None:
    """List every setting: its variable, its value, where that comes from, and what it is for."""
    show_settings(os.environ)


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


@keys.command("scopes")
def list_scopes() -> None:
    """List the scopes that a key can have, and what each of them allows."""
    administration.list_scopes()


@keys.command("revoke")
def revoke_key(
    key_id: Annotated[str, typer.Argument(help="Id of the key, from `clarion keys list`.", metavar="KEY_ID")],
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Revoke an API key; running processes refuse it within two seconds."""
    administration.revoke_key(_settings(data_dir=data_dir, database_url=database_url), key_id)


@app.command()
def promote(  # noqa: PLR0913, PLR0917 - the options of a command
    source: Annotated[str, typer.Option("--from", help="The environment to copy from.", metavar="NAME")],
    target: Annotated[str, typer.Option("--to", help="The environment to copy to.", metavar="NAME")],
    workflow: Annotated[
        list[str] | None, typer.Option(help="Only this workflow; repeatable.", metavar="WORKFLOW_ID")
    ] = None,
    integration: Annotated[
        list[str] | None, typer.Option(help="Only this integration; repeatable.", metavar="IDENTIFIER")
    ] = None,
    prune: Annotated[bool, typer.Option("--prune", help="Delete workflows that the source does not have.")] = False,  # noqa: FBT002
    apply: Annotated[bool, typer.Option("--apply", help="Do it; without this, only show it.")] = False,  # noqa: FBT002
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Show what differs between two environments; with --apply, copy workflows, and integrations without secrets."""
    only = [Selected(ResourceType.WORKFLOW, one) for one in workflow or ()]
    only += [Selected(ResourceType.INTEGRATION, one) for one in integration or ()]
    settings = _settings(data_dir=data_dir, database_url=database_url)
    promoting.run_promotion(settings, (source, target), only, prune=prune, apply=apply)


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
