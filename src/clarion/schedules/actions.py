"""Creating, changing and deleting schedules. A schedule may only do what its writer could trigger."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.environments.configuration import raise_configuration_version
from clarion.errors import AlreadyExists, Forbidden, Invalid, PayloadInvalid
from clarion.ids import EnvironmentId, ScheduleId, ScheduleKey, new_id
from clarion.schedules import store
from clarion.schedules.model import MAX_SCHEDULES, Timing, TriggerSchedule
from clarion.schedules.moments import find_wake
from clarion.schedules.reading import DEFAULT_FIELDS, ScheduleChanges, check_timing, with_anchor
from clarion.schedules.requests import make_request
from clarion.triggers.actions import check_trigger
from clarion.triggers.recipients import segments_of
from clarion.vocabulary import Scope

_PATHS = {"name": "workflowId"}
"""Fields of triggers that schedules call otherwise."""


class ScheduleWriter(Struct, frozen=True, kw_only=True):
    """Who writes a schedule, and where."""

    environment_id: EnvironmentId
    has_scope: Callable[[Scope], bool]
    now: Millis


class Written(Struct, frozen=True, kw_only=True):
    before: TriggerSchedule | None
    after: TriggerSchedule
    warnings: list[str]
    """About topics that do not exist."""


async def create_schedule(
    db: Connection, writer: ScheduleWriter, key: ScheduleKey, changes: ScheduleChanges
) -> Written:
    # Locks the environment, so that two callers do not exceed the limit together, and no segment is deleted meanwhile.
    await raise_configuration_version(db, writer.environment_id)
    if await store.count_schedules(db, writer.environment_id) >= MAX_SCHEDULES:
        message = f"would be more than {MAX_SCHEDULES} schedules in this environment; delete one"
        raise Invalid.field("identifier", message, key)
    empty = {"starts_at": None, "ends_at": None, "timezone": None, "fallback_timezone": None}
    timing = with_anchor(await _make_timing(db, writer, {**empty, **changes.timing}), writer.now)
    check_timing(timing, writer.now)
    fields: dict[str, Any] = {**DEFAULT_FIELDS, **changes.fields}
    schedule = _begin_anew(
        TriggerSchedule(
            environment_id=writer.environment_id,
            id=ScheduleId(new_id(writer.now)),
            key=key,
            timing=timing,
            done_until=writer.now,
            next_at=None,
            created_at=writer.now,
            updated_at=writer.now,
            **fields,
        ),
        writer.now,
    )
    warnings = await _check(db, writer, schedule)
    if not await store.insert_schedule(db, schedule):
        raise AlreadyExists(f"Schedule '{key}' exists already; change it by PATCH")
    return Written(before=None, after=schedule, warnings=warnings)


async def change_schedule(
    db: Connection, writer: ScheduleWriter, key: ScheduleKey, changes: ScheduleChanges
) -> Written:
    """Write what is given. One whose times change, or which is resumed, goes on from now."""
    await raise_configuration_version(db, writer.environment_id)
    before = await store.get_schedule(db, writer.environment_id, key, for_update=True)
    given = {name: getattr(before.timing, name) for name in Timing.__struct_fields__ if name != "anchor"}
    timing = replace(await _make_timing(db, writer, {**given, **changes.timing}), anchor=before.timing.anchor)
    if timing != before.timing:
        timing = with_anchor(timing, writer.now)
        check_timing(timing, writer.now)
    after = replace(before, timing=timing, **changes.fields)
    if after == before:
        return Written(before=before, after=before, warnings=[])
    after = replace(after, updated_at=writer.now)
    if timing != before.timing or before.paused or before.names_nobody:
        after = _begin_anew(after, writer.now)
    elif after.paused:
        after = replace(after, next_at=None)
    warnings = await _check(db, writer, after)
    await store.update_schedule(db, after)
    return Written(before=before, after=after, warnings=warnings)


async def delete_schedule(db: Connection, environment_id: EnvironmentId, key: ScheduleKey) -> TriggerSchedule:
    """Delete the schedule; what it triggered goes on."""
    schedule = await store.get_schedule(db, environment_id, key, for_update=True)
    await store.delete_schedule(db, schedule)
    return schedule


async def _make_timing(db: Connection, writer: ScheduleWriter, fields: dict[str, Any]) -> Timing:
    zones = {name: fields[name] for name in ("timezone", "fallback_timezone")}
    if None in zones.values():
        default = await store.get_default_timezone(db, writer.environment_id)
        zones = {name: zone or default for name, zone in zones.items()}
    return Timing(**{**fields, **zones, "anchor": writer.now})


def _begin_anew(schedule: TriggerSchedule, now: Millis) -> TriggerSchedule:
    """Go on with the moments behind this one."""
    if schedule.names_nobody and not schedule.paused:
        raise Invalid.field("to", "names nobody any more, because everybody whom it named was erased; give another one")
    next_at = None if schedule.paused else find_wake(schedule.timing, now)
    return replace(schedule, done_until=now, next_at=next_at)


async def _check(db: Connection, writer: ScheduleWriter, schedule: TriggerSchedule) -> list[str]:
    """Raise what a trigger would be refused with now; returns what would be wrong with it otherwise."""
    request = make_request(schedule)
    if segments_of(request.wanted or ()) and not writer.has_scope(Scope.SEGMENTS_READ):
        raise Forbidden(f"The scope '{Scope.SEGMENTS_READ}' is needed for schedules for segments")
    if schedule.contexts and not writer.has_scope(Scope.CONTEXTS_WRITE):
        raise Forbidden(f"The scope '{Scope.CONTEXTS_WRITE}' is needed for schedules with contexts")
    outcome = await check_trigger(db, request, writer.now)
    if isinstance(outcome, Invalid):
        raise Invalid({_PATHS.get(path, path): problems for path, problems in outcome.problems.items()})
    if isinstance(outcome, PayloadInvalid):
        raise outcome
    return outcome.errors
