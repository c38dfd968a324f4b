"""Pages, counts and single notifications of one person's inbox, as both of its APIs answer them.

Filters that no index supports read on a snapshot outside the event loop.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

from msgspec.structs import replace

from clarion.db.port import Connection
from clarion.http.caller import Caller
from clarion.http.operation import Call, DetachedCall
from clarion.ids import MessageId, SubscriberId, WorkflowId
from clarion.inbox.actions import Change, change_message
from clarion.inbox.filters import InboxFilter
from clarion.inbox.listing import FilterCounts, InboxPage, count_inbox_filters, list_inbox
from clarion.inbox.recipient import RecipientOut
from clarion.inbox.state import snooze
from clarion.inbox.wire import (
    FilterCountOut,
    InboxNotificationOut,
    InboxPageOut,
    InboxQuery,
    SentFilters,
    SnoozeIn,
    find_message_id,
)
from clarion.subscribers.model import Subscriber
from clarion.subscribers.showing import shown_to
from clarion.webhooks.model import EventType
from clarion.workflows.store import list_workflows_by_id
from clarion.workflows.summary import WorkflowSummary, list_summaries

FindPerson = Callable[[Call], Awaitable[Subscriber]]
FindPersonId = Callable[[Call], Awaitable[SubscriberId]]


async def list_notifications(
    call: DetachedCall, find_person: FindPerson, wanted: InboxFilter, query: InboxQuery
) -> InboxPageOut:
    """The page that `query` asks for, of what fits the filter in the inbox of the person that `find_person` returns."""

    async def work(db: Connection) -> InboxPageOut:
        attached = _attach(call, db)
        person = await find_person(attached)
        after = find_message_id(query.after)
        page = await list_inbox(db, person, wanted, limit=query.limit, after=after, offset=query.offset)
        ids = [one.workflow_id for one in page.messages]
        workflows = await list_summaries(db, person.environment_id, ids, page.configuration_version)
        return show_page(page, workflows, RecipientOut.of(shown_to(call.caller, person)), query)

    return await (call.database.read(work) if wanted.is_light else call.database.scan(work))


def show_page(
    page: InboxPage, workflows: Mapping[WorkflowId, WorkflowSummary], to: RecipientOut, query: InboxQuery
) -> InboxPageOut:
    shown = [InboxNotificationOut.of(one, workflows[one.workflow_id], to) for one in page.messages]
    return InboxPageOut(data=shown, has_more=page.has_more, filter=query.echo())


async def count_notifications(
    call: DetachedCall, find_person: FindPersonId, filters: Sequence[InboxFilter]
) -> FilterCounts | None:
    """Count what fits each filter in the inbox of the person that `find_person` returns; None if they do not exist."""

    async def work(db: Connection) -> FilterCounts | None:
        return await count_inbox_filters(db, call.environment_id, await find_person(_attach(call, db)), filters)

    is_light = all(one.is_light for one in filters)
    return await (call.database.read(work) if is_light else call.database.scan(work))


def show_counts(found: FilterCounts, sent: SentFilters) -> list[FilterCountOut]:
    return [FilterCountOut(count=count, filter=one) for count, (_, one) in zip(found.counts, sent, strict=True)]


def limit_to_session(caller: Caller, wanted: InboxFilter) -> InboxFilter:
    """The filter for a session, which has the messages of exactly its contexts; for an API key the filter itself."""
    return wanted if caller.session is None else replace(wanted, context_keys=caller.session.context_keys)


async def change_notification(
    call: Call, subscriber: Subscriber, message_id: MessageId, change: Change, event: EventType | None
) -> InboxNotificationOut:
    """Change a notification and return it whole: clients replace the one that they show by it."""
    changed = await change_message(call, subscriber, message_id, change, event)
    workflow = (await list_workflows_by_id(call.db, call.environment_id, [changed.workflow_id]))[changed.workflow_id]
    to = RecipientOut.of(shown_to(call.caller, subscriber))
    return InboxNotificationOut.of(changed, WorkflowSummary.of(workflow), to)


async def snooze_notification(
    call: Call, subscriber: Subscriber, message_id: MessageId, body: SnoozeIn
) -> InboxNotificationOut:
    change = partial(snooze, until=body.snooze_until.moment)
    return await change_notification(call, subscriber, message_id, change, EventType.MESSAGE_SNOOZED)


def _attach(call: DetachedCall, db: Connection) -> Call:
    return Call(call.caller, db, call.now, call.services)
