"""Segments: create, list, read, change, delete, and who is in them now."""

from functools import partial

from clarion.audit.model import Action
from clarion.audit.recording import record_request
from clarion.errors import Malformed
from clarion.http.operation import Call, DetachedCall, Transaction, operation
from clarion.http.pages import CursorPage, list_cursor_page
from clarion.http.wire import changes_of
from clarion.ids import SegmentKey, SubscriberId, find_id
from clarion.schedules.store import list_schedules_for_segment
from clarion.segments import actions, store
from clarion.segments.preview import preview_condition
from clarion.segments.usage import list_users, list_waiting_triggers
from clarion.segments.wire import (
    Condition,
    SegmentIn,
    SegmentOut,
    SegmentPatch,
    SegmentPreviewIn,
    SegmentPreviewOut,
    SegmentPreviewQuery,
    SegmentQuery,
    SegmentScheduleOut,
    SegmentTriggerOut,
    SegmentUsageOut,
    SegmentUserOut,
)
from clarion.settings.rate_limits import LimitCategory
from clarion.vocabulary import Scope

_SHOWN = (Scope.SUBSCRIBERS_READ, Scope.TOPICS_READ)
"""Whoever chooses a condition and learns who meets it, can find out every field of people and their topics."""


@operation(
    "POST",
    "/v1/segments",
    scope=Scope.SEGMENTS_WRITE,
    status=201,
    body=SegmentIn,
    limit=LimitCategory.CONFIGURATION,
)
async def create_segment(call: Call, body: SegmentIn) -> SegmentOut:
    """Create a segment: the people who meet a condition, at any moment."""
    fields = changes_of(body, "name", "description", "condition")
    made = await actions.create_segment(call.db, call.environment_id, SegmentKey(body.key), fields, call.now)
    await record_request(call, Action.SEGMENT_CREATE, after=made)
    return SegmentOut.of(made)


@operation("GET", "/v1/segments", scope=Scope.SEGMENTS_READ, query=SegmentQuery, transaction=Transaction.SCAN)
async def list_segments(call: Call, query: SegmentQuery) -> CursorPage[SegmentOut]:
    """List segments, newest first."""
    listing = store.segments_listing(call.environment_id, search=query.search)
    return await list_cursor_page(call.db, listing, query, lambda row: SegmentOut.of(store.segment_of(row)))


@operation("GET", "/v1/segments/{segmentKey}", scope=Scope.SEGMENTS_READ)
async def get_segment(call: Call, segment_key: SegmentKey) -> SegmentOut:
    """Retrieve a segment."""
    return SegmentOut.of(await store.get_segment(call.db, call.environment_id, segment_key))


@operation(
    "PATCH",
    "/v1/segments/{segmentKey}",
    scope=Scope.SEGMENTS_WRITE,
    body=SegmentPatch,
    limit=LimitCategory.CONFIGURATION,
)
async def update_segment(call: Call, segment_key: SegmentKey, body: SegmentPatch) -> SegmentOut:
    """Change a segment; triggers that were accepted before keep the condition of then."""
    fields = changes_of(body, "name", "description", "condition")
    if not fields:
        raise Malformed("At least one field must be provided to update: name, description or condition")
    before, after = await actions.change_segment(call.db, call.environment_id, segment_key, fields, call.now)
    await record_request(call, Action.SEGMENT_UPDATE, before=before, after=after)
    return SegmentOut.of(after)


@operation(
    "DELETE",
    "/v1/segments/{segmentKey}",
    scope=Scope.SEGMENTS_WRITE,
    status=204,
    limit=LimitCategory.CONFIGURATION,
)
async def delete_segment(call: Call, segment_key: SegmentKey) -> None:
    """Delete a segment that neither a condition of a workflow nor a schedule refers to; the people stay.

    Triggers that were accepted before keep its condition, and still reach them.
    """
    deleted = await actions.delete_segment(call.db, call.environment_id, segment_key)
    await record_request(call, Action.SEGMENT_DELETE, before=deleted)


@operation(
    "GET",
    "/v1/segments/{segmentKey}/usage",
    scope=Scope.SEGMENTS_READ,
    also=(Scope.WORKFLOWS_READ, Scope.EVENTS_READ, Scope.SCHEDULES_READ),
    transaction=Transaction.SCAN,
)
async def get_segment_usage(call: Call, segment_key: SegmentKey) -> SegmentUsageOut:
    """List the workflows and schedules that refer to a segment, and triggers that have not come to all its people."""
    segment = await store.get_segment(call.db, call.environment_id, segment_key)
    users = await list_users(call.db, call.environment_id, segment.key)
    schedules = await list_schedules_for_segment(call.db, call.environment_id, segment.key)
    triggers = await list_waiting_triggers(call.db, call.environment_id, segment.key)
    return SegmentUsageOut(
        workflows=[SegmentUserOut.of(user) for user in users],
        schedules=[SegmentScheduleOut.of(one) for one in schedules],
        triggers=[SegmentTriggerOut.of(trigger) for trigger in triggers],
    )


@operation(
    "POST",
    "/v1/segments/preview",
    scope=Scope.SEGMENTS_READ,
    also=_SHOWN,
    body=SegmentPreviewIn,
    transaction=Transaction.NONE,
    limit=LimitCategory.CONFIGURATION,
)
async def preview_segment_condition(call: DetachedCall, body: SegmentPreviewIn) -> SegmentPreviewOut:
    """Count who meets a condition now, and show some of them; nothing is stored.

    One request looks at some ten thousand people; `next` says where another goes on.
    """
    actions.check_condition(body.condition)
    return await _preview(call, body.condition, str(body.after) if body.after else None)


@operation(
    "GET",
    "/v1/segments/{segmentKey}/preview",
    scope=Scope.SEGMENTS_READ,
    also=_SHOWN,
    query=SegmentPreviewQuery,
    transaction=Transaction.NONE,
    limit=LimitCategory.CONFIGURATION,
)
async def preview_segment(call: DetachedCall, segment_key: SegmentKey, query: SegmentPreviewQuery) -> SegmentPreviewOut:
    """Count who is in a segment now, and show some of them."""
    read = partial(store.get_segment, environment_id=call.environment_id, key=segment_key)
    segment = await call.database.read(read)
    return await _preview(call, segment.condition, query.after)


async def _preview(call: DetachedCall, condition: Condition, after: str | None) -> SegmentPreviewOut:
    position = None if after is None else find_id(str(after))
    last = None if position is None else SubscriberId(position)
    preview = await preview_condition(call.database, call.environment_id, condition, after=last, now=call.now)
    return SegmentPreviewOut.of(preview)
