"""`clarion dead-letters`: look at sends that were given up, try them again, or take them off the list."""

from collections.abc import Awaitable, Callable
from typing import Annotated

import typer

from clarion.cli.installation import Installation, confirm, get_environment, wide_console, with_installation
from clarion.cli.listing import AsJson, Shown, moment, print_listing
from clarion.cli.options import EnvironmentName
from clarion.clock import Millis, SystemClock
from clarion.db.port import Connection
from clarion.errors import SettingsError
from clarion.http.pages import OffsetPage
from clarion.ids import EnvironmentId, JobId, SubscriberKey, WorkflowKey, find_id, id_text
from clarion.sending.dead_letters import store
from clarion.sending.dead_letters.model import MAX_REDRIVEN, DeadLetter, DeadLetterFilter
from clarion.vocabulary import Channel

commands = typer.Typer(
    help="Look at sends that were given up, try them again, or take them off the list.", no_args_is_help=True
)

ChannelOption = Annotated[Channel | None, typer.Option(help="Only those of a channel.")]
ProviderOption = Annotated[
    str | None, typer.Option(help="Only those last tried with a provider.", metavar="PROVIDER_ID")
]
SubscriberOption = Annotated[str | None, typer.Option(help="Only those for a subscriber.", metavar="SUBSCRIBER_ID")]
WorkflowOption = Annotated[str | None, typer.Option(help="Only those of a workflow.", metavar="WORKFLOW_ID")]
ReasonOption = Annotated[str | None, typer.Option(help="Only those with an error that begins so.", metavar="TEXT")]
Ids = Annotated[list[str] | None, typer.Argument(help="Ids, from `clarion dead-letters list`.")]
Everything = Annotated[bool, typer.Option("--all", help="All of the environment.")]

_COLUMNS = {
    "id": "Id",
    "diedAt": "Given up",
    "channel": "Channel",
    "providerId": "Provider",
    "subscriberId": "Subscriber",
    "workflowId": "Workflow",
    "attempts": "Attempts",
    "errors": "Why",
}

_MoveOffList = Callable[[Connection, EnvironmentId, DeadLetterFilter, Millis], Awaitable[int]]


@commands.command("list")
@with_installation
def list_dead_letters(  # noqa: PLR0913 - the options of a command
    installation: Installation,
    *,
    environment: EnvironmentName,
    channel: ChannelOption = None,
    provider: ProviderOption = None,
    subscriber: SubscriberOption = None,
    workflow: WorkflowOption = None,
    reason: ReasonOption = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="How many, newest first.")] = 50,
    as_json: AsJson = False,
) -> None:
    """List dead letters with their ids and the last errors."""
    wanted = _filter(channel, provider, subscriber, workflow, reason)

    async def fetch_page(db: Connection) -> OffsetPage[DeadLetter]:
        found = await get_environment(db, environment)
        return await store.list_dead_letters(db, found.id, wanted, page=0, limit=limit)

    page = installation.run(fetch_page)
    rows = [
        (
            id_text(letter.id),
            moment(letter.died_at),
            letter.channel,
            letter.provider_id,
            letter.subscriber_key,
            letter.workflow_key,
            letter.attempts,
            Shown("\n".join(letter.errors) or "–", list(letter.errors)),
        )
        for letter in page.data
    ]
    print_listing(_COLUMNS, rows, as_json=as_json)
    if page.has_more:
        typer.echo("There are more; --limit shows them.", err=True)


@commands.command("redrive")
@with_installation
def redrive_dead_letters(  # noqa: PLR0913 - the options of a command
    installation: Installation,
    *,
    environment: EnvironmentName,
    ids: Ids = None,
    channel: ChannelOption = None,
    provider: ProviderOption = None,
    subscriber: SubscriberOption = None,
    workflow: WorkflowOption = None,
    reason: ReasonOption = None,
    everything: Everything = False,
) -> None:
    """Put dead letters back in the queue with fresh attempts; workers take them within a second."""
    wanted = _select(_filter(channel, provider, subscriber, workflow, reason, ids), everything=everything)
    total = _repeat(installation, environment, wanted, store.redrive_dead_letters)
    wide_console().print(f"Redriven: {total}.")


@commands.command("discard")
@with_installation
def discard_dead_letters(  # noqa: PLR0913 - the options of a command
    installation: Installation,
    *,
    environment: EnvironmentName,
    ids: Ids = None,
    channel: ChannelOption = None,
    provider: ProviderOption = None,
    subscriber: SubscriberOption = None,
    workflow: WorkflowOption = None,
    reason: ReasonOption = None,
    everything: Everything = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Take dead letters off the list; their steps stay failed, and cannot be redriven any more."""
    wanted = _select(_filter(channel, provider, subscriber, workflow, reason, ids), everything=everything)
    count = installation.run(lambda db: _count(db, environment, wanted))
    if count:
        number = f"{count} or more" if count >= store.MAX_COUNTED else str(count)
        confirm(f"Dead letters that cannot be redriven any more: {number}. Discard them?", is_confirmed=yes)
    total = _repeat(installation, environment, wanted, store.discard_dead_letters)
    wide_console().print(f"Discarded: {total}.")


async def _count(db: Connection, environment: str, wanted: DeadLetterFilter) -> int:
    found = await get_environment(db, environment)
    return await store.count_dead_letters(db, found.id, wanted)


def _repeat(installation: Installation, environment: str, wanted: DeadLetterFilter, move: _MoveOffList) -> int:
    """Do it in transactions of a limited size until none is left; returns how many it was done to."""

    async def move_some(db: Connection) -> int:
        found = await get_environment(db, environment)
        return await move(db, found.id, wanted, SystemClock().now())

    total = 0
    while part := installation.run(move_some):
        total += part
        if part < MAX_REDRIVEN:
            break
    return total


def _select(wanted: DeadLetterFilter, *, everything: bool) -> DeadLetterFilter:
    if wanted == DeadLetterFilter() and not everything:
        options = "--channel, --provider, --subscriber, --workflow or --reason"
        raise SettingsError(f"Name the dead letters by id, by {options}, or take --all.")
    return wanted


def _filter(
    channel: Channel | None,
    provider: str | None,
    subscriber: str | None,
    workflow: str | None,
    reason: str | None,
    ids: list[str] | None = None,
) -> DeadLetterFilter:
    return DeadLetterFilter(
        ids=tuple(map(_job_id, ids)) if ids else None,
        channel=channel,
        provider_id=provider,
        subscriber_key=None if subscriber is None else SubscriberKey(subscriber),
        workflow_key=None if workflow is None else WorkflowKey(workflow),
        reason=reason,
    )


def _job_id(text: str) -> JobId:
    job_id = find_id(text)
    if job_id is None:
        raise SettingsError(f"'{text}' is not the id of a dead letter; `clarion dead-letters list` shows them.")
    return JobId(job_id)
