"""`clarion dead-letters`: look at sends that were given up, and try them again."""

import asyncio
import os
from typing import Annotated

import typer
from rich.table import Table

from clarion.cli.administration import format_time, get_environment, run_in_store, wide_console
from clarion.cli.options import DatabaseUrl, DataDir, EnvironmentName
from clarion.clock import SystemClock
from clarion.db.port import Connection
from clarion.deadletters import store
from clarion.deadletters.model import DeadLetter, DeadLetterFilter
from clarion.errors import SettingsError
from clarion.http.pages import OffsetPage
from clarion.ids import JobId, SubscriberKey, find_id, id_text
from clarion.settings import Settings
from clarion.vocabulary import Channel

commands = typer.Typer(help="Look at sends that were given up, and try them again.", no_args_is_help=True)

ChannelOption = Annotated[Channel | None, typer.Option(help="Only those of a channel.")]
ProviderOption = Annotated[
    str | None, typer.Option(help="Only those last tried with a provider.", metavar="PROVIDER_ID")
]
SubscriberOption = Annotated[str | None, typer.Option(help="Only those for a subscriber.", metavar="SUBSCRIBER_ID")]


@commands.command("list")
def list_dead_letters(  # noqa: PLR0913, PLR0917 - the options of a command
    environment: EnvironmentName,
    channel: ChannelOption = None,
    provider: ProviderOption = None,
    subscriber: SubscriberOption = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="How many, newest first.")] = 50,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """List dead letters with their ids and the last errors."""
    wanted = _filter(channel, provider, subscriber)

    async def fetch_page(db: Connection) -> OffsetPage[DeadLetter]:
        found = await get_environment(db, environment)
        return await store.list_dead_letters(db, found.id, wanted, page=0, limit=limit)

    page = asyncio.run(run_in_store(_settings(data_dir, database_url), fetch_page))
    table = Table("Id", "Given up", "Channel", "Provider", "Subscriber", "Workflow", "Attempts", "Why")
    for one in page.data:
        table.add_row(
            id_text(one.id),
            format_time(one.died_at),
            one.channel,
            one.provider_id or "–",
            one.subscriber_key,
            one.workflow_key,
            str(one.attempts),
            "\n".join(one.errors) or "–",
        )
    wide_console().print(table)
    if page.has_more:
        wide_console().print("There are more; --limit shows them.")


@commands.command("redrive")
def redrive_dead_letters(  # noqa: PLR0913, PLR0917 - the options of a command
    environment: EnvironmentName,
    ids: Annotated[list[str] | None, typer.Argument(help="Ids, from `clarion dead-letters list`.")] = None,
    channel: ChannelOption = None,
    provider: ProviderOption = None,
    subscriber: SubscriberOption = None,
    everything: Annotated[bool, typer.Option("--all", help="All of the environment.")] = False,  # noqa: FBT002
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Put dead letters back in the queue with fresh attempts; workers take them within a second."""
    wanted = _filter(channel, provider, subscriber, ids)
    if wanted == DeadLetterFilter() and not everything:
        raise SettingsError("Name the dead letters by id, by --channel, --provider or --subscriber, or take --all.")
    settings = _settings(data_dir, database_url)

    async def redrive(db: Connection) -> int:
        found = await get_environment(db, environment)
        return await store.redrive_dead_letters(db, found.id, wanted, SystemClock().now())

    total = 0
    while part := asyncio.run(run_in_store(settings, redrive)):
        total += part
        if part < store.MAX_REDRIVEN:
            break
    wide_console().print(f"Redriven: {total}.")


def _filter(
    channel: Channel | None, provider: str | None, subscriber: str | None, ids: list[str] | None = None
) -> DeadLetterFilter:
    return DeadLetterFilter(
        ids=tuple(map(_job_id, ids)) if ids else None,
        channel=channel,
        provider_id=provider,
        subscriber_key=None if subscriber is None else SubscriberKey(subscriber),
    )


def _job_id(text: str) -> JobId:
    found = find_id(text)
    if found is None:
        raise SettingsError(f"'{text}' is not the id of a dead letter; `clarion dead-letters list` shows them.")
    return JobId(found)


def _settings(data_dir: str | None, database_url: str | None) -> Settings:
    return Settings.load(os.environ, data_dir=data_dir, database_url=database_url)
