"""`clarion settings`: every setting, its value and where that comes from; and the warnings at a start."""

import dataclasses
import logging
import os
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from clarion.cli.listing import AsJson, print_listing
from clarion.settings.model import Settings, known_settings, variable
from clarion.settings.sources import find_values, find_warnings

_HIDDEN = "***"
_COLUMNS = {"variable": "Variable", "value": "Value", "setBy": "Set by", "about": "What it is for"}

log = logging.getLogger(__name__)


def show_settings(environ: Mapping[str, str], *, as_json: bool = False) -> None:
    """Print the table first and check the values afterwards: a value that is refused is in the table."""
    values = find_values(environ, known_settings())
    secrets = {one.name for one in known_settings() if one.is_secret}
    rows = []
    for item in dataclasses.fields(Settings):
        value = values.get(item.name)
        if value is None:
            shown, source = default_text(item.default), "default"
        else:
            shown, source = _HIDDEN if item.name in secrets else value.text.reveal(), value.source
        rows.append((variable(item.name), shown, source, str(item.metadata["about"])))
    if as_json:
        print_listing(_COLUMNS, rows, as_json=True)
    else:
        # As wide as the terminal: descriptions wrap.
        table = Table(*_COLUMNS.values())
        for row in rows:
            table.add_row(*map(escape, row))
        Console().print(table)
    console = Console(stderr=as_json)
    for warning in find_warnings(environ, known_settings()):
        fields = ", ".join(f"{name}: {text}" for name, text in warning.fields.items())
        console.print(f"{warning.message} ({fields}).", markup=False, highlight=False, soft_wrap=True)
    Settings.load(environ)


def log_settings_warnings() -> None:
    for warning in find_warnings(os.environ, known_settings()):
        log.warning(warning.message, extra=warning.fields)


def settings_rows() -> list[tuple[str, str, str]]:
    """Every setting as (variable, default, meaning)."""
    return [
        (variable(item.name), default_text(item.default), str(item.metadata["about"]))
        for item in dataclasses.fields(Settings)
    ]


def default_text(default: Any) -> str:
    if default is None or default == ():
        return "–"
    if isinstance(default, bool):
        return "on" if default else "off"
    if isinstance(default, tuple):
        return ",".join(one if isinstance(one, str) else f"{one[0]}={one[1]}" for one in default)
    return str(default)


def settings(as_json: AsJson = False) -> None:  # noqa: FBT002
    """List every setting: its variable, its value, where that comes from, and what it is for."""
    show_settings(os.environ, as_json=as_json)
