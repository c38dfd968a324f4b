"""What is pushed: messages and counts as events with JSON, encoded once for all sockets that get them."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple, Self, cast

import msgspec
from msgspec import UNSET, Struct, UnsetType, field

from clarion.clock import Millis, iso_text
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.http.wire import Wire, given
from clarion.ids import EnvironmentId, MessageId, SubscriberId, id_text
from clarion.inbox.conditions import IS_SHOWN
from clarion.inbox.counts import InboxCounts
from clarion.inbox.listing import COLUMNS, inbox_message_of
from clarion.inbox.wire import RecipientOut
from clarion.jsontext import json_value
from clarion.messages.model import InboxMessage, InboxOwner
from clarion.subscribers.store import list_subscribers_by_id
from clarion.vocabulary import Channel, Severity
from clarion.workflows.listing import WorkflowSummary
from clarion.workflows.store import list_workflows_by_id

LIST_PUSHED = sql(f"""
    SELECT t.subscriber_id, t.notification_id, t.context_keys, t.updated_at, {COLUMNS} FROM messages AS t
    WHERE t.environment_id = :environment_id AND t.id {{any:ids}} AND t.channel = 'in_app' AND {IS_SHOWN}
""")
# Clients read `cta.action` and `cta.data` without checking that they exist.
_NO_CTA: dict[str, Any] = {"action": {"buttons": []}, "data": {}}


class PushedSubscriberOut(RecipientOut):
    id: str = field(name="_id")


class PushedMessage(Wire, kw_only=False):
    """A message as the event `notification_received` has it."""

    id: str = field(name="_id")
    template_id: str = field(name="_templateId")
    environment_id: str = field(name="_environmentId")
    notification_id: str = field(name="_notificationId")
    subscriber_id: str = field(name="_subscriberId")
    template_identifier: str
    transaction_id: str
    channel: Channel
    content: str
    cta: dict[str, Any]
    tags: list[str]
    context_keys: list[str]
    severity: Severity
    seen: bool
    read: bool
    archived: bool
    delivered_at: list[str]
    created_at: str
    updated_at: str
    subscriber: PushedSubscriberOut
    workflow: WorkflowSummary
    subject: str | UnsetType = UNSET
    avatar: str | UnsetType = UNSET
    data: dict[str, Any] | UnsetType = UNSET
    first_seen_date: str | UnsetType = UNSET
    last_seen_date: str | UnsetType = UNSET
    last_read_date: str | UnsetType = UNSET
    archived_at: str | UnsetType = UNSET
    snoozed_until: str | UnsetType = UNSET

    @classmethod
    def of(cls, stored: "_Stored", workflow: WorkflowSummary, subscriber: PushedSubscriberOut) -> Self:
        message = stored.message
        created_at, seen_at = iso_text(message.created_at), _time(message.seen_at)
        # By position, because Python makes a dictionary of more than 15 keywords, and a broadcast has many messages.
        return cls(
            id_text(message.id),
            workflow.id,
            id_text(message.environment_id),
            id_text(stored.notification_id),
            subscriber.id,
            workflow.identifier,
            message.transaction_key,
            Channel.IN_APP,
            message.content,
            _NO_CTA if message.cta is None else _NO_CTA | json_value(message.cta),
            workflow.tags,
            stored.context_keys,
            message.severity,
            message.seen,
            message.read,
            message.archived,
            [created_at if one == message.created_at else iso_text(one) for one in message.delivered_at],
            created_at,
            created_at if stored.updated_at == message.created_at else iso_text(stored.updated_at),
            subscriber,
            workflow,
            subject=given(message.subject),
            avatar=given(message.avatar),
            # As it is stored, without decoding it.
            data=UNSET if message.data is None else cast("dict[str, Any]", msgspec.Raw(message.data)),
            first_seen_date=seen_at,
            last_seen_date=seen_at,
            last_read_date=_time(message.read_at),
            archived_at=_time(message.archived_at),
            snoozed_until=_time(message.snoozed_until),
        )


class SocketEvent(Struct, frozen=True):
    """An event and its data as JSON; sockets put it into the frame of their protocol."""

    name: str
    data: bytes


async def list_pushed_messages(
    db: Connection, environment_id: EnvironmentId, ids: Sequence[MessageId]
) -> dict[MessageId, PushedMessage]:
    """Return the given in-app messages that still exist, as they are stored now."""
    rows = await db.fetch_values(LIST_PUSHED, environment_id=environment_id, ids=list(ids))
    stored = [_stored_of(row, environment_id) for row in rows]
    if not stored:
        return {}
    workflows = await list_workflows_by_id(db, environment_id, [one.message.workflow_id for one in stored])
    people = await list_subscribers_by_id(db, environment_id, [one.message.subscriber_id for one in stored])
    summaries = {one: WorkflowSummary.of(workflow) for one, workflow in workflows.items()}
    recipients = {one: PushedSubscriberOut.of(person) for one, person in people.items()}
    return {
        row.message.id: PushedMessage.of(row, summaries[row.message.workflow_id], recipients[row.message.subscriber_id])
        for row in stored
        if row.message.subscriber_id in recipients
    }


def message_event(message: PushedMessage) -> SocketEvent:
    return SocketEvent("notification_received", msgspec.json.encode({"message": message}))


def change_event(message_id: MessageId, message: PushedMessage | None) -> SocketEvent:
    """The event for a message that has new content; None: it is not in the inbox any more."""
    if message is None:
        return SocketEvent("notification_removed", msgspec.json.encode({"messageId": id_text(message_id)}))
    return SocketEvent("notification_updated", msgspec.json.encode({"message": message}))


def changed_count_events(counts: InboxCounts, before: InboxCounts | None) -> list[SocketEvent]:
    """The events for counts that differ from those that were sent before."""
    if counts is before:
        return []
    events = []
    if before is None or _unread_part(before) != _unread_part(counts):
        events.append(_unread_event(counts.total_unread, tuple(counts.unread.items()), counts.has_more_unread))
    if before is None or (before.unseen, before.has_more_unseen) != (counts.unseen, counts.has_more_unseen):
        events.append(_unseen_event(counts.unseen, counts.has_more_unseen))
    return events


class _Stored(NamedTuple):
    message: InboxMessage
    notification_id: bytes
    context_keys: list[str]
    updated_at: Millis


def _stored_of(row: Sequence[Any], environment_id: EnvironmentId) -> _Stored:
    subscriber_id, notification_id, context_keys, updated_at, *columns = row
    message = inbox_message_of(columns, InboxOwner(environment_id, SubscriberId(subscriber_id)))
    return _Stored(message, notification_id, json_value(context_keys) or [], updated_at)


def _time(moment: Millis | None) -> str | UnsetType:
    return UNSET if moment is None else iso_text(moment)


def _unread_part(counts: InboxCounts) -> tuple[dict[Severity, int], bool]:
    return counts.unread, counts.has_more_unread


# Cached, because most people have one of a few counts.
@lru_cache(maxsize=1024)
def _unread_event(total: int, unread: tuple[tuple[Severity, int], ...], has_more: bool) -> SocketEvent:  # noqa: FBT001
    severity = dict.fromkeys(Severity, 0) | dict(unread)
    data: dict[str, Any] = {
        "counts": {"total": total, "severity": severity},
        "unreadCount": total,
        "hasMore": has_more,
    }
    return SocketEvent("unread_count_changed", msgspec.json.encode(data))


@lru_cache(maxsize=1024)
def _unseen_event(unseen: int, has_more: bool) -> SocketEvent:  # noqa: FBT001
    return SocketEvent("unseen_count_changed", msgspec.json.encode({"unseenCount": unseen, "hasMore": has_more}))
