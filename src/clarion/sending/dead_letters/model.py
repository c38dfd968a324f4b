"""Dead letters as records."""

import re
from collections import Counter
from collections.abc import Collection, Mapping
from enum import StrEnum

from msgspec import Struct

from clarion.clock import Millis
from clarion.ids import JobId, NotificationId, SubscriberKey, TransactionKey, WorkflowKey
from clarion.vocabulary import Channel

POSSIBLY_DELIVERED = "possibly_delivered"
"""The `errorId` of messages that the provider may have accepted without confirming it."""


MAX_REDRIVEN = 1_000
"""How many one transaction redrives or discards: meanwhile others wait for it, on SQLite every writer."""
MAX_ERRORS = 20
"""How many errors of a dead letter are shown."""


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
    """The errors of its messages that were not sent, up to MAX_ERRORS."""
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
    workflow_key: WorkflowKey | None = None
    reason: str | None = None
    """How the error of one of its messages begins."""


class DeadLetterGrouping(StrEnum):
    """What dead letters are counted by."""

    REASON = "reason"
    """What their errors begin with, up to the first part that differs from message to message."""
    PROVIDER = "provider"
    WORKFLOW = "workflow"
    CHANNEL = "channel"


_MAX_REASON = 200
READ_OF_ERROR = 400
"""How many characters of an error its reason depends on."""
# What differs between errors of the same kind: quoted texts, addresses, and words with long numbers.
_VARYING = re.compile(r"""[<"'`{\[(]|\S*@|\S*[0-9]{5}|[0-9a-f]{8}-[0-9a-f]{4}""")


def reason_of(error: str) -> str:
    """Return the beginning of an error that errors of the same kind share."""
    varying = _VARYING.search(error)
    beginning = error if varying is None else error[: varying.start()]
    return beginning[:_MAX_REASON].rstrip(" :,;-") or error[:_MAX_REASON]


def count_reasons(errors: Mapping[JobId, Collection[str]]) -> Counter[str]:
    """Count the jobs of each reason; an error counts for the shortest reason that it begins with.

    So no reason begins with another one, and as many are found by a reason as are counted for it.
    """
    reasons: list[str] = []
    for reason in sorted({reason_of(error) for own in errors.values() for error in own}):
        if not reasons or not reason.startswith(reasons[-1]):
            reasons.append(reason)
    counts: Counter[str] = Counter()
    for own in errors.values():
        counts.update({reason for error in own for reason in reasons if error.startswith(reason)})
    return counts
