"""Pages, counts and single notifications of one person's inbox, as both of its APIs answer them."""

from collections.abc import Sequence
from functools import partial

from clarion.http.operation import Call
from clarion.ids import MessageId
from clarion.messages.inbox_actions import Change, change_message
from clarion.messages.inbox_listing import InboxMessage, count_inbox_filters, list_inbox
from clarion.messages.inbox_state import snooze
from clarion.messages.inbox_wire import (
    CountQuery,
    FilterCountOut,
    InboxNotificationOut,
    InboxPageOut,
    InboxQuery,
    RecipientOut,
    SnoozeIn,
    find_message_id,
)
from clarion.subscribers.model import Subscriber
from clarion.webhooks.model import EventType
from clarion.workflows.store import list_workflows_by_id


async def list_notifications(call: Call, subscriber: Subscriber, query: InboxQuery) -> InboxPageOut:
    page = await list_inbox(
        call.db,
        subscriber,
        query.read_filter(),
        limit=query.limit,
        after=find_message_id(query.after),
        offset=query.offset,
    )
    return InboxPageOut(data=await _show(call, subscriber, page.messages), has_more=page.has_more, filter=query.echo())


async def count_notifications(call: Call, subscriber: Subscriber, query: CountQuery) -> list[FilterCountOut]:
    filters = query.read_filters()
    counts = await count_inbox_filters(call.db, subscriber, [wanted for wanted, _ in filters])
    return [FilterCountOut(count=count, filter=sent) for count, (_, sent) in zip(counts, filters, strict=True)]


async def change_notification(
    call: Call, subscriber: Subscriber, message_id: MessageId, change: Change, event: EventType | None
) -> InboxNotificationOut:
    """Change a notification and return it whole: clients replace the one that they show by it."""
    changed = await change_message(call, subscriber, message_id, change, event)
    (shown,) = await _show(call, subscriber, [changed])
    return shown


async def snooze_notification(
    call: Call, subscriber: Subscriber, message_id: MessageId, body: SnoozeIn
) -> InboxNotificationOut:
    change = partial(snooze, until=body.snooze_until.moment)
    return await change_notification(call, subscriber, message_id, change, EventType.MESSAGE_SNOOZED)


async def _show(call: Call, subscriber: Subscriber, messages: Sequence[InboxMessage]) -> list[InboxNotificationOut]:
    if not messages:
        return []
    workflows = await list_workflows_by_id(call.db, call.environment_id, [one.message.workflow_id for one in messages])
    to = RecipientOut.of(subscriber)
    return [InboxNotificationOut.of(one, workflows[one.message.workflow_id], to) for one in messages]
