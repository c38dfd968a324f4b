"""`clarion audit`: who changed the configuration."""

from typing import Annotated, Any

import typer
from msgspec.structs import replace
from rich.table import Table

from clarion.audit import store
from clarion.audit.model import Action, ActorType, Entry, TargetType
from clarion.audit.store import filter_entries
from clarion.audit.wire import AuditEntryOut, AuditQuery
from clarion.cli.installation import Installation, get_environment, wide_console, with_installation
from clarion.cli.listing import AsJson
from clarion.cli.options import EnvironmentName
from clarion.clock import iso_text
from clarion.db.port import Connection
from clarion.errors import SettingsError
from clarion.http.pages import list_cursor_page
from clarion.http.wire import MomentText
from clarion.jsontext import json_text

commands = typer.Typer(help="Look at who changed the configuration.", no_args_is_help=True)


@commands.command("list")
@with_installation
def list_entries(  # noqa: PLR0913 - the options of a command
    installation: Installation,
    *,
    environment: EnvironmentName,
    action: Annotated[list[Action] | None, typer.Option(help="Only this action; may be repeated.")] = None,
    target_type: Annotated[TargetType | None, typer.Option(help="Only changes of such a thing.")] = None,
    target_id: Annotated[str | None, typer.Option(help="Only changes of this one.", metavar="ID")] = None,
    actor_type: Annotated[ActorType | None, typer.Option(help="Only changes by such an actor.")] = None,
    actor_id: Annotated[str | None, typer.Option(help="Only changes by this one.", metavar="ID")] = None,
    request_id: Annotated[str | None, typer.Option(help="Only changes by this request.", metavar="ID")] = None,
    since: Annotated[str | None, typer.Option("--from", help="Not before, such as 2026-01-31T09:30:00Z.")] = None,
    until: Annotated[str | None, typer.Option("--to", help="Not after, such as 2026-01-31T09:30:00Z.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="How many, newest first.")] = 50,
    as_json: AsJson = False,
) -> None:
    """List changes of the configuration, newest first."""
    query = AuditQuery(
        limit=limit,
        action=tuple(action or ()),
        target_type=target_type,
        target_id=target_id,
        actor_type=actor_type,
        actor_id=actor_id,
        request_id=request_id,
        since=_parse_moment("--from", since),
        until=_parse_moment("--to", until),
    )
    if query.since is not None and query.until is not None and query.until.moment < query.since.moment:
        raise SettingsError("--to must not lie before --from.")
    show = _show_lines if as_json else _show_table
    show(installation.run(lambda db: _fetch(db, environment, query)))


async def _fetch(db: Connection, name: str, query: AuditQuery) -> list[Entry]:
    environment = await get_environment(db, name)
    entries: list[Entry] = []
    page_query = query
    # A page of large entries has fewer than were asked for.
    while True:
        page = await list_cursor_page(db, filter_entries(environment.id, page_query), page_query, store.entry_of)
        entries += page.data
        if page.next is None or len(entries) >= query.limit:
            return entries[: query.limit]
        page_query = replace(query, after=page.next)


def _show_lines(entries: list[Entry]) -> None:
    for entry in entries:
        typer.echo(json_text(AuditEntryOut.of(entry)))


def _show_table(entries: list[Entry]) -> None:
    table = Table("When", "Who", "Action", "Target", "Before", "After")
    for entry in entries:
        actor, target = entry.author.actor, entry.target
        table.add_row(
            iso_text(entry.created_at)[:19].replace("T", " "),
            " ".join(filter(None, (actor.type, actor.name))),
            entry.action,
            target.name or target.id,
            _side(entry.before),
            _side(entry.after),
        )
    wide_console().print(table)


def _side(values: dict[str, Any] | None) -> str:
    return "–" if values is None else json_text(values)


def _parse_moment(option: str, text: str | None) -> MomentText | None:
    if text is None or MomentText.accepts(text):
        return None if text is None else MomentText(text)
    raise SettingsError(f"{option} {MomentText.RULE}; it is '{text}'.")
