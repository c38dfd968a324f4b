"""Schedules: create, list, read, change, delete, and what they did."""

from collections.abc import Mapping
from functools import partial
from itertools import islice

from msgspec import UNSET

from clarion.audit.model import Action
from clarion.audit.recording import record_request
from clarion.bus import Signal
from clarion.clock import Millis, iso_text
from clarion.errors import Malformed
from clarion.http.input.unknown import InputWarning
from clarion.http.operation import Call, DetachedCall, Transaction, operation
from clarion.http.pages import CursorPage, list_cursor_page
from clarion.http.wire import given
from clarion.ids import ScheduleId, ScheduleKey
from clarion.schedules import actions, store
from clarion.schedules.model import SHOWN_MOMENTS, ScheduleRun, ScheduleStatus, TriggerSchedule
from clarion.schedules.moments import list_moments
from clarion.schedules.preview import preview_schedule as count_people
from clarion.schedules.reading import read_changes
from clarion.schedules.wire import (
    CountedScheduleRunOut,
    ScheduleIn,
    ScheduleMomentOut,
    SchedulePatch,
    SchedulePreviewItemOut,
    SchedulePreviewOut,
    ScheduleQuery,
    ScheduleRunsOut,
    ScheduleRunsQuery,
    TriggerScheduleOut,
)
from clarion.settings.rate_limits import LimitCategory
from clarion.times.spans import local_time, zone_of
from clarion.vocabulary import Scope

_MAX_COUNTED = 10_000


@operation(
    "POST",
    "/v1/schedules",
    scope=Scope.SCHEDULES_WRITE,
    also=(Scope.EVENTS_WRITE,),
    status=201,
    body=ScheduleIn,
    limit=LimitCategory.CONFIGURATION,
)
async def create_schedule(call: Call, body: ScheduleIn) -> TriggerScheduleOut:
    """Create a schedule: it triggers a workflow at the moments of a rule."""
    written = await actions.create_schedule(call.db, _writer(call), ScheduleKey(body.identifier), read_changes(body))
    await record_request(call, Action.SCHEDULE_CREATE, after=written.after)
    return _announce(call, written)


@operation("GET", "/v1/schedules", scope=Scope.SCHEDULES_READ, query=ScheduleQuery, transaction=Transaction.SCAN)
async def list_schedules(call: Call, query: ScheduleQuery) -> CursorPage[TriggerScheduleOut]:
    """List schedules with their next moments and their last runs, newest first."""
    listing = store.schedules_listing(call.environment_id, search=query.search)
    page = await list_cursor_page(call.db, listing, query, store.schedule_of)
    last = await store.list_last_runs(call.db, call.environment_id, [one.id for one in page.data])
    return page.with_data([_show(one, last, call.now) for one in page.data])


@operation("GET", "/v1/schedules/{scheduleKey}", scope=Scope.SCHEDULES_READ)
async def get_schedule(call: Call, schedule_key: ScheduleKey) -> TriggerScheduleOut:
    """Retrieve a schedule."""
    schedule = await store.get_schedule(call.db, call.environment_id, schedule_key)
    return _show(schedule, await store.list_last_runs(call.db, call.environment_id, [schedule.id]), call.now)


@operation(
    "PATCH",
    "/v1/schedules/{scheduleKey}",
    scope=Scope.SCHEDULES_WRITE,
    also=(Scope.EVENTS_WRITE,),
    body=SchedulePatch,
    limit=LimitCategory.CONFIGURATION,
)
async def update_schedule(call: Call, schedule_key: ScheduleKey, body: SchedulePatch) -> TriggerScheduleOut:
    """Change, pause or resume a schedule; with other times, or resumed, it goes on from now."""
    if all(getattr(body, name) is UNSET for name in body.__struct_fields__):
        raise Malformed("At least one field must be provided to update")
    written = await actions.change_schedule(call.db, _writer(call), schedule_key, read_changes(body))
    await record_request(call, Action.SCHEDULE_UPDATE, before=written.before, after=written.after)
    return _announce(call, written, await store.list_last_runs(call.db, call.environment_id, [written.after.id]))


