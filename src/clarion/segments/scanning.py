"""Who is in segments: the people of an environment in the order of their ids, some at a time.

What a call reads and decides is limited, so that whoever holds a transaction meanwhile does not hold it for long. It
returns where to go on, also where nobody was found.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Row
from clarion.ids import EnvironmentId, SubscriberId, SubscriberKey
from clarion.segments.condition import NO_FACTS, PersonFacts, SegmentCondition
from clarion.segments.facts import Fetch, list_facts
from clarion.segments.prefilter import Prefilter, join_prefilters, make_prefilter
from clarion.subscribers.model import Subscriber
from clarion.subscribers.store import COLUMNS, subscriber_of
from clarion.work import WorkBudget, spending

MAX_WALKED: Final = 8_192
"""How many people a call passes over in SQL."""
MAX_DECIDED: Final = 1_024
"""For how many of them it evaluates conditions."""
_ROWS: Final = 256
_BYTES_PER_STEP: Final = 512
_FIRST: Final = SubscriberId(bytes(16))
_LAST: Final = SubscriberId(b"\xff" * 16)

_FIND_END = """
    SELECT t.id FROM stored.subscribers AS t WHERE t.environment_id = :environment_id AND t.id > :after
    ORDER BY t.id LIMIT 1 OFFSET :walked
"""
_LIST_PEOPLE = """
    SELECT %(columns)s FROM stored.subscribers AS t
    WHERE t.environment_id = :environment_id AND t.id > :after AND t.id <= :until AND (%(prefilter)s)
    ORDER BY t.id LIMIT :limit
"""


class SegmentPeople(Struct, frozen=True, kw_only=True):
    """One of the segments that are searched together, and who does not count as being in it."""

    condition: SegmentCondition
    exclude: frozenset[SubscriberKey] = frozenset()


class FoundPeople(Struct, frozen=True, kw_only=True):
    people: list[Subscriber]
    position: SubscriberId | None
    """The last one that was decided about; None at the end."""


class SegmentScan:
    """Finds the people who are in at least one of the segments."""

    def __init__(
        self, fetch: Fetch, environment_id: EnvironmentId, segments: Sequence[SegmentPeople], *, now: Millis
    ) -> None:
        self._fetch = fetch
        self._environment_id = environment_id
        self._segments = segments
        self._conditions = [one.condition for one in segments]
        self._now = now
        self._prefilter = _make_prefilter(segments, now)
        self._is_exact = self._prefilter.is_exact and not any(one.exclude for one in segments)
        self._text = _LIST_PEOPLE % {"columns": COLUMNS, "prefilter": self._prefilter.text}

    async def find(self, after: SubscriberId | None, *, limit: int) -> FoundPeople:
        """The next people, up to `limit` of them."""
        people: list[Subscriber] = []
        position, decided = after or _FIRST, 0
        until = await self._find_end(position)
        budget = WorkBudget()
        with spending(budget):
            while len(people) < limit and decided < MAX_DECIDED and not budget.is_unit_done:
                size = min(_ROWS, limit - len(people)) if self._is_exact else _ROWS
                rows = await self._list_rows(position, until, size)
                done, members = await self._decide(rows, limit - len(people), budget)
                people += members
                decided += len(done)
                if len(done) == len(rows) < size:
                    return FoundPeople(people=people, position=None if until == _LAST else until)
                position = done[-1]
        return FoundPeople(people=people, position=position)

    async def _find_end(self, after: SubscriberId) -> SubscriberId:
        """The last person that this call passes over."""
        if self._prefilter.is_indexed:
            return _LAST
        rows = await self._fetch(_FIND_END, environment_id=self._environment_id, after=after, walked=MAX_WALKED - 1)
        return rows[0]["id"] if rows else _LAST

    async def _list_rows(self, after: SubscriberId, until: SubscriberId, limit: int) -> Sequence[Row]:
        parameters: Mapping[str, Any] = self._prefilter.parameters
        scope = {"environment_id": self._environment_id, "after": after, "until": until, "limit": limit}
        return await self._fetch(self._text, **scope, **parameters)

    async def _decide(
        self, rows: Sequence[Row], limit: int, budget: WorkBudget
    ) -> tuple[list[SubscriberId], list[Subscriber]]:
        """Those who are decided about, and those of them who are in a segment."""
        facts = await self._list_facts([row["id"] for row in rows])
        done: list[SubscriberId] = []
        members: list[Subscriber] = []
        for row in rows:
            # The first one is always decided about.
            if row["id"] not in facts or len(members) >= limit or (done and budget.is_unit_done):
                break
            budget.spent += len(row["data"] or "") // _BYTES_PER_STEP
            budget.start_run()
            person = subscriber_of(row)
            if self._is_exact or any(self._includes(one, person, facts[person.id]) for one in self._segments):
                members.append(person)
            done.append(person.id)
        return done, members

    async def _list_facts(self, ids: Sequence[SubscriberId]) -> Mapping[SubscriberId, PersonFacts]:
        if self._is_exact:
            return dict.fromkeys(ids, NO_FACTS)
        return await list_facts(self._fetch, self._environment_id, ids, self._conditions)

    def _includes(self, segment: SegmentPeople, person: Subscriber, facts: PersonFacts) -> bool:
        return person.key not in segment.exclude and segment.condition.includes(person, facts, now=self._now)


def _make_prefilter(segments: Sequence[SegmentPeople], now: Millis) -> Prefilter:
    parts = [make_prefilter(one.condition.logic, now, prefix=f"s{place}") for place, one in enumerate(segments)]
    return join_prefilters(parts)
