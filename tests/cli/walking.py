"""All `clarion` commands, found by asking the command line for them."""

from collections.abc import Iterator
from typing import Any

import click
from typer.main import get_command

from clarion.cli.commands import app


def walk_commands() -> Iterator[tuple[list[str], Any]]:
    """The words of each command, and the command."""
    root: Any = get_command(app)
    yield from _walk(root, click.Context(root), [])


def option_names(command: Any) -> set[str]:
    return {name for one in command.params for name in one.opts}


def required_arguments(command: Any, value: str) -> list[str]:
    """Arguments for all that a command requires, each with this value."""
    required = [one for one in command.params if one.required]
    options = [part for one in required if one.param_type_name == "option" for part in (one.opts[-1], value)]
    return [*options, *(value for one in required if one.param_type_name == "argument")]


def _walk(command: Any, context: Any, words: list[str]) -> Iterator[tuple[list[str], Any]]:
    if not hasattr(command, "list_commands"):
        yield words, command
        return
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        yield from _walk(inner, click.Context(inner, parent=context, info_name=name), [*words, name])