@operation(
    "DELETE",
    "/v1/schedules/{scheduleKey}",
    scope=Scope.SCHEDULES_WRITE,
    status=204,
    limit=LimitCategory.CONFIGURATION,
)
async def delete_schedule(call: Call, schedule_key: ScheduleKey) -> None:
    """Delete a schedule; what it triggered goes on."""
    deleted = await actions.delete_schedule(call.db, call.environment_id, schedule_key)
    await record_request(call, Action.SCHEDULE_DELETE, before=deleted)


@operation(
    "GET",
    "/v1/schedules/{scheduleKey}/runs",
    scope=Scope.SCHEDULES_READ,
    also=(Scope.EVENTS_READ,),
    query=ScheduleRunsQuery,
    transaction=Transaction.SCAN,
)
async def list_schedule_runs(call: Call, schedule_key: ScheduleKey, query: ScheduleRunsQuery) -> ScheduleRunsOut:
    """List what a schedule did last, with how many people have a run of it."""
    schedule = await store.get_schedule(call.db, call.environment_id, schedule_key)
    runs = await store.list_runs(call.db, schedule, limit=query.limit, max_people=_MAX_COUNTED + 1)
    return ScheduleRunsOut(
        data=[CountedScheduleRunOut.counted(run, people, limit=_MAX_COUNTED) for run, people in runs]
    )


@operation(
    "GET",
    "/v1/schedules/{scheduleKey}/preview",
    scope=Scope.SCHEDULES_READ,
    also=(Scope.SUBSCRIBERS_READ, Scope.TOPICS_READ, Scope.SEGMENTS_READ),
    transaction=Transaction.NONE,
    limit=LimitCategory.CONFIGURATION,
)
async def preview_schedule(call: DetachedCall, schedule_key: ScheduleKey) -> SchedulePreviewOut:
    """Tell who would get what a schedule triggers next, and when: in each time zone, with counts of people of now."""
    read = partial(store.get_schedule, environment_id=call.environment_id, key=schedule_key)
    preview = await count_people(call.database, await call.database.read(read), call.now)
    return SchedulePreviewOut(
        zones=[
            SchedulePreviewItemOut(
                timezone=given(zone.timezone),
                at=iso_text(zone.moment),
                local=_local_text(zone.moment, zone.shown_timezone),
                people=zone.people,
            )
            for zone in preview.zones
        ],
        is_whole=preview.is_whole,
    )


def _writer(call: Call) -> actions.ScheduleWriter:
    return actions.ScheduleWriter(environment_id=call.environment_id, has_scope=call.caller.has_scope, now=call.now)


def _announce(
    call: Call, written: actions.Written, last: Mapping[ScheduleId, ScheduleRun] | None = None
) -> TriggerScheduleOut:
    """Let the service look at its next moment, and warn of what a trigger would be warned of."""
    call.warnings += [InputWarning("to", f"may not reach all: {problem}") for problem in written.warnings]
    bus = call.services.bus
    call.after_commit.append(lambda: bus.publish(Signal.WORK))
    return _show(written.after, last or {}, call.now)


def _show(schedule: TriggerSchedule, last: Mapping[ScheduleId, ScheduleRun], now: Millis) -> TriggerScheduleOut:
    timing = schedule.timing
    zone = timing.shown_timezone
    is_active = schedule.status is ScheduleStatus.ACTIVE
    moments = islice(list_moments(timing, max(schedule.done_until, now), zone), SHOWN_MOMENTS) if is_active else ()
    shown = [ScheduleMomentOut(at=iso_text(moment), local=_local_text(moment, zone)) for moment in moments]
    return TriggerScheduleOut.of(schedule, shown, last.get(schedule.id))


def _local_text(moment: Millis, zone: str) -> str:
    return local_time(moment, zone_of(zone)).isoformat(timespec="minutes")
