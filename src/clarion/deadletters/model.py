"""Dead letters as records."""

from msgspec import Struct

from clarion.clock import Millis
from clarion.ids import JobId, NotificationId, SubscriberKey, TransactionKey, WorkflowKey
from clarion.vocabulary import Channel

POSSIBLY_DELIVERED = "possibly_delivered"
"""The `errorId` of messages that the provider may have accepted without confirming it."""


class DeadLetter(Struct, frozen=True, kw_only=True):
    """A job whose last attempt to send failed, for one of its messages at least."""

    id: JobId
    notification_id: NotificationId
    transaction_key: TransactionKey
    workflow_key: WorkflowKey
    subscriber_key: SubscriberKey
    channel: Channel
    provider_id: str | None
    attempts: int
    errors: tuple[str, ...]
    """The errors of its messages that were not sent."""
    is_possibly_delivered: bool
    """Whether a provider may have accepted one of its messages."""
    died_at: Millis
    created_at: Millis


class DeadLetterFilter(Struct, frozen=True, kw_only=True):
    """Selects the dead letters that match every given field."""

    ids: tuple[JobId, ...] | None = None
    channel: Channel | None = None
    provider_id: str | None = None
    subscriber_key: SubscriberKey | None = None
