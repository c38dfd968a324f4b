"""Messages: list, mark, delete, and the in-app feed."""

from collections.abc import Sequence
from functools import partial

from clarion.db.listing import Listing, count_rows
from clarion.errors import Invalid, Problem
from clarion.http.operation import Call, Transaction, operation
from clarion.http.pages import OffsetPage, list_offset_page
from clarion.http.wire import IdText
from clarion.ids import MessageId, SubscriberKey, TransactionKey, find_id
from clarion.inbox.actions import change_message
from clarion.inbox.answers import answer_by_button
from clarion.inbox.sockets.announcements import announce_changes
from clarion.inbox.state import complete_action, read_button, revert_action
from clarion.jsontext import encode_json
from clarion.messages import history, store
from clarion.messages.deletion import note_deleted
from clarion.messages.filters import filter_feed, filter_messages, filter_outbox, read_pattern
from clarion.messages.history_wire import MessageDetailOut
from clarion.messages.model import CountedAs, DeletedMessage, Message, decide_marks
from clarion.messages.wire import (
    CountOut,
    DeleteMessagesQuery,
    FeedItemOut,
    FeedQuery,
    MarkAllIn,
    MarkIn,
    MessageActionIn,
    MessageOut,
    MessageQuery,
    MessageView,
    OutboxQuery,
    UnseenQuery,
)
from clarion.subscribers.model import Subscriber, shown_to
from clarion.subscribers.store import get_subscriber, list_subscribers_by_id
from clarion.subscribers.wire import DeletedOut
from clarion.vocabulary import MarkAs, Scope
from clarion.webhooks.events import append_message_events
from clarion.webhooks.model import EventType

MAX_ACTION_PAYLOAD = 16 * 1024


@operation("GET", "/v1/messages", scope=Scope.MESSAGES_READ, query=MessageQuery, transaction=Transaction.SCAN)
async def list_messages(call: Call, query: MessageQuery) -> OffsetPage[MessageOut]:
    """List messages of every channel, newest first."""
    listing = await filter_messages(call.db, call.environment_id, query)
    return await _messages_page(call, listing, query.page, query.limit)


@operation("GET", "/v1/outbox", scope=Scope.MESSAGES_READ, query=OutboxQuery, transaction=Transaction.SCAN)
async def list_outbox(call: Call, query: OutboxQuery) -> OffsetPage[MessageOut]:
    """List the messages of the built-in email and SMS providers, which store messages instead of sending them."""
    return await _messages_page(call, filter_outbox(call.environment_id, query), query.page, query.limit)


@operation("GET", "/v1/messages/{messageId}", scope=Scope.MESSAGES_READ)
async def get_message(call: Call, message_id: MessageId) -> MessageDetailOut:
    """Retrieve a message with its attempts and the receipts of its provider."""
    message = await history.get_message(call.db, call.environment_id, message_id)
    sending = await history.get_sending(call.db, message)
    recipients = await list_subscribers_by_id(call.db, call.environment_id, [message.subscriber_id])
    (view,) = await _list_views(call, [message])
    mail = await history.find_mail(call.db, message, view.origin)
    recipient = shown_to(call.caller, recipients[message.subscriber_id])
    return MessageDetailOut.of_sending(MessageOut.of(view, recipient), sending, mail)


@operation("DELETE", "/v1/messages/{messageId}", scope=Scope.MESSAGES_WRITE)
async def delete_message(call: Call, message_id: MessageId) -> DeletedOut:
    """Delete a message."""
    await _finish_deletion(call, await store.delete_message(call.db, call.environment_id, message_id))
    return DeletedOut(acknowledged=True, status="deleted")


@operation(
    "DELETE",
    "/v1/messages/transaction/{transactionId}",
    scope=Scope.MESSAGES_WRITE,
    status=204,
    query=DeleteMessagesQuery,
)
async def delete_messages_of_transaction(
    call: Call, transaction_key: TransactionKey, query: DeleteMessagesQuery
) -> None:
    """Delete the messages of one trigger, of one channel or all of them."""
    deleted = await store.delete_messages_of_transaction(call.db, call.environment_id, transaction_key, query.channel)
    await _finish_deletion(call, deleted)


@operation(
    "POST", "/v1/subscribers/{subscriberId}/messages/mark-as", scope=Scope.MESSAGES_WRITE, status=201, body=MarkIn
)
async def mark_messages(call: Call, subscriber_key: SubscriberKey, body: MarkIn) -> list[MessageOut]:
    """Mark messages of a subscriber as seen, read, unseen or unread; ids that name none of theirs are skipped."""
    message_ids = _read_message_ids(body)
    subscriber = await get_subscriber(call.db, call.environment_id, subscriber_key)
    before = await _list_counted(call, subscriber, message_ids)
    await store.mark_messages(call.db, subscriber, message_ids, decide_marks(body.mark_as, call.now), call.now)
    messages = await store.list_messages_by_id(call.db, call.environment_id, subscriber.id, message_ids)
    await _emit_mark_events(call, body.mark_as, [one.id for one in messages])
    if before is not None and before != {one.id: one.counted_as for one in messages}:
        announce_changes(call, [subscriber.id])
    return [MessageOut.of(view) for view in await _list_views(call, messages)]


@operation(
    "POST", "/v1/subscribers/{subscriberId}/messages/mark-all", scope=Scope.MESSAGES_WRITE, status=201, body=MarkAllIn
)
async def mark_all_messages(call: Call, subscriber_key: SubscriberKey, body: MarkAllIn) -> int:
    """Mark every in-app message of a subscriber; the answer is the number of messages that changed."""
    subscriber = await get_subscriber(call.db, call.environment_id, subscriber_key)
    if body.feed_identifier:
        # No message belongs to a named feed.
        return 0
    marked = await store.mark_all_messages(call.db, subscriber, decide_marks(body.mark_as, call.now), call.now)
    await _emit_mark_events(call, body.mark_as, marked)
    if marked:
        announce_changes(call, [subscriber.id])
    return len(marked)


