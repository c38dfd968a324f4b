"""Who would get what a schedule triggers next, and when: its next moment in each time zone, with counts of people.

Each part is a transaction of its own, so that others are not held up.
"""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from msgspec import Struct

from clarion.clock import Millis
from clarion.contexts.model import stored_contexts
from clarion.db.port import Connection, Database, Row
from clarion.db.query import sql
from clarion.ids import EnvironmentId, SegmentKey, SubscriberId, SubscriberKey, TopicKey
from clarion.schedules.model import TriggerSchedule
from clarion.schedules.moments import next_moment
from clarion.schedules.requests import list_people, read_wanted
from clarion.segments.condition import SegmentCondition
from clarion.segments.facts import make_fetch
from clarion.segments.scanning import FoundPeople, SegmentPeople, SegmentScan
from clarion.segments.store import list_segments_by_key
from clarion.subscribers.store import list_subscribers_by_key
from clarion.topics.store import list_topics_by_key
from clarion.triggers.recipients import Wanted, excluded_of, segments_of, topics_of

MAX_COUNTED: Final = 10_000
_MAX_CALLS: Final = 24

LIST_EVERYONE = sql("""
    SELECT t.id, t.key, t.timezone FROM subscribers AS t WHERE t.environment_id = :environment_id
    ORDER BY t.id LIMIT :limit
""")
LIST_MEMBERS = sql("""
    SELECT t.id, t.key, t.timezone FROM topic_subscriptions AS m
    JOIN subscribers AS t ON t.environment_id = m.environment_id AND t.id = m.subscriber_id
    WHERE m.environment_id = :environment_id AND m.topic_id = :topic_id
    AND (m.context_keys IS NULL OR m.context_keys = :context_keys)
    ORDER BY m.subscriber_id LIMIT :limit
""")


class ZonePreview(Struct, frozen=True, kw_only=True):
    """The next moment of the people in a time zone."""

    moment: Millis
    timezone: str | None
    """None: of all people, or of those without one."""
    shown_timezone: str
    people: int


class SchedulePreview(Struct, frozen=True, kw_only=True):
    zones: list[ZonePreview]
    """In the order of their moments."""
    is_whole: bool
    """Whether all people were counted."""


class _ZonesOfPeople:
    """The people who were found, each once, with their zones."""

    def __init__(self) -> None:
        self.zones: dict[SubscriberId, str | None] = {}
        self.unknown = 0
        """How many are named and do not exist yet."""
        self.is_whole = True

    def add(self, people: dict[SubscriberId, str | None]) -> None:
        self.zones |= people
        if len(self.zones) > MAX_COUNTED:
            self.zones = dict(list(self.zones.items())[:MAX_COUNTED])
            self.is_whole = False


async def preview_schedule(database: Database, schedule: TriggerSchedule, now: Millis) -> SchedulePreview:
    """Count people by zone as they are now; a zone without any is left out."""
    counted = _ZonesOfPeople()
    wanted = read_wanted(schedule)
    await database.scan(partial(_count_listed, schedule=schedule, wanted=wanted, counted=counted))
    if wanted is not None and segments_of(wanted):
        await _count_segments(database, schedule.environment_id, wanted, counted, now)
    timing = schedule.timing
    by_zone: Counter[str | None] = Counter(counted.zones.values())
    by_zone[None] += counted.unknown
    if not timing.is_of_person:
        by_zone = Counter({None: by_zone.total()})
    after = max(schedule.done_until, now)
    zones = [_preview_zone(schedule, zone, people, after) for zone, people in by_zone.items() if people]
    known = [zone for zone in zones if zone is not None]
    return SchedulePreview(zones=sorted(known, key=_order_of), is_whole=counted.is_whole)


def _order_of(zone: ZonePreview) -> tuple[Millis, str]:
    return zone.moment, zone.timezone or ""


def _preview_zone(schedule: TriggerSchedule, zone: str | None, people: int, after: Millis) -> ZonePreview | None:
    shown = zone or schedule.timing.shown_timezone
    moment = None if schedule.next_at is None else next_moment(schedule.timing, after, shown)
    if moment is None:
        return None
    return ZonePreview(moment=moment, timezone=zone, shown_timezone=shown, people=people)


async def _count_listed(
    db: Connection, *, schedule: TriggerSchedule, wanted: Wanted | None, counted: _ZonesOfPeople
) -> None:
    """Everyone, or the people who are named and the members of topics."""
    scope: dict[str, Any] = {"environment_id": schedule.environment_id, "limit": MAX_COUNTED + 1}
    if wanted is None:
        counted.add(_zones_of(await db.fetch(LIST_EVERYONE, **scope)))
        return
    named = list_people(schedule)
    people = await list_subscribers_by_key(db, schedule.environment_id, named) if named else {}
    counted.add({person.id: person.timezone for person in people.values()})
    counted.unknown = len({*named} - people.keys())
    targets = topics_of(wanted)
    keys = [TopicKey(target.topic_key) for target in targets]
    topics = await list_topics_by_key(db, schedule.environment_id, keys) if keys else {}
    context_keys = stored_contexts(schedule.contexts)
    for target in targets:
        topic = topics.get(TopicKey(target.topic_key))
        if topic is not None:
            rows = await db.fetch(LIST_MEMBERS, **scope, topic_id=topic.id, context_keys=context_keys)
            counted.add(_zones_of(rows, excluded_of(target)))


async def _count_segments(
    database: Database, environment_id: EnvironmentId, wanted: Wanted, counted: _ZonesOfPeople, now: Millis
) -> None:
    targets = segments_of(wanted)
    keys = [SegmentKey(target.segment_key) for target in targets]
    known = await database.read(partial(list_segments_by_key, environment_id=environment_id, keys=keys))
    segments = [
        SegmentPeople(
            condition=SegmentCondition(known[SegmentKey(target.segment_key)].condition),
            exclude=frozenset(excluded_of(target)),
        )
        for target in targets
        if target.segment_key in known
    ]
    position: SubscriberId | None = None
    for _ in range(_MAX_CALLS if segments else 0):
        page = await database.scan(partial(_find, environment_id, segments, position, now))
        counted.add({person.id: person.timezone for person in page.people})
        position = page.position
        if position is None or not counted.is_whole:
            break
    counted.is_whole = counted.is_whole and position is None


async def _find(
    environment_id: EnvironmentId,
    segments: list[SegmentPeople],
    after: SubscriberId | None,
    now: Millis,
    db: Connection,
) -> FoundPeople:
    return await SegmentScan(make_fetch(db), environment_id, segments, now=now).find(after, limit=MAX_COUNTED)


def _zones_of(rows: Sequence[Row], excluded: Sequence[SubscriberKey] = ()) -> dict[SubscriberId, str | None]:
    return {row["id"]: row["timezone"] for row in rows if row["key"] not in excluded}
