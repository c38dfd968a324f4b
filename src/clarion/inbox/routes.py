"""The notifications of the person whose session it is: list, count, and everything that the inbox does with them."""

from functools import partial

from clarion.http.operation import Call, DetachedCall, Transaction, operation
from clarion.ids import MessageId, SubscriberId
from clarion.inbox import actions, state
from clarion.inbox.answers import answer_by_button
from clarion.inbox.filters import CountQuery, InboxFilter, InboxQuery, ManyIn, SeenIn
from clarion.inbox.gathered import GatheredReads
from clarion.inbox.sessions.tokens import get_session_subscriber, require_session
from clarion.inbox.wire import ActionIn, FilterCountOut, InboxNotificationOut, InboxPageOut, Reply, SnoozeIn
from clarion.messages.model import InboxOwner
from clarion.webhooks.model import EventType

_ONE = "/v1/inbox/notifications/{notificationId}"


@operation("GET", "/v1/inbox/notifications", session=True, query=InboxQuery, transaction=Transaction.NONE)
async def list_inbox_notifications(call: DetachedCall, query: InboxQuery) -> InboxPageOut:
    """List the notifications of the inbox, newest first."""
    wanted = actions.limit_to_session(call.caller, query.read_filter())
    reads = call.services.shared.get(GatheredReads)
    if not (query.is_first_page and reads.can_gather(wanted)):
        return await actions.list_notifications(call, get_session_subscriber, wanted, query)
    opened = await reads.open(_owner(call), wanted, query.limit)
    found = require_session(call.caller.get_session(), opened)
    return actions.show_page(found.page, found.workflows, found.to, query)


@operation("GET", "/v1/inbox/notifications/count", session=True, query=CountQuery, transaction=Transaction.NONE)
async def count_inbox_notifications(call: DetachedCall, query: CountQuery) -> Reply[list[FilterCountOut]]:
    """Count the notifications that fit each of several filters, up to 100 each."""
    sent = query.read_filters()
    filters = tuple(actions.limit_to_session(call.caller, wanted) for wanted, _ in sent)
    reads = call.services.shared.get(GatheredReads)
    if reads.can_gather(*filters):
        counted = await reads.count(_owner(call), filters)
    else:
        counted = await actions.count_notifications(call, _find_id, filters)
    return Reply(data=actions.show_counts(require_session(call.caller.get_session(), counted), sent))


@operation("PATCH", f"{_ONE}/read", session=True)
async def read_inbox_notification(call: Call, message_id: MessageId) -> Reply[InboxNotificationOut]:
    """Mark a notification as read, which takes it out of the archive."""
    return await _change(call, message_id, state.mark_read, EventType.MESSAGE_READ)


@operation("PATCH", f"{_ONE}/unread", session=True)
async def unread_inbox_notification(call: Call, message_id: MessageId) -> Reply[InboxNotificationOut]:
    """Mark a notification as unread, which takes it out of the archive."""
    return await _change(call, message_id, state.mark_unread, EventType.MESSAGE_UNREAD)


@operation("PATCH", f"{_ONE}/archive", session=True)
async def archive_inbox_notification(call: Call, message_id: MessageId) -> Reply[InboxNotificationOut]:
    """Archive a notification, which marks it as read."""
    return await _change(call, message_id, state.archive, EventType.MESSAGE_ARCHIVED)


@operation("PATCH", f"{_ONE}/unarchive", session=True)
async def unarchive_inbox_notification(call: Call, message_id: MessageId) -> Reply[InboxNotificationOut]:
    """Take a notification out of the archive."""
    return await _change(call, message_id, state.unarchive, EventType.MESSAGE_UNARCHIVED)


@operation("PATCH", f"{_ONE}/snooze", session=True, body=SnoozeIn)
async def snooze_inbox_notification(call: Call, message_id: MessageId, body: SnoozeIn) -> Reply[InboxNotificationOut]:
    """Hide a notification until a moment, at which it comes back as new and unread."""
    return Reply(data=await actions.snooze_notification(call, await get_session_subscriber(call), message_id, body))