@operation(
    "POST",
    "/v1/subscribers/{subscriberId}/messages/{messageId}/actions/{actionType}",
    scope=Scope.MESSAGES_WRITE,
    status=201,
    body=MessageActionIn,
    refusals=(409, 410),
)
async def mark_message_action(
    call: Call, subscriber_key: SubscriberKey, message_id: MessageId, action_type: str, body: MessageActionIn
) -> MessageOut:
    """Note that a button, `primary` or `secondary`, was used, or that its use was taken back."""
    button = read_button(action_type)
    if body.payload is not None and len(encode_json(body.payload)) > MAX_ACTION_PAYLOAD:
        raise Invalid.field("payload", f"must have at most {MAX_ACTION_PAYLOAD} bytes of JSON")
    subscriber = await get_subscriber(call.db, call.environment_id, subscriber_key)
    is_done = body.status == "done"
    change = partial(complete_action if is_done else revert_action, button=button, payload=body.payload)
    event = EventType.MESSAGE_READ if is_done else None
    if is_done:
        await answer_by_button(call, subscriber, message_id, button)
    await change_message(call, subscriber, message_id, change, event)
    messages = await store.list_messages_by_id(call.db, call.environment_id, subscriber.id, [message_id])
    (view,) = await _list_views(call, messages)
    return MessageOut.of(view)


@operation(
    "GET",
    "/v1/subscribers/{subscriberId}/notifications/feed",
    scope=Scope.MESSAGES_READ,
    query=FeedQuery,
    transaction=Transaction.SCAN,
)
async def list_feed_items(call: Call, subscriber_key: SubscriberKey, query: FeedQuery) -> OffsetPage[FeedItemOut]:
    """List what a subscriber sees in the in-app feed, newest first."""
    pattern = read_pattern(query.payload)
    subscriber = await get_subscriber(call.db, call.environment_id, subscriber_key)
    listing = filter_feed(subscriber, call.now, read=query.read, seen=query.seen, pattern=pattern)
    page = await list_offset_page(call.db, listing, page=query.page, limit=query.limit, render=store.message_of)
    shown = shown_to(call.caller, subscriber)
    data = [FeedItemOut.of(view, shown) for view in await _list_views(call, page.data)]
    return page.with_data(data)


@operation(
    "GET",
    "/v1/subscribers/{subscriberId}/notifications/unseen",
    scope=Scope.MESSAGES_READ,
    query=UnseenQuery,
    transaction=Transaction.SCAN,
)
async def count_unseen_messages(call: Call, subscriber_key: SubscriberKey, query: UnseenQuery) -> CountOut:
    """Count a subscriber's unseen messages in the in-app feed, up to the limit."""
    subscriber = await get_subscriber(call.db, call.environment_id, subscriber_key)
    listing = filter_feed(subscriber, call.now, seen=query.seen)
    return CountOut(count=await count_rows(call.db, listing, limit=query.limit))


async def _messages_page(call: Call, listing: Listing, page: int, limit: int) -> OffsetPage[MessageOut]:
    messages = await list_offset_page(call.db, listing, page=page, limit=limit, render=store.message_of)
    subscriber_ids = [one.subscriber_id for one in messages.data]
    recipients = await list_subscribers_by_id(call.db, call.environment_id, subscriber_ids)
    shown = {key: shown_to(call.caller, one) for key, one in recipients.items()}
    views = await _list_views(call, messages.data)
    return messages.with_data([MessageOut.of(one, shown[one.message.subscriber_id]) for one in views])


async def _list_views(call: Call, messages: Sequence[Message]) -> list[MessageView]:
    origins = await store.list_origins(call.db, call.environment_id, [message.trigger_id for message in messages])
    return [
        MessageView(
            message=message,
            origin=origins[message.trigger_id],
            organization_id=call.organization_id,
            names=call.services.names,
        )
        for message in messages
    ]


async def _list_counted(
    call: Call, subscriber: Subscriber, ids: Sequence[MessageId]
) -> dict[MessageId, CountedAs] | None:
    """Return how the inbox counts each of the messages; None if nobody wants to know."""
    if not call.services.bus.is_watched(call.environment_id):
        return None
    messages = await store.list_messages_by_id(call.db, call.environment_id, subscriber.id, ids)
    return {one.id: one.counted_as for one in messages}


async def _emit_mark_events(call: Call, mark_as: MarkAs, marked: Sequence[MessageId]) -> None:
    kind = EventType(f"message.{mark_as}")
    await append_message_events(call.db, call.environment_id, [(kind, one) for one in marked], call.now)


async def _finish_deletion(call: Call, deleted: Sequence[DeletedMessage]) -> None:
    await note_deleted(call, (one.job_id for one in deleted))
    announce_changes(call, [one.subscriber_id for one in deleted if one.was_unread])


def _read_message_ids(body: MarkIn) -> list[MessageId]:
    """Return the ids of the body without duplicates; raises Invalid with every malformed one."""
    texts = {"messageId": body.message_id} if isinstance(body.message_id, str) else _numbered(body.message_id)
    ids = {path: find_id(text) for path, text in texts.items()}
    problems = {path: [Problem(IdText.RULE, texts[path])] for path, found in ids.items() if found is None}
    if problems:
        raise Invalid(problems)
    return list(dict.fromkeys(MessageId(found) for found in ids.values() if found is not None))


def _numbered(texts: Sequence[str]) -> dict[str, str]:
    return {f"messageId.{number}": text for number, text in enumerate(texts)}
