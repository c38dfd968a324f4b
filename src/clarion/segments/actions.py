"""Creating, changing and deleting segments, for the API and for promotion."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.environments.configuration import raise_configuration_version
from clarion.errors import AlreadyExists, InUse, Invalid
from clarion.ids import EnvironmentId, SegmentKey
from clarion.schedules.store import list_schedules_for_segment
from clarion.segments import store
from clarion.segments.condition import find_problem
from clarion.segments.model import MAX_SEGMENTS, Segment
from clarion.segments.usage import list_users

_MAX_NAMED: Final = 10


def check_condition(condition: Any) -> None:
    problem = find_problem(condition)
    if problem is not None:
        raise Invalid.field("condition", problem)


async def create_segment(
    db: Connection, environment_id: EnvironmentId, key: SegmentKey, fields: Mapping[str, Any], now: Millis
) -> Segment:
    check_condition(fields["condition"])
    # Locks the environment, so that two callers do not exceed the limit together.
    await raise_configuration_version(db, environment_id)
    if await store.count_segments(db, environment_id) >= MAX_SEGMENTS:
        raise Invalid.field("key", f"would be more than {MAX_SEGMENTS} segments in this environment; delete one", key)
    segment = await store.insert_segment(db, environment_id, key, fields, now)
    if segment is None:
        raise AlreadyExists(f"Segment '{key}' exists already; change it by PATCH")
    return segment


async def change_segment(
    db: Connection, environment_id: EnvironmentId, key: SegmentKey, fields: Mapping[str, Any], now: Millis
) -> tuple[Segment, Segment]:
    """Write the fields that are given; returns the segment before and after."""
    if "condition" in fields:
        check_condition(fields["condition"])
    await raise_configuration_version(db, environment_id)
    before = await store.get_segment(db, environment_id, key, for_update=True)
    return before, await store.update_segment(db, before, fields, now)


async def delete_segment(db: Connection, environment_id: EnvironmentId, key: SegmentKey) -> Segment:
    """Delete the segment; raises InUse if workflows or schedules refer to it.

    Triggers that were accepted before have its condition, and still reach its people.
    """
    # Locks the environment, so that nothing comes to refer to it meanwhile.
    await raise_configuration_version(db, environment_id)
    segment = await store.get_segment(db, environment_id, key, for_update=True)
    workflows = [user.workflow.key for user in await list_users(db, environment_id, key)]
    schedules = [user.key for user in await list_schedules_for_segment(db, environment_id, key)]
    uses = [*_list_uses("conditions of the workflows", workflows), *_list_uses("the schedules", schedules)]
    if uses:
        raise InUse(f"Segment '{key}' is used by {' and by '.join(uses)}; take it out of these first")
    await store.delete_segment(db, segment)
    return segment


def _list_uses(what: str, names: Sequence[str]) -> list[str]:
    """What uses it in words, if anything."""
    named = ", ".join(f"'{name}'" for name in names[:_MAX_NAMED])
    more = f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
    return [f"{what} {named}{more}"] if names else []
