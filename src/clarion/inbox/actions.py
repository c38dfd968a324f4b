"""What people do in their inbox: pages, counts and changes, with the events and announcements that follow.

The API of the inbox and the API of servers share them. Filters that no index supports read on a snapshot outside the
event loop.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

from msgspec.structs import replace

from clarion.bus import Signal
from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.http.caller import Caller
from clarion.http.operation import Call, DetachedCall
from clarion.ids import MessageId, SubscriberId, WorkflowId
from clarion.inbox import store
from clarion.inbox.filters import InboxFilter, InboxQuery, SentFilters
from clarion.inbox.listing import FilterCounts, InboxPage, count_inbox_filters, list_inbox
from clarion.inbox.sockets.announcements import announce_changes
from clarion.inbox.state import find_used_button, snooze
from clarion.inbox.wire import (
    FilterCountOut,
    InboxNotificationOut,
    InboxPageOut,
    RecipientOut,
    SnoozeIn,
    find_message_id,
)
from clarion.messages.deletion import note_deleted
from clarion.messages.model import InboxMessage
from clarion.subscribers.model import Subscriber, shown_to
from clarion.waits.message_events import emit_message_events
from clarion.webhooks.events import append_message_events
from clarion.webhooks.model import EventType
from clarion.webhooks.store import list_listeners
from clarion.workflows.listing import WorkflowSummary, list_summaries
from clarion.workflows.store import list_workflows_by_id

Change = Callable[[InboxMessage, Millis], InboxMessage]
ContextKeys = tuple[str, ...] | None
"""Exactly these; None: any."""

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
    call: Call,
    subscriber: Subscriber,
    message_id: MessageId,
    change: Change,
    event: EventType | None,
    *,
    context_keys: ContextKeys = None,
) -> InboxNotificationOut:
    """Change a notification and return it whole: clients replace the one that they show by it."""
    changed = await change_message(call, subscriber, message_id, change, event, context_keys=context_keys)
    workflow = (await list_workflows_by_id(call.db, call.environment_id, [changed.workflow_id]))[changed.workflow_id]
    to = RecipientOut.of(shown_to(call.caller, subscriber))
    return InboxNotificationOut.of(changed, WorkflowSummary.of(workflow), to)


async def snooze_notification(
    call: Call, subscriber: Subscriber, message_id: MessageId, body: SnoozeIn, *, context_keys: ContextKeys = None
) -> InboxNotificationOut:
    change = partial(snooze, until=body.snooze_until.moment)
    event = EventType.MESSAGE_SNOOZED
    return await change_notification(call, subscriber, message_id, change, event, context_keys=context_keys)


async def change_message(
    call: Call,
    subscriber: Subscriber,
    message_id: MessageId,
    change: Change,
    event: EventType | None,
    *,
    context_keys: ContextKeys = None,
) -> InboxMessage:
    """Change one message of the person's inbox and return it; raises NotFound if it is somebody else's.

    A change that makes no difference writes nothing and causes no event.
    """
    before = await store.get_for_update(call.db, subscriber, message_id, _contexts_of(call, context_keys))
    after = change(before, call.now)
    if after == before:
        return before
    await store.update_state(call.db, after, call.now)
    was_read = event is EventType.MESSAGE_READ and before.read and not before.archived
    if event is not None and not was_read:
        await append_message_events(call.db, call.environment_id, [(event, message_id)], call.now)
    button = find_used_button(before, after)
    if button is not None:
        clicked = [(EventType.MESSAGE_CLICKED, message_id)]
        details = {message_id: {"button": button}}
        await emit_message_events(call.db, call.environment_id, clicked, call.now, details=details)
    if before.counted_as != after.counted_as:
        announce_changes(call, [subscriber.id])
    if after.snoozed_until is not None and after.snoozed_until != before.snoozed_until:
        # The worker that wakes it may be asleep until a later moment.
        call.after_commit.append(lambda: call.services.bus.publish(Signal.WORK))
    return after


async def delete_message(
    call: Call, subscriber: Subscriber, message_id: MessageId, *, context_keys: ContextKeys = None
) -> None:
    """Delete one message of the person's inbox."""
    message = await store.get_for_update(call.db, subscriber, message_id, _contexts_of(call, context_keys))
    await append_message_events(call.db, call.environment_id, [(EventType.MESSAGE_DELETED, message_id)], call.now)
    await note_deleted(call, await store.delete_one(call.db, subscriber, message_id))
    if message.counted_as is not None:
        announce_changes(call, [subscriber.id])


async def mark_all_seen(
    call: Call, subscriber: Subscriber, wanted: InboxFilter, ids: Sequence[MessageId] | None = None
) -> None:
    """Mark messages as seen."""
    changed = await store.mark_all_seen(call.db, subscriber, wanted, ids, call.now)
    await _finish(call, subscriber, EventType.MESSAGE_SEEN, changed)


async def mark_all_read(call: Call, subscriber: Subscriber, wanted: InboxFilter) -> None:
    """Mark all unread messages that fit as read; snoozed ones are left alone, because they come back as unread."""
    changed = await store.mark_all_read(call.db, subscriber, replace(wanted, read=False, snoozed=False), call.now)
    await _finish(call, subscriber, EventType.MESSAGE_READ, changed)


async def archive_all(call: Call, subscriber: Subscriber, wanted: InboxFilter) -> None:
    """Archive all messages that fit; snoozed ones are left alone."""
    changed = await store.archive_all(call.db, subscriber, replace(wanted, archived=False, snoozed=False), call.now)
    await _finish(call, subscriber, EventType.MESSAGE_ARCHIVED, changed)


async def archive_all_read(call: Call, subscriber: Subscriber, wanted: InboxFilter) -> None:
    """Archive all messages that fit and are read. Nobody is told: the counts stay the same."""
    changed = await store.archive_all(
        call.db, subscriber, replace(wanted, archived=False, snoozed=False, read=True), call.now
    )
    await _append_events(call, EventType.MESSAGE_ARCHIVED, changed)


async def delete_all(call: Call, subscriber: Subscriber, wanted: InboxFilter) -> None:
    """Delete all messages that fit, archived and snoozed ones included."""
    if await list_listeners(call.db, call.environment_id):
        ids = await store.list_ids(call.db, subscriber, wanted)
        await _append_events(call, EventType.MESSAGE_DELETED, ids)
    deleted = await store.delete_all(call.db, subscriber, wanted)
    await note_deleted(call, deleted)
    if deleted:
        announce_changes(call, [subscriber.id])


def _contexts_of(call: Call, wanted: ContextKeys) -> ContextKeys:
    """The contexts whose messages are changed: those of the session, or those that an API key names."""
    return wanted if call.caller.session is None else call.caller.session.context_keys


async def _finish(call: Call, subscriber: Subscriber, event: EventType, changed: Sequence[MessageId]) -> None:
    await _append_events(call, event, changed)
    if changed:
        announce_changes(call, [subscriber.id])


async def _append_events(call: Call, event: EventType, ids: Sequence[MessageId]) -> None:
    await append_message_events(call.db, call.environment_id, [(event, one) for one in ids], call.now)


def _attach(call: DetachedCall, db: Connection) -> Call:
    return Call(call.caller, db, call.now, call.services)
