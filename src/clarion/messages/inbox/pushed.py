"""Messages as they are pushed to sockets: the shape that the published clients turn into what a list shows."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

from msgspec import UNSET, UnsetType, field

from clarion.clock import Millis, iso_text
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.http.wire import Wire, given
from clarion.ids import EnvironmentId, MessageId, id_text
from clarion.jsontext import json_value
from clarion.messages.inbox.recipient import RecipientOut
from clarion.messages.model import Message
from clarion.messages.store import COLUMNS, message_of
from clarion.subscribers.model import Subscriber
from clarion.subscribers.store import list_subscribers_by_id
from clarion.vocabulary import Channel, Severity
from clarion.workflows.model import Workflow
from clarion.workflows.store import list_workflows_by_id
from clarion.workflows.summary import WorkflowSummary

LIST_PUSHED = sql(f"""
    SELECT {COLUMNS}, t.context_keys, g.transaction_key FROM messages AS t
    JOIN triggers AS g ON g.environment_id = t.environment_id AND g.id = t.trigger_id
    WHERE t.environment_id = :environment_id AND t.id {{any:ids}} AND t.channel = 'in_app'
""")
# Clients read `cta.action` and `cta.data` without checking that they exist.
_NO_CTA: dict[str, Any] = {"action": {"buttons": []}, "data": {}}


class PushedSubscriberOut(RecipientOut):
    id: str = field(name="_id")


class PushedMessage(Wire):
    """A message as the event `notification_received` has it."""

    id: str = field(name="_id")
    template_id: str = field(name="_templateId")
    environment_id: str = field(name="_environmentId")
    notification_id: str = field(name="_notificationId")
    subscriber_id: str = field(name="_subscriberId")
    template_identifier: str
    transaction_id: str
    channel: Channel
    subject: str | UnsetType = UNSET
    content: str
    avatar: str | UnsetType = UNSET
    cta: dict[str, Any]
    data: dict[str, Any] | UnsetType = UNSET
    tags: list[str]
    context_keys: list[str]
    severity: Severity
    seen: bool
    read: bool
    archived: bool
    first_seen_date: str | UnsetType = UNSET
    last_seen_date: str | UnsetType = UNSET
    last_read_date: str | UnsetType = UNSET
    archived_at: str | UnsetType = UNSET
    snoozed_until: str | UnsetType = UNSET
    delivered_at: list[str]
    created_at: str
    updated_at: str
    subscriber: PushedSubscriberOut
    workflow: WorkflowSummary

    @classmethod
    def of(cls, stored: "_Stored", workflow: Workflow, subscriber: Subscriber) -> Self:
        message = stored.message
        return cls(
            id=id_text(message.id),
            template_id=id_text(message.workflow_id),
            environment_id=id_text(message.environment_id),
            notification_id=id_text(message.notification_id),
            subscriber_id=id_text(message.subscriber_id),
            template_identifier=workflow.key,
            transaction_id=stored.transaction_key,
            channel=message.channel,
            subject=given(message.subject),
            content=message.content,
            avatar=given(message.avatar),
            cta=_NO_CTA | (message.cta or {}),
            data=given(message.data),
            tags=workflow.tags,
            context_keys=stored.context_keys,
            severity=message.severity,
            seen=message.seen,
            read=message.read,
            archived=message.archived,
            first_seen_date=_time(message.seen_at),
            last_seen_date=_time(message.seen_at),
            last_read_date=_time(message.read_at),
            archived_at=_time(message.archived_at),
            snoozed_until=_time(message.snoozed_until),
            delivered_at=[iso_text(one) for one in message.delivered_at or ()],
            created_at=iso_text(message.created_at),
            updated_at=iso_text(message.updated_at),
            subscriber=PushedSubscriberOut.of(subscriber),
            workflow=WorkflowSummary.of(workflow),
        )


async def list_pushed_messages(
    db: Connection, environment_id: EnvironmentId, ids: Sequence[MessageId]
) -> dict[MessageId, PushedMessage]:
    """Return the given in-app messages that still exist, as they are stored now."""
    rows = await db.fetch(LIST_PUSHED, environment_id=environment_id, ids=list(ids))
    found = [_stored_of(row) for row in rows]
    if not found:
        return {}
    workflows = await list_workflows_by_id(db, environment_id, [one.message.workflow_id for one in found])
    people = await list_subscribers_by_id(db, environment_id, [one.message.subscriber_id for one in found])
    return {
        one.message.id: PushedMessage.of(one, workflows[one.message.workflow_id], people[one.message.subscriber_id])
        for one in found
        if one.message.subscriber_id in people
    }


class _Stored(NamedTuple):
    message: Message
    transaction_key: str
    context_keys: list[str]


def _stored_of(row: Row) -> _Stored:
    values = dict(row)
    transaction_key, context_keys = values.pop("transaction_key"), values.pop("context_keys")
    return _Stored(message_of(values), transaction_key, json_value(context_keys) or [])


def _time(moment: Millis | None) -> str | UnsetType:
    return UNSET if moment is None else iso_text(moment)
