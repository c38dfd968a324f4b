"""Messages as records, and the changes that marking makes."""

from typing import Any, Literal, NamedTuple

from msgspec import Struct

from clarion.clock import Millis
from clarion.ids import (
    EnvironmentId,
    JobId,
    MessageId,
    NotificationId,
    SubscriberId,
    TransactionKey,
    TriggerId,
    WorkflowId,
    WorkflowKey,
)
from clarion.tracking.model import Tracking
from clarion.vocabulary import Channel, MarkAs, MessageStatus, Severity

MAX_SNOOZE_HOURS = 2160
"""How far ahead a message can be snoozed."""
MAX_DELIVERIES = 20
"""How many moments of delivery a message keeps: its first, and the last ones that ended a snooze."""

MessageChanges = dict[str, bool | Millis | None]
"""New values by column."""


CountedAs = Literal["unseen", "unread"] | None
"""How the bell of an inbox counts a message: as unread, and as unseen too if it says so; None: not at all."""


class Message(Struct, frozen=True, kw_only=True):
    """One delivery through one channel."""

    environment_id: EnvironmentId
    id: MessageId
    notification_id: NotificationId
    job_id: JobId
    trigger_id: TriggerId
    workflow_id: WorkflowId
    step_id: bytes
    subscriber_id: SubscriberId
    channel: Channel
    provider_id: str | None
    delivery: dict[str, Millis] | None
    """The latest moment of each kind of receipt."""
    status: MessageStatus
    content: str
    subject: str | None
    title: str | None
    email: str | None
    phone: str | None
    webhook_url: str | None
    device_tokens: list[str] | None
    cta: dict[str, Any] | None
    avatar: str | None
    data: dict[str, Any] | None
    severity: Severity
    seen: bool
    read: bool
    archived: bool
    seen_at: Millis | None
    read_at: Millis | None
    archived_at: Millis | None
    snoozed_until: Millis | None
    delivered_at: list[Millis] | None
    error_id: str | None
    error_text: str | None
    tracking: Tracking | None = None
    context_keys: list[str] | None = None
    """Of its trigger; None: it has no contexts."""
    change: str | None = None
    """What became of its last change, a `ChangeState`; None: it was never changed."""
    change_reason: str | None = None
    changed_at: Millis | None = None
    created_at: Millis
    updated_at: Millis

    @property
    def counted_as(self) -> CountedAs:
        return _counted_as(self) if self.channel == Channel.IN_APP else None


class InboxOwner(NamedTuple):
    """Whose inbox it is."""

    environment_id: EnvironmentId
    subscriber_id: SubscriberId


class InboxMessage(Struct, frozen=True):
    """What the inbox shows of an in-app message, and what its owner can change."""

    environment_id: EnvironmentId
    subscriber_id: SubscriberId
    id: MessageId
    workflow_id: WorkflowId
    transaction_key: TransactionKey
    content: str
    subject: str | None
    avatar: str | None
    cta: str | None
    """JSON text, like `data`: it is decoded only where it is needed."""
    data: str | None
    severity: Severity
    seen: bool
    read: bool
    archived: bool
    seen_at: Millis | None
    read_at: Millis | None
    archived_at: Millis | None
    snoozed_until: Millis | None
    delivered_at: list[Millis]
    created_at: Millis

    @property
    def counted_as(self) -> CountedAs:
        return _counted_as(self)


class DeletedMessage(NamedTuple):
    job_id: JobId
    subscriber_id: SubscriberId
    was_unread: bool
    """Whether it was one of the unread messages of an inbox."""


class MessageOrigin(Struct, frozen=True, kw_only=True):
    """The fields that all messages of one trigger share."""

    transaction_key: TransactionKey
    payload: dict[str, Any]
    overrides: dict[str, Any] | None
    workflow_key: WorkflowKey
    tags: list[str]


def decide_marks(mark_as: MarkAs, now: Millis) -> MessageChanges:
    """Return the changes of a mark: a message that is read is seen too, and an unseen one is unread."""
    match mark_as:
        case MarkAs.READ:
            return {"seen": True, "seen_at": now, "read": True, "read_at": now}
        case MarkAs.SEEN:
            return {"seen": True, "seen_at": now}
        case MarkAs.UNREAD:
            return {"read": False, "read_at": None}
        case MarkAs.UNSEEN:
            return {"seen": False, "seen_at": None, "read": False, "read_at": None}


def _counted_as(message: Message | InboxMessage) -> CountedAs:
    if message.read or message.archived or message.snoozed_until is not None:
        return None
    return "unread" if message.seen else "unseen"
