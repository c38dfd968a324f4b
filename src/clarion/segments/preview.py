"""How many people are in a segment at this moment, and some of them."""

from typing import Any, Final

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Database
from clarion.ids import EnvironmentId, SubscriberId
from clarion.segments.condition import SegmentCondition
from clarion.segments.facts import make_fetch
from clarion.segments.scanning import FoundPeople, SegmentPeople, SegmentScan
from clarion.subscribers.model import Subscriber

MAX_SAMPLE: Final = 10
_MAX_CALLS: Final = 24
_MAX_FOUND: Final = 8_192


class SegmentPreview(Struct, frozen=True, kw_only=True):
    count: int
    """Of those who were looked at."""
    sample: list[Subscriber]
    position: SubscriberId | None
    """The last person who was looked at; None if everybody was."""


async def preview_condition(
    database: Database, environment_id: EnvironmentId, condition: Any, *, after: SubscriberId | None, now: Millis
) -> SegmentPreview:
    """Count the people who meet the condition and come behind `after`, as far as one request gets.

    Each part is a transaction of its own, so that others are not held up.
    """
    compiled = SegmentCondition(condition)
    count, sample, position = 0, list[Subscriber](), after
    for _ in range(_MAX_CALLS):
        part = await _find(database, environment_id, compiled, position, now)
        count += len(part.people)
        sample += part.people[: MAX_SAMPLE - len(sample)]
        position = part.position
        if position is None:
            break
    return SegmentPreview(count=count, sample=sample, position=position)


async def _find(
    database: Database,
    environment_id: EnvironmentId,
    condition: SegmentCondition,
    after: SubscriberId | None,
    now: Millis,
) -> FoundPeople:
    segments = [SegmentPeople(condition=condition)]
    return await database.scan(
        lambda db: SegmentScan(make_fetch(db), environment_id, segments, now=now).find(after, limit=_MAX_FOUND)
    )
