"""Dead letters as records."""

from dataclasses import dataclass

from clarion.clock import Millis
from clarion.ids import JobId, NotificationId, SubscriberKey, TransactionKey, WorkflowKey
from clarion.vocabulary import Channel

POSSIBLY_DELIVERED = "possibly_delivered"
"""The `errorId` of messages whose provider did not say whether it took them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """A job whose last attempt to send failed."""

    id: JobId
    notification_id: NotificationId
    transaction_key: TransactionKey
    workflow_key: WorkflowKey
    subscriber_key: SubscriberKey
    channel: Channel
    provider_id: str | None
    attempts: int
    errors: tuple[str, ...]
    """Why, for each of its messages."""
    is_possibly_delivered: bool
    """Whether a provider may have taken one all the same."""
    died_at: Millis
    created_at: Millis


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which dead letters are meant: those that fit everything given."""

    ids: tuple[JobId, ...] | None = None
    channel: Channel | None = None
    provider_id: str | None = None
    subscriber_key: SubscriberKey | None = None
