"""Dead letters: list and redrive them."""

from clarion.bus import Signal
from clarion.deadletters import store
from clarion.deadletters.model import DeadLetterFilter
from clarion.deadletters.wire import DeadLetterOut, DeadLetterQuery, RedriveIn, RedriveOut
from clarion.errors import Invalid
from clarion.http.operation import Call, Transaction, operation
from clarion.http.pages import OffsetPage
from clarion.ids import JobId, SubscriberKey
from clarion.vocabulary import Scope


@operation("GET", "/v1/dead-letters", scope=Scope.EVENTS_READ, query=DeadLetterQuery, transaction=Transaction.SCAN)
async def list_dead_letters(call: Call, query: DeadLetterQuery) -> OffsetPage[DeadLetterOut]:
    """List sends that were given up after their last attempt, newest first."""
    found = await store.list_dead_letters(
        call.db, call.environment_id, _filter(call, query), page=query.page, limit=query.limit
    )
    return found.with_data([DeadLetterOut.of(one, call.services.names) for one in found.data])


@operation("POST", "/v1/dead-letters/redrive", scope=Scope.EVENTS_WRITE, body=RedriveIn)
async def redrive_dead_letters(call: Call, body: RedriveIn) -> RedriveOut:
    """Put dead letters back in the queue with fresh attempts; later steps of their runs are not run again."""
    wanted = _filter(call, body)
    if wanted == DeadLetterFilter() and not body.all:
        raise Invalid.field("body", 'must have ids, channel, providerId or subscriberId, or "all": true')
    redriven = await store.redrive_dead_letters(call.db, call.environment_id, wanted, call.now)
    call.after_commit.append(lambda: call.services.bus.publish(Signal.WORK))
    return RedriveOut(redriven=redriven, has_more=redriven >= store.MAX_REDRIVEN)


def _filter(call: Call, given: DeadLetterQuery | RedriveIn) -> DeadLetterFilter:
    ids = given.ids if isinstance(given, RedriveIn) else None
    # A built-in name that is not spelled as configured names no provider and matches nothing.
    provider_id = None if given.provider_id is None else call.services.names.from_wire(given.provider_id) or ""
    return DeadLetterFilter(
        ids=None if ids is None else tuple(JobId(one.id) for one in ids),
        channel=given.channel,
        provider_id=provider_id,
        subscriber_key=None if given.subscriber_id is None else SubscriberKey(given.subscriber_id),
    )
