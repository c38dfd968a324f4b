"""Whether single people are in segments."""

from collections.abc import Mapping, Sequence

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.ids import SegmentKey, SubscriberId
from clarion.segments.condition import SegmentCondition
from clarion.segments.facts import list_facts, make_fetch
from clarion.subscribers.model import Subscriber


async def decide_memberships(
    db: Connection, people: Sequence[Subscriber], conditions: Mapping[SegmentKey, SegmentCondition], now: Millis
) -> dict[SubscriberId, dict[SegmentKey, bool]]:
    """Whether each of the people, who are of one environment, is in each of the segments."""
    decided: dict[SubscriberId, dict[SegmentKey, bool]] = {}
    left = list({one.id: one for one in people}.values())
    while left and conditions:
        ids = [one.id for one in left]
        facts = await list_facts(make_fetch(db), left[0].environment_id, ids, list(conditions.values()))
        for person in left[: len(facts)]:
            found = facts[person.id]
            decided[person.id] = {key: one.includes(person, found, now=now) for key, one in conditions.items()}
        left = left[len(facts) :]
    return decided
