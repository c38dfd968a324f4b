"""The people of a simulation: the first recipients of the trigger are copied, and all are counted."""

from collections.abc import Collection, Sequence

from msgspec import Struct, UnsetType
from msgspec.structs import replace

from clarion.db.port import Sandbox
from clarion.ids import EnvironmentId, SubscriberId, SubscriberKey, TopicId, TopicKey
from clarion.simulate import store
from clarion.topics.store import list_topics_by_key
from clarion.triggers.actions import TriggerRequest
from clarion.triggers.model import Person
from clarion.triggers.recipients import people_of, topics_of


class Gathered(Struct, frozen=True, kw_only=True):
    request: TriggerRequest
    """Naming only people who are shown."""
    people: Sequence[SubscriberId]
    """Those who are copied."""
    topics: Sequence[TopicId]
    total: int
    """How many people the trigger is for."""


class _Topic(Struct, frozen=True):
    id: TopicId
    excluded: Collection[SubscriberId]


async def gather_people(db: Sandbox, request: TriggerRequest, limit: int) -> Gathered:
    """Copy up to `limit` recipients, in the order in which they get runs, and the actor."""
    environment_id, wanted = request.environment_id, request.wanted or []
    named = people_of(wanted)
    shown = {one.key for one in named[:limit]}
    actor = set() if request.actor is None else {request.actor.key}
    await store.copy_people(db, environment_id, shown | actor)
    topics = await _list_topics(db, request)
    named_ids = await store.list_ids(db, environment_id, {one.key for one in named})
    await _copy_members(db, environment_id, topics, set(named_ids.values()), limit=limit - len(named))
    others = await store.count_members(
        db, environment_id, [(one.id, {*one.excluded, *named_ids.values()}) for one in topics]
    )
    return Gathered(
        request=replace(request, wanted=[one for one in wanted if not isinstance(one, Person) or one.key in shown]),
        people=list((await store.list_people(db, environment_id)).values()),
        topics=[one.id for one in topics],
        total=len(named) + others,
    )


async def _list_topics(db: Sandbox, request: TriggerRequest) -> list[_Topic]:
    """The topics that exist, with those who get nothing through them: the excluded ones and the actor."""
    wanted = topics_of(request.wanted or [])
    keys = [TopicKey(one.topic_key) for one in wanted]
    known = await list_topics_by_key(db, request.environment_id, keys) if keys else {}
    actor = [] if request.actor is None else [request.actor.key]
    excluded = [
        [*actor, *(() if isinstance(one.exclude, UnsetType) else (SubscriberKey(str(key)) for key in one.exclude))]
        for one in wanted
    ]
    ids = await store.list_ids(db, request.environment_id, {key for some in excluded for key in some})
    return [
        _Topic(known[key].id, {ids[one] for one in without if one in ids})
        for key, without in zip(keys, excluded, strict=True)
        if key in known
    ]


async def _copy_members(
    db: Sandbox, environment_id: EnvironmentId, topics: Sequence[_Topic], named: set[SubscriberId], *, limit: int
) -> None:
    room, here = limit, set(named)
    for one in topics:
        if room <= 0:
            return
        copied = await store.copy_members(db, environment_id, one.id, excluded={*one.excluded, *here}, limit=room)
        room -= copied
        here |= set((await store.list_people(db, environment_id)).values())
