"""The notifications of a subscriber's inbox, for servers that act on behalf of the person."""

from functools import partial

from clarion.errors import NotFound
from clarion.http.operation import Call, DetachedCall, Transaction, operation
from clarion.ids import MessageId, SubscriberId, SubscriberKey
from clarion.inbox import actions, state
from clarion.inbox.answers import answer_by_button
from clarion.inbox.filters import ContextQuery, CountQuery, InboxQuery, ManyIn, SeenIn
from clarion.inbox.wire import FilterCountOut, InboxNotificationOut, InboxPageOut, SnoozeIn
from clarion.subscribers.model import Subscriber
from clarion.subscribers.store import get_subscriber
from clarion.vocabulary import Scope
from clarion.webhooks.model import EventType

SECTION = "Messages"

_ALL = "/v2/subscribers/{subscriberId}/notifications"
_ONE = f"{_ALL}/{{notificationId}}"
_READ, _WRITE = Scope.MESSAGES_READ, Scope.MESSAGES_WRITE


@operation("GET", _ALL, scope=_READ, query=InboxQuery, transaction=Transaction.NONE)
async def list_subscriber_notifications(
    call: DetachedCall, subscriber_key: SubscriberKey, query: InboxQuery
) -> InboxPageOut:
    """List the notifications of a subscriber's inbox, newest first."""
    find_person = partial(_find_person, subscriber_key=subscriber_key)
    return await actions.list_notifications(call, find_person, query.read_filter(), query)


@operation("GET", f"{_ALL}/count", scope=_READ, query=CountQuery, transaction=Transaction.NONE)
async def count_subscriber_notifications(
    call: DetachedCall, subscriber_key: SubscriberKey, query: CountQuery
) -> list[FilterCountOut]:
    """Count the notifications of a subscriber that fit each of several filters, up to 100 each."""

    async def find_id(attached: Call) -> SubscriberId:
        return (await _find_person(attached, subscriber_key)).id

    sent = query.read_filters()
    counts = await actions.count_notifications(call, find_id, [wanted for wanted, _ in sent])
    if counts is None:
        raise NotFound("Subscriber", subscriber_key)
    return actions.show_counts(counts, sent)


@operation("PATCH", f"{_ONE}/read", scope=_WRITE, query=ContextQuery)
async def read_subscriber_notification(
    call: Call, subscriber_key: SubscriberKey, message_id: MessageId, query: ContextQuery
) -> InboxNotificationOut:
    """Mark a notification of a subscriber as read, which takes it out of the archive."""
    return await _change(call, subscriber_key, message_id, query, state.mark_read, EventType.MESSAGE_READ)


@operation("PATCH", f"{_ONE}/unread", scope=_WRITE, query=ContextQuery)
async def unread_subscriber_notification(
    call: Call, subscriber_key: SubscriberKey, message_id: MessageId, query: ContextQuery
) -> InboxNotificationOut:
    """Mark a notification of a subscriber as unread, which takes it out of the archive."""
    return await _change(call, subscriber_key, message_id, query, state.mark_unread, EventType.MESSAGE_UNREAD)


@operation("PATCH", f"{_ONE}/archive", scope=_WRITE, query=ContextQuery)
async def archive_subscriber_notification(
    call: Call, subscriber_key: SubscriberKey, message_id: MessageId, query: ContextQuery
) -> InboxNotificationOut:
    """Archive a notification of a subscriber, which marks it as read."""
    return await _change(call, subscriber_key, message_id, query, state.archive, EventType.MESSAGE_ARCHIVED)


@operation("PATCH", f"{_ONE}/unarchive", scope=_WRITE, query=ContextQuery)
async def unarchive_subscriber_notification(
    call: Call, subscriber_key: SubscriberKey, message_id: MessageId, query: ContextQuery
) -> InboxNotificationOut:
    """Take a notification of a subscriber out of the archive."""
    return await _change(call, subscriber_key, message_id, query, state.unarchive, EventType.MESSAGE_UNARCHIVED)


@operation("PATCH", f"{_ONE}/snooze", scope=_WRITE, query=ContextQuery, body=SnoozeIn)
async def snooze_subscriber_notification(
    call: Call, subscriber_key: SubscriberKey, message_id: MessageId, query: ContextQuery, body: SnoozeIn
) -> InboxNotificationOut:
    """Hide a notification of a subscriber until a moment, at which it comes back as new and unread."""
    subscriber = await get_subscriber(call.db, call.environment_id, subscriber_key)
    return await actions.snooze_notification(call, subscriber, message_id, body, context_keys=query.keys)


@operation("PATCH", f"{_ONE}/unsnooze", scope=_WRITE, query=ContextQuery)
async def unsnooze_subscriber_notification(
    call: Call, subscriber_key: SubscriberKey, message_id: MessageId, query: ContextQuery
) -> InboxNotificationOut:
    """Bring a snoozed notification of a subscriber back now."""
    return await _change(call, subscriber_key, message_id, query, state.unsnooze, EventType.MESSAGE_UNSNOOZED)


