"""The people of segments that a simulation is for: the first ones are copied, and all are counted up to a limit."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Sandbox
from clarion.ids import SegmentKey, SubscriberId
from clarion.segments.condition import SegmentCondition
from clarion.segments.scanning import SegmentPeople, SegmentScan
from clarion.segments.store import list_segments_by_key
from clarion.simulate import store
from clarion.simulate.model import MAX_COUNTED
from clarion.triggers.recipients import excluded_of, segments_of
from clarion.triggers.requests import TriggerRequest

_MAX_CALLS: Final = 24
"""Of the scan, each of which looks at some people."""


class SegmentCount(Struct, frozen=True, kw_only=True):
    total: int = 0
    is_whole: bool = True
    """Whether everybody was looked at."""
    reads_topics: bool = False
    """Whether the conditions ask for topics of people."""


async def copy_segment_people(
    db: Sandbox,
    request: TriggerRequest,
    topics: tuple[store.TopicScope, Sequence[store.ReachedMembers]],
    named: set[SubscriberId],
    *,
    limit: int,
    now: Millis,
) -> SegmentCount:
    """Copy up to `limit` of those whom the trigger reaches through segments alone, and count all of them."""
    segments = await _list_segments(db, request)
    if not segments:
        return SegmentCount()
    scan = SegmentScan(db.fetch_stored, request.environment_id, segments, now=now)
    total, room, position = 0, limit, None
    for _ in range(_MAX_CALLS):
        part = await scan.find(position, limit=MAX_COUNTED)
        ids = [one.id for one in part.people if one.id not in named]
        ids = await store.list_unreached(db, *topics, ids)
        await store.copy_people_by_id(db, request.environment_id, ids[: max(room, 0)])
        total, room, position = total + len(ids), room - len(ids), part.position
        if position is None or total > MAX_COUNTED:
            break
    reads_topics = any(one.condition.reads_topics for one in segments)
    return SegmentCount(total=total, is_whole=position is None, reads_topics=reads_topics)


async def _list_segments(db: Sandbox, request: TriggerRequest) -> list[SegmentPeople]:
    """Those that exist; the trigger is refused for the others."""
    wanted = segments_of(request.wanted or ())
    known = await list_segments_by_key(db, request.environment_id, [SegmentKey(one.segment_key) for one in wanted])
    actor = [] if request.actor is None else [request.actor.key]
    return [
        SegmentPeople(
            condition=SegmentCondition(known[SegmentKey(entry.segment_key)].condition),
            exclude=frozenset((*actor, *excluded_of(entry))),
        )
        for entry in wanted
        if entry.segment_key in known
    ]