@operation("PATCH", f"{_ONE}/unsnooze", session=True)
async def unsnooze_inbox_notification(call: Call, message_id: MessageId) -> Reply[InboxNotificationOut]:
    """Bring a snoozed notification back now."""
    return await _change(call, message_id, state.unsnooze, EventType.MESSAGE_UNSNOOZED)


@operation("PATCH", f"{_ONE}/complete", session=True, body=ActionIn, refusals=(409, 410))
async def complete_inbox_action(call: Call, message_id: MessageId, body: ActionIn) -> Reply[InboxNotificationOut]:
    """Note that a button was used, which marks the notification as read; a button that answers a question does so."""
    await answer_by_button(call, await get_session_subscriber(call), message_id, body.action_type)
    change = partial(state.complete_action, button=body.action_type)
    return await _change(call, message_id, change, EventType.MESSAGE_READ)


@operation("PATCH", f"{_ONE}/revert", session=True, body=ActionIn)
async def revert_inbox_action(call: Call, message_id: MessageId, body: ActionIn) -> Reply[InboxNotificationOut]:
    """Note that what a button did was undone."""
    change = partial(state.revert_action, button=body.action_type)
    return await _change(call, message_id, change, None)


@operation("DELETE", f"{_ONE}/delete", session=True, status=204)
async def delete_inbox_notification(call: Call, message_id: MessageId) -> None:
    """Delete a notification."""
    await actions.delete_message(call, await get_session_subscriber(call), message_id)


@operation("POST", "/v1/inbox/notifications/seen", session=True, status=204, body=SeenIn, body_optional=True)
async def see_inbox_notifications(call: Call, body: SeenIn) -> None:
    """Mark notifications as seen: the given ones, those that fit the filters, or all."""
    subscriber = await get_session_subscriber(call)
    await actions.mark_all_seen(call, subscriber, _wanted(call, body), body.ids)


@operation("POST", "/v1/inbox/notifications/read", session=True, status=204, body=ManyIn, body_optional=True)
async def read_inbox_notifications(call: Call, body: ManyIn) -> None:
    """Mark all notifications as read, or those that fit the filters; snoozed ones are left alone."""
    await actions.mark_all_read(call, await get_session_subscriber(call), _wanted(call, body))


@operation("POST", "/v1/inbox/notifications/archive", session=True, status=204, body=ManyIn, body_optional=True)
async def archive_inbox_notifications(call: Call, body: ManyIn) -> None:
    """Archive all notifications, or those that fit the filters; snoozed ones are left alone."""
    await actions.archive_all(call, await get_session_subscriber(call), _wanted(call, body))


@operation("POST", "/v1/inbox/notifications/read-archive", session=True, status=204, body=ManyIn, body_optional=True)
async def archive_read_inbox_notifications(call: Call, body: ManyIn) -> None:
    """Archive all notifications that are read, or those of them that fit the filters."""
    await actions.archive_all_read(call, await get_session_subscriber(call), _wanted(call, body))


@operation("POST", "/v1/inbox/notifications/delete", session=True, status=204, body=ManyIn, body_optional=True)
async def delete_inbox_notifications(call: Call, body: ManyIn) -> None:
    """Delete all notifications, or those that fit the filters; archived and snoozed ones are included."""
    await actions.delete_all(call, await get_session_subscriber(call), _wanted(call, body))


def _owner(call: DetachedCall) -> InboxOwner:
    return InboxOwner(call.environment_id, call.caller.get_session().subscriber_id)


async def _find_id(call: Call) -> SubscriberId:
    return call.session.subscriber_id


def _wanted(call: Call, body: ManyIn) -> InboxFilter:
    return actions.limit_to_session(call.caller, body.read_filter())


async def _change(
    call: Call, message_id: MessageId, change: actions.Change, event: EventType | None
) -> Reply[InboxNotificationOut]:
    subscriber = await get_session_subscriber(call)
    return Reply(data=await actions.change_notification(call, subscriber, message_id, change, event))
