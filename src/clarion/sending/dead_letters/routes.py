"""Dead letters: list, count, show, redrive and discard them."""

from clarion.bus import Signal
from clarion.errors import Invalid, NotFound
from clarion.http.operation import Call, Transaction, operation
from clarion.http.pages import OffsetPage
from clarion.ids import JobId, SubscriberKey, WorkflowKey, id_text
from clarion.runs.notifications.wire import ExecutionDetailOut
from clarion.sending.dead_letters import store
from clarion.sending.dead_letters.model import MAX_REDRIVEN, DeadLetterFilter, DeadLetterGrouping
from clarion.sending.dead_letters.wire import (
    DeadLetterCountQuery,
    DeadLetterCountsOut,
    DeadLetterDetailOut,
    DeadLetterFilters,
    DeadLetterGroupOut,
    DeadLetterOut,
    DeadLetterQuery,
    DeadLetterSelection,
    DiscardOut,
    RedriveResultOut,
    UnsentMessageOut,
)
from clarion.vocabulary import Scope

SECTION = "Deadletters"

_MAX_GROUPS = 100


@operation("GET", "/v1/dead-letters", scope=Scope.EVENTS_READ, query=DeadLetterQuery, transaction=Transaction.SCAN)
async def list_dead_letters(call: Call, query: DeadLetterQuery) -> OffsetPage[DeadLetterOut]:
    """List sends that were given up after their last attempt, newest first."""
    page = await store.list_dead_letters(
        call.db, call.environment_id, _filter(call, query), page=query.page, limit=query.limit
    )
    return page.with_data([DeadLetterOut.of(one, call.services.names) for one in page.data])


@operation(
    "GET",
    "/v1/dead-letters/counts",
    scope=Scope.EVENTS_READ,
    query=DeadLetterCountQuery,
    transaction=Transaction.SCAN,
)
async def count_dead_letters(call: Call, query: DeadLetterCountQuery) -> DeadLetterCountsOut:
    """Count dead letters by reason, provider, workflow or channel."""
    counts, total = await store.count_groups(call.db, call.environment_id, _filter(call, query), query.group_by)
    if query.group_by is DeadLetterGrouping.PROVIDER:
        counts = type(counts)({call.services.names.to_wire(one): count for one, count in counts.items()})
    largest = counts.most_common(_MAX_GROUPS)
    return DeadLetterCountsOut(
        group_by=query.group_by,
        groups=[DeadLetterGroupOut(value=value, count=count) for value, count in largest],
        has_more_groups=len(counts) > len(largest),
        total=total,
        total_capped=total >= store.MAX_COUNTED,
    )


@operation("GET", "/v1/dead-letters/{deadLetterId}", scope=Scope.EVENTS_READ)
async def get_dead_letter(call: Call, job_id: JobId) -> DeadLetterDetailOut:
    """Retrieve a dead letter with its messages and the execution details of its step."""
    names = call.services.names
    letter = await store.get_dead_letter(call.db, call.environment_id, job_id)
    messages = await store.list_unsent_messages(call.db, call.environment_id, job_id)
    details = await store.list_details(call.db, call.environment_id, job_id)
    return DeadLetterDetailOut.of_details(
        DeadLetterOut.of(letter, names),
        [UnsentMessageOut.of(one, names) for one in messages],
        [ExecutionDetailOut.of(one, names) for one in details],
    )


@operation("POST", "/v1/dead-letters/redrive", scope=Scope.EVENTS_WRITE, body=DeadLetterSelection)
async def redrive_dead_letters(call: Call, body: DeadLetterSelection) -> RedriveResultOut:
    """Put dead letters back in the queue with fresh attempts; later steps of their runs are not run again."""
    wanted = _select(call, body)
    redriven = await store.redrive_dead_letters(call.db, call.environment_id, wanted, call.now, limit=body.limit)
    call.after_commit.append(lambda: call.services.bus.publish(Signal.WORK))
    has_more, remaining = await _count_rest(call, wanted, redriven, body.limit)
    return RedriveResultOut(redriven=redriven, has_more=has_more, remaining=remaining)


@operation("POST", "/v1/dead-letters/discard", scope=Scope.EVENTS_WRITE, body=DeadLetterSelection)
async def discard_dead_letters(call: Call, body: DeadLetterSelection) -> DiscardOut:
    """Take dead letters off the list; their steps stay failed, and cannot be redriven any more."""
    wanted = _select(call, body)
    discarded = await store.discard_dead_letters(call.db, call.environment_id, wanted, call.now, limit=body.limit)
    has_more, remaining = await _count_rest(call, wanted, discarded, body.limit)
    return DiscardOut(discarded=discarded, has_more=has_more, remaining=remaining)


@operation("DELETE", "/v1/dead-letters/{deadLetterId}", scope=Scope.EVENTS_WRITE, status=204)
async def discard_dead_letter(call: Call, job_id: JobId) -> None:
    """Take one dead letter off the list; its step stays failed."""
    wanted = DeadLetterFilter(ids=(job_id,))
    if not await store.discard_dead_letters(call.db, call.environment_id, wanted, call.now):
        raise NotFound("Job", id_text(job_id))


def _select(call: Call, body: DeadLetterSelection) -> DeadLetterFilter:
    wanted = _filter(call, body)
    if wanted == DeadLetterFilter() and not body.all:
        names = "ids, channel, providerId, subscriberId, workflowId or reason"
        raise Invalid.field("body", f'must have {names}, or "all": true')
    return wanted


async def _count_rest(call: Call, wanted: DeadLetterFilter, done: int, limit: int) -> tuple[bool, int]:
    """Return whether there are more, and how many; a call that did fewer than it may leaves none."""
    if done < min(limit, MAX_REDRIVEN):
        return False, 0
    remaining = await store.count_dead_letters(call.db, call.environment_id, wanted)
    return remaining > 0, remaining


def _filter(call: Call, given: DeadLetterFilters) -> DeadLetterFilter:
    ids = given.ids if isinstance(given, DeadLetterSelection) else None
    # A built-in name that is not spelled as configured names no provider and matches nothing.
    provider_id = None if given.provider_id is None else call.services.names.from_wire(given.provider_id) or ""
    return DeadLetterFilter(
        ids=None if ids is None else tuple(JobId(one.id) for one in ids),
        channel=given.channel,
        provider_id=provider_id,
        subscriber_key=None if given.subscriber_id is None else SubscriberKey(given.subscriber_id),
        workflow_key=None if given.workflow_id is None else WorkflowKey(given.workflow_id),
        reason=given.reason,
    )
