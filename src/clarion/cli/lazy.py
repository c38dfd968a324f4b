"""Commands that are imported when they are used: importing all of them takes about a second."""

import importlib
from collections.abc import Mapping
from typing import Any, ClassVar

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group


class LazyGroup(TyperGroup):
    """A group of commands, each named as `module:function` or `module:typer`."""

    targets: ClassVar[Mapping[str, str]] = {}

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - the signature of click
        return list(self.targets)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - the signature of click
        target = self.targets.get(cmd_name)
        return None if target is None else _load(cmd_name, target)


def _load(name: str, target: str) -> Any:
    module, _, attribute = target.partition(":")
    found = getattr(importlib.import_module(module), attribute)
    if isinstance(found, typer.Typer):
        command: Any = get_group(found)
    else:
        alone = typer.Typer(add_completion=False, rich_markup_mode="rich")
        alone.command(name)(found)
        command = get_command(alone)
    command.name = name
    return command
