"""Changes that people make in their inbox, with the events and announcements that follow.

The API of the inbox and the API of servers share them.
"""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from clarion.bus import Signal
from clarion.clock import Millis
from clarion.http.operation import Call
from clarion.ids import MessageId
from clarion.inbox import store
from clarion.inbox.announcing import announce_changes
from clarion.inbox.filters import InboxFilter
from clarion.messages.deletion import note_deleted
from clarion.messages.model import InboxMessage
from clarion.subscribers.model import Subscriber
from clarion.webhooks.events import append_message_events
from clarion.webhooks.model import EventType
from clarion.webhooks.store import list_listeners

Change = Callable[[InboxMessage, Millis], InboxMessage]


async def change_message(
    call: Call, subscriber: Subscriber, message_id: MessageId, change: Change, event: EventType | None
) -> InboxMessage:
    """Change one message of the person's inbox and return it; raises NotFound if it is somebody else's.

    A change that makes no difference writes nothing and causes no event.
    """
    before = await store.get_for_update(call.db, subscriber, message_id, _contexts_of(call))
    after = change(before, call.now)
    if after == before:
        return before
    await store.update_state(call.db, after, call.now)
    was_read = event is EventType.MESSAGE_READ and before.read and not before.archived
    if event is not None and not was_read:
        await append_message_events(call.db, call.environment_id, [(event, message_id)], call.now)
    if before.counted_as != after.counted_as:
        announce_changes(call, [subscriber.id])
    if after.snoozed_until is not None and after.snoozed_until != before.snoozed_until:
        # The worker that wakes it may be asleep until a later moment.
        call.after_commit.append(lambda: call.services.bus.publish(Signal.WORK))
    return after


async def delete_message(call: Call, subscriber: Subscriber, message_id: MessageId) -> None:
    """Delete one message of the person's inbox."""
    found = await store.get_for_update(call.db, subscriber, message_id, _contexts_of(call))
    await append_message_events(call.db, call.environment_id, [(EventType.MESSAGE_DELETED, message_id)], call.now)
    await note_deleted(call, await store.delete_one(call.db, subscriber, message_id))
    if found.counted_as is not None:
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


def _contexts_of(call: Call) -> tuple[str, ...] | None:
    """The contexts whose messages the caller may change; an API key those of any."""
    return None if call.caller.session is None else call.caller.session.context_keys


async def _finish(call: Call, subscriber: Subscriber, event: EventType, changed: Sequence[MessageId]) -> None:
    await _append_events(call, event, changed)
    if changed:
        announce_changes(call, [subscriber.id])


async def _append_events(call: Call, event: EventType, ids: Sequence[MessageId]) -> None:
    await append_message_events(call.db, call.environment_id, [(event, one) for one in ids], call.now)
