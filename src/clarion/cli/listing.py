"""Listings of commands: a table for people, or one JSON object a line for scripts."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

import typer
from msgspec import Struct
from rich.table import Table
from rich.text import Text

from clarion.cli.installation import format_time, wide_console
from clarion.clock import Millis, iso_text
from clarion.jsontext import json_text

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object a line, for scripts.")]


class Shown(Struct, frozen=True):
    """A value that people see as another text."""

    text: str
    value: Any


def moment(at: Millis | None) -> Shown:
    return Shown(format_time(at), None if at is None else iso_text(at))


def print_listing(columns: Mapping[str, str | None], rows: Iterable[Sequence[Any]], *, as_json: bool) -> None:
    """Print rows, whose values are in the order of the columns.

    `columns` has the title of each member of a JSON object, and None for those that a table leaves out. The names of
    members do not change: scripts read them.
    """
    if as_json:
        for row in rows:
            typer.echo(json_text(dict(zip(columns, map(_value, row), strict=True))))
        return
    table = Table(*(title for title in columns.values() if title is not None))
    for row in rows:
        shown = zip(columns.values(), row, strict=True)
        # As texts: names may contain what rich takes for markup.
        table.add_row(*(Text(_text(value)) for title, value in shown if title is not None))
    wide_console().print(table)


def _value(value: Any) -> Any:
    return value.value if isinstance(value, Shown) else value


def _text(value: Any) -> str:
    match value:
        case Shown():
            return value.text
        case None:
            return "–"
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(value) or "–"
        case _:
            return str(value)
