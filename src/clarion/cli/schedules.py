"""`clarion schedules`: what is triggered again and again, and when."""

from typing import Annotated

import typer

from clarion.audit.model import Action
from clarion.audit.recording import record
from clarion.cli.installation import (
    Installation,
    command_line_author,
    get_environment,
    print_line,
    with_installation,
)
from clarion.cli.listing import AsJson, moment, print_listing
from clarion.cli.options import EnvironmentName
from clarion.clock import Millis, SystemClock
from clarion.db.port import Connection
from clarion.ids import ScheduleId, ScheduleKey
from clarion.schedules import actions, store
from clarion.schedules.model import ScheduleRun, TriggerSchedule
from clarion.schedules.moments import list_moments
from clarion.schedules.reading import ScheduleChanges

commands = typer.Typer(help="Look at schedules and what they did, pause and resume them.", no_args_is_help=True)

Identifier = Annotated[str, typer.Argument(help="The identifier of the schedule.", metavar="IDENTIFIER")]

_COLUMNS = {
    "identifier": "Identifier",
    "name": "Name",
    "workflowId": "Workflow",
    "rule": "Rule",
    "timezone": "Time zone",
    "status": "Status",
    "nextAt": "Next",
    "lastMoment": "Last",
    "trouble": "Trouble",
}
_RUN_COLUMNS = {
    "moment": "Moment",
    "at": "Done",
    "timezone": "Time zone",
    "transactionId": "Transaction",
    "people": "People",
    "trouble": "Trouble",
}
_MAX_COUNTED = 10_000


@commands.command("list")
@with_installation
def list_schedules(installation: Installation, *, environment: EnvironmentName, as_json: AsJson = False) -> None:
    """List the schedules of an environment with their next moments and what they did last."""
    now = SystemClock().now()

    async def fetch(db: Connection) -> tuple[list[TriggerSchedule], dict[ScheduleId, ScheduleRun]]:
        environment_id = (await get_environment(db, environment)).id
        schedules = await store.list_schedules(db, environment_id)
        return schedules, await store.list_last_runs(db, environment_id, [one.id for one in schedules])

    schedules, last = installation.run(fetch)
    print_listing(_COLUMNS, [_row_of(one, last.get(one.id), now) for one in schedules], as_json=as_json)


@commands.command("runs")
@with_installation
def list_runs(
    installation: Installation,
    *,
    identifier: Identifier,
    environment: EnvironmentName,
    limit: Annotated[int, typer.Option(min=1, max=200, help="How many, newest first.")] = 20,
    as_json: AsJson = False,
) -> None:
    """What a schedule did last, with how many people got a run."""

    async def fetch(db: Connection) -> list[tuple[ScheduleRun, int]]:
        found = await get_environment(db, environment)
        schedule = await store.get_schedule(db, found.id, ScheduleKey(identifier))
        return await store.list_runs(db, schedule, limit=limit, max_people=_MAX_COUNTED)

    rows = [
        (moment(run.moment), moment(run.at), run.timezone or None, run.transaction_key, people, run.trouble)
        for run, people in installation.run(fetch)
    ]
    print_listing(_RUN_COLUMNS, rows, as_json=as_json)


@commands.command("pause")
@with_installation
def pause(installation: Installation, *, identifier: Identifier, environment: EnvironmentName) -> None:
    """Let a schedule do nothing until it is resumed."""
    _set_paused(installation, environment, identifier, paused=True)
    print_line(f"'{identifier}' is paused.")


@commands.command("resume")
@with_installation
def resume(installation: Installation, *, identifier: Identifier, environment: EnvironmentName) -> None:
    """Let a paused schedule go on; what passed meanwhile is not made up for."""
    _set_paused(installation, environment, identifier, paused=False)
    print_line(f"'{identifier}' goes on.")


def _set_paused(installation: Installation, environment: str, identifier: str, *, paused: bool) -> None:
    now = SystemClock().now()

    async def change(db: Connection) -> None:
        environment_id = (await get_environment(db, environment)).id
        writer = actions.ScheduleWriter(environment_id=environment_id, has_scope=lambda _: True, now=now)
        changes = ScheduleChanges(fields={"paused": paused}, timing={})
        written = await actions.change_schedule(db, writer, ScheduleKey(identifier), changes)
        author = command_line_author()
        await record(db, Action.SCHEDULE_UPDATE, author, now, before=written.before, after=written.after)

    installation.run(change)


def _row_of(schedule: TriggerSchedule, last: ScheduleRun | None, now: Millis) -> tuple[object, ...]:
    timing = schedule.timing
    after = max(schedule.done_until, now)
    next_at = None if schedule.next_at is None else next(list_moments(timing, after, timing.shown_timezone), None)
    return (
        schedule.key,
        schedule.name,
        schedule.workflow,
        timing.cron or timing.rrule,
        timing.timezone,
        schedule.status,
        moment(next_at),
        moment(None if last is None else last.moment),
        None if last is None else last.trouble,
    )
