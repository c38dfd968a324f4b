"""Endpoints, events and deliveries as records, and what becomes of a delivery after an attempt."""

import base64
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from msgspec import Struct

from clarion.clock import DAY, HOUR, MINUTE, SECOND, Millis
from clarion.ids import EnvironmentId, WebhookDeliveryId, WebhookEndpointId, WebhookEventId
from clarion.randomness import random_bytes
from clarion.secret import Secret

PAUSES = (
    *(5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR),
    *(10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR),
)
"""Between one attempt and the next: the schedule that the Standard Webhooks scheme proposes."""

MAX_ATTEMPTS = len(PAUSES) + 1
MAX_FAILURE = Millis(5 * DAY)
"""An endpoint that took nothing for this long is disabled."""
ROTATION_OVERLAP = DAY
"""How long the secret before still signs, beside the new one."""
RETENTION = Millis(30 * DAY)
"""How long events and their deliveries can be looked up and replayed."""

_GONE = 410
_SECRET_BYTES = 32


class EventType(StrEnum):
    """What endpoints can be told of."""

    MESSAGE_SENT = "message.sent"
    MESSAGE_FAILED = "message.failed"
    MESSAGE_DELIVERED = "message.delivered"
    MESSAGE_BOUNCED = "message.bounced"
    MESSAGE_COMPLAINED = "message.complained"
    MESSAGE_OPENED = "message.opened"
    MESSAGE_CLICKED = "message.clicked"
    MESSAGE_SEEN = "message.seen"
    MESSAGE_READ = "message.read"
    MESSAGE_UNSEEN = "message.unseen"
    MESSAGE_UNREAD = "message.unread"
    WORKFLOW_CREATED = "workflow.created"
    WORKFLOW_UPDATED = "workflow.updated"
    WORKFLOW_DELETED = "workflow.deleted"
    PREFERENCE_UPDATED = "preference.updated"
    ENDPOINT_TEST = "endpoint.test"


ABOUT = {
    EventType.MESSAGE_SENT: "A message is in the inbox, or its provider has taken it.",
    EventType.MESSAGE_FAILED: "A message was given up: nobody took it, or there was no address to send it to.",
    EventType.MESSAGE_DELIVERED: "The provider reports that a message arrived.",
    EventType.MESSAGE_BOUNCED: "The provider reports that a message could not be delivered.",
    EventType.MESSAGE_COMPLAINED: "The provider reports that the recipient called a message spam.",
    EventType.MESSAGE_OPENED: "The provider reports that a message was opened.",
    EventType.MESSAGE_CLICKED: "The provider reports that a link of a message was followed.",
    EventType.MESSAGE_SEEN: "A message was marked as seen.",
    EventType.MESSAGE_READ: "A message was marked as read.",
    EventType.MESSAGE_UNSEEN: "A message was marked as unseen.",
    EventType.MESSAGE_UNREAD: "A message was marked as unread.",
    EventType.WORKFLOW_CREATED: "A workflow was created or copied.",
    EventType.WORKFLOW_UPDATED: "A workflow was changed.",
    EventType.WORKFLOW_DELETED: "A workflow was deleted.",
    EventType.PREFERENCE_UPDATED: "A subscriber's preferences were changed, globally or for one workflow.",
    EventType.ENDPOINT_TEST: "Somebody asked for a test; sent to the endpoint in question whatever it listens to.",
}


class DeliveryStatus(StrEnum):
    QUEUED = "queued"
    DELIVERED = "delivered"
    FAILED = "failed"


class SigningSecret(Struct, frozen=True):
    """A secret of an endpoint, and until when it signs; the current one has no end."""

    text: str
    until: Millis | None = None

    def __repr__(self) -> str:
        return "***"

    @property
    def key(self) -> bytes:
        return base64.b64decode(self.text.removeprefix("whsec_"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    environment_id: EnvironmentId
    id: WebhookEndpointId
    url: str = field(repr=False)
    description: str | None
    events: frozenset[EventType]
    """None at all means every one."""
    secrets: tuple[SigningSecret, ...]
    """The current one first."""
    active: bool
    disabled_reason: str | None = None
    failing_since: Millis | None = None
    created_at: Millis
    updated_at: Millis

    def wants(self, kind: EventType) -> bool:
        return not self.events or kind in self.events

    @property
    def secret(self) -> Secret:
        return Secret(self.secrets[0].text)

    def signing_keys(self, now: Millis) -> list[bytes]:
        return [one.key for one in self.secrets if one.until is None or one.until > now]


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """An event on its way to one endpoint, with the answer to its last attempt."""

    environment_id: EnvironmentId
    id: WebhookDeliveryId
    endpoint_id: WebhookEndpointId
    event_id: WebhookEventId
    type: EventType
    payload: str
    status: DeliveryStatus
    attempt: int
    due_at: Millis | None
    response_status: int | None
    error_text: str | None
    created_at: Millis
    updated_at: Millis


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What the receiver did with an event; no error means that it took it."""

    error: str | None = None
    status: int | None = None
    retry_after_seconds: int | None = None

    @property
    def is_success(self) -> bool:
        return self.error is None

    @property
    def is_gone(self) -> bool:
        return self.status == _GONE


def new_secret() -> SigningSecret:
    return SigningSecret(f"whsec_{base64.b64encode(random_bytes(_SECRET_BYTES)).decode()}")


def rotate_secrets(secrets: Sequence[SigningSecret], now: Millis) -> tuple[SigningSecret, ...]:
    """A new secret in front; the one before signs a while longer, and older ones no more."""
    return new_secret(), SigningSecret(secrets[0].text, Millis(now + ROTATION_OVERLAP))


def enable(endpoint: Endpoint) -> Endpoint:
    """The endpoint as it starts anew: its failures are forgotten."""
    return replace(endpoint, active=True, disabled_reason=None, failing_since=None)


def next_attempt_at(number: int, attempt: Attempt, now: Millis) -> Millis | None:
    """The moment to try again after the given attempt failed, or None when that was the last.

    A receiver that asks for more patience is given it; one that asks for less is not.
    """
    if number >= MAX_ATTEMPTS or attempt.is_gone:
        return None
    # Jitter keeps the retries of one outage from arriving together.
    pause = PAUSES[number - 1] * random.uniform(1, 1.2)  # noqa: S311 - not a secret
    return Millis(now + max(int(pause), (attempt.retry_after_seconds or 0) * SECOND))
