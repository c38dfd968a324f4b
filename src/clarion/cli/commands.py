"""The `clarion` command: its subcommands, and how errors are printed."""

import importlib
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperGroup
from typer.main import get_command, get_group

from clarion import BUILD
from clarion.cli.options import Config, config_first, use_config
from clarion.errors import ClarionError, SettingsError

COMMANDS = {
    "serve": "clarion.cli.serving:serve",
    "api": "clarion.cli.serving:api",
    "worker": "clarion.cli.serving:worker",
    "migrate": "clarion.cli.store:migrate",
    "settings": "clarion.cli.configuration:settings",
    "status": "clarion.cli.status:show_status",
    "doctor": "clarion.cli.status:doctor",
    "explain": "clarion.cli.explaining:explain",
    "simulate": "clarion.cli.explaining:simulate",
    "promote": "clarion.cli.promoting:promote_environment",
    "translations": "clarion.cli.translations:commands",
    "demo": "clarion.cli.demo:demo",
    "backup": "clarion.cli.store:backup",
    "restore": "clarion.cli.store:restore",
    "move": "clarion.cli.store:move",
    "compact": "clarion.cli.store:compact",
    "keys": "clarion.cli.keys:commands",
    "environments": "clarion.cli.environments:commands",
    "organizations": "clarion.cli.organizations:commands",
    "members": "clarion.cli.members:commands",
    "subscribers": "clarion.cli.people:commands",
    "schedules": "clarion.cli.schedules:commands",
    "dead-letters": "clarion.cli.deadletters:commands",
    "audit": "clarion.cli.audit:commands",
    "retention": "clarion.cli.retention:commands",
    "sessions": "clarion.cli.environments:session_commands",
    "encryption": "clarion.cli.keys:encryption_commands",
}
"""By name, each as `module:function` or `module:typer`."""


class _Commands(TyperGroup):
    """Commands that are imported when they are used: importing all of them takes about a second."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - the signature of click
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - the signature of click
        target = COMMANDS.get(cmd_name)
        return None if target is None else _load(cmd_name, target)


def _load(name: str, target: str) -> Any:
    module, _, attribute = target.partition(":")
    entry = getattr(importlib.import_module(module), attribute)
    if isinstance(entry, typer.Typer):
        command: Any = get_group(entry)
    else:
        alone = typer.Typer(add_completion=False, rich_markup_mode="rich")
        alone.command(name)(entry)
        command = get_command(alone)
    command.name = name
    return command


app = typer.Typer(
    name="clarion",
    cls=_Commands,
    help="Notification infrastructure: trigger once, deliver in-app, by email, SMS, chat and push.",
    epilog="Every setting is a CLARION_… variable or a line of the --config file; `clarion settings` lists them all.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; errors are printed to standard error as one line."""
    try:
        app(config_first(sys.argv[1:] if arguments is None else arguments))
    except ClarionError as error:
        _print_error(str(error))
        sys.exit(2 if isinstance(error, SettingsError) else 1)
    except OSError as error:
        if error.filename is None:
            raise
        _print_error(f"{error.filename} cannot be used: {error.strerror}. Is the path right, and may this user use it?")
        sys.exit(1)


def _print_error(text: str) -> None:
    Console(stderr=True).print(f"clarion: {text}", markup=False, highlight=False, soft_wrap=True)


@app.callback(invoke_without_command=True)
def start(
    version: Annotated[bool, typer.Option("--version", help="Show the version and leave.")] = False,  # noqa: FBT002
    config: Config = None,
) -> None:
    use_config(config)
    if version:
        typer.echo(f"clarion {BUILD}")
        raise typer.Exit