@operation(
    "PATCH",
    f"{_ONE}/actions/{{actionType}}/complete",
    scope=_WRITE,
    query=ContextQuery,
    refusals=(409, 410),
)
async def complete_subscriber_action(
    call: Call, subscriber_key: SubscriberKey, message_id: MessageId, action_type: str, query: ContextQuery
) -> InboxNotificationOut:
    """Note that a button, `primary` or `secondary`, was used, which marks the notification as read.

    A button that answers a question does so, for the subscriber.
    """
    button = state.read_button(action_type)
    await answer_by_button(call, await get_subscriber(call.db, call.environment_id, subscriber_key), message_id, button)
    change = partial(state.complete_action, button=button)
    return await _change(call, subscriber_key, message_id, query, change, EventType.MESSAGE_READ)


@operation("PATCH", f"{_ONE}/actions/{{actionType}}/revert", scope=_WRITE, query=ContextQuery)
async def revert_subscriber_action(
    call: Call, subscriber_key: SubscriberKey, message_id: MessageId, action_type: str, query: ContextQuery
) -> InboxNotificationOut:
    """Note that what a button, `primary` or `secondary`, did was undone."""
    change = partial(state.revert_action, button=state.read_button(action_type))
    return await _change(call, subscriber_key, message_id, query, change, None)


@operation("DELETE", _ONE, scope=_WRITE, query=ContextQuery, status=204)
async def delete_subscriber_notification(
    call: Call, subscriber_key: SubscriberKey, message_id: MessageId, query: ContextQuery
) -> None:
    """Delete a notification of a subscriber."""
    subscriber = await get_subscriber(call.db, call.environment_id, subscriber_key)
    await actions.delete_message(call, subscriber, message_id, context_keys=query.keys)


@operation("POST", f"{_ALL}/seen", scope=_WRITE, status=204, body=SeenIn, body_optional=True)
async def see_subscriber_notifications(call: Call, subscriber_key: SubscriberKey, body: SeenIn) -> None:
    """Mark notifications of a subscriber as seen: the given ones, those that fit the filters, or all."""
    subscriber = await get_subscriber(call.db, call.environment_id, subscriber_key)
    await actions.mark_all_seen(call, subscriber, body.read_filter(), body.ids)


@operation("POST", f"{_ALL}/read", scope=_WRITE, status=204, body=ManyIn, body_optional=True)
async def read_subscriber_notifications(call: Call, subscriber_key: SubscriberKey, body: ManyIn) -> None:
    """Mark all notifications of a subscriber as read, or those that fit the filters; snoozed ones are left alone."""
    subscriber = await get_subscriber(call.db, call.environment_id, subscriber_key)
    await actions.mark_all_read(call, subscriber, body.read_filter())


@operation("POST", f"{_ALL}/archive", scope=_WRITE, status=204, body=ManyIn, body_optional=True)
async def archive_subscriber_notifications(call: Call, subscriber_key: SubscriberKey, body: ManyIn) -> None:
    """Archive all notifications of a subscriber, or those that fit the filters; snoozed ones are left alone."""
    subscriber = await get_subscriber(call.db, call.environment_id, subscriber_key)
    await actions.archive_all(call, subscriber, body.read_filter())


@operation("POST", f"{_ALL}/read-archive", scope=_WRITE, status=204, body=ManyIn, body_optional=True)
async def archive_read_subscriber_notifications(call: Call, subscriber_key: SubscriberKey, body: ManyIn) -> None:
    """Archive all notifications of a subscriber that are read, or those of them that fit the filters."""
    subscriber = await get_subscriber(call.db, call.environment_id, subscriber_key)
    await actions.archive_all_read(call, subscriber, body.read_filter())


@operation("POST", f"{_ALL}/delete", scope=_WRITE, status=204, body=ManyIn, body_optional=True)
async def delete_subscriber_notifications(call: Call, subscriber_key: SubscriberKey, body: ManyIn) -> None:
    """Delete all notifications of a subscriber, or those that fit the filters; archived and snoozed ones included."""
    subscriber = await get_subscriber(call.db, call.environment_id, subscriber_key)
    await actions.delete_all(call, subscriber, body.read_filter())


async def _find_person(call: Call, subscriber_key: SubscriberKey) -> Subscriber:
    return await get_subscriber(call.db, call.environment_id, subscriber_key)


async def _change(
    call: Call,
    subscriber_key: SubscriberKey,
    message_id: MessageId,
    query: ContextQuery,
    change: actions.Change,
    event: EventType | None,
) -> InboxNotificationOut:
    subscriber = await get_subscriber(call.db, call.environment_id, subscriber_key)
    return await actions.change_notification(call, subscriber, message_id, change, event, context_keys=query.keys)
