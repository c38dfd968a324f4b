"""Options that several commands take; Settings reads the variables that are named in their help."""

import os
from collections.abc import Sequence
from typing import Annotated

import typer

from clarion.settings.sources import CONFIG_VARIABLE

Host = Annotated[str | None, typer.Option(help="Address to listen on (CLARION_HOST).", metavar="ADDRESS")]
Port = Annotated[str | None, typer.Option(help="Port to listen on; 0 takes a free one (CLARION_PORT).", metavar="PORT")]
DataDir = Annotated[str | None, typer.Option(help="Folder of the SQLite store (CLARION_DATA_DIR).", metavar="FOLDER")]
DatabaseUrl = Annotated[
    str | None, typer.Option(help="PostgreSQL instead of SQLite (CLARION_DATABASE_URL).", metavar="URL")
]
Force = Annotated[bool, typer.Option("--force", help="Although something is in the way; the error says what.")]
EnvironmentName = Annotated[str, typer.Option(help="Name or identifier of the environment.", metavar="NAME")]
Config = Annotated[
    str | None, typer.Option("--config", help=f"TOML file of settings ({CONFIG_VARIABLE}).", metavar="FILE")
]


def use_config(path: str | None) -> None:
    """Let every reader of the settings in this process read this file."""
    if path is not None:
        os.environ[CONFIG_VARIABLE] = path


def config_first(arguments: Sequence[str]) -> list[str]:
    """The arguments with `--config FILE` in front: it is an option of `clarion`, and accepted after a command too."""
    for index, argument in enumerate(arguments):
        if argument == "--":
            break
        if argument == "--config" or argument.startswith("--config="):
            end = index + (2 if argument == "--config" else 1)
            return [*arguments[index:end], *arguments[:index], *arguments[end:]]
    return list(arguments)
