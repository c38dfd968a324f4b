"""Endpoints, events and deliveries as records, the rotation of secrets, and the retry schedule."""

import base64
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import msgspec
from msgspec import Struct

from clarion.clock import DAY, HOUR, MINUTE, SECOND, Millis
from clarion.ids import EnvironmentId, WebhookDeliveryId, WebhookEndpointId, WebhookEventId, random_bytes
from clarion.jsontext import json_text
from clarion.secret import Secret

RETRY_DELAYS = (
    *(5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR),
    *(10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR),
)
"""The delays between attempts: the schedule that the Standard Webhooks scheme proposes."""

MAX_ATTEMPTS = len(RETRY_DELAYS) + 1
DISABLE_AFTER = Millis(5 * DAY)
"""An endpoint that fails for this long is disabled."""
ROTATION_OVERLAP = DAY
"""How long the previous secret signs beside the new one."""

MAX_LOGGED = 30
"""Attempts in the log of a delivery: those of three rounds."""

_GONE = 410
_SECRET_BYTES = 32


class EventType(StrEnum):
    """The events that endpoints can listen to."""

    MESSAGE_SENT = "message.sent"
    MESSAGE_FAILED = "message.failed"
    MESSAGE_DELIVERED = "message.delivered"
    MESSAGE_BOUNCED = "message.bounced"
    MESSAGE_COMPLAINED = "message.complained"
    MESSAGE_OPENED = "message.opened"
    MESSAGE_CLICKED = "message.clicked"
    MESSAGE_REPLIED = "message.replied"
    MESSAGE_SEEN = "message.seen"
    MESSAGE_READ = "message.read"
    MESSAGE_UNSEEN = "message.unseen"
    MESSAGE_UNREAD = "message.unread"
    MESSAGE_ARCHIVED = "message.archived"
    MESSAGE_UNARCHIVED = "message.unarchived"
    MESSAGE_SNOOZED = "message.snoozed"
    MESSAGE_UNSNOOZED = "message.unsnoozed"
    MESSAGE_DELETED = "message.deleted"
    WORKFLOW_CREATED = "workflow.created"
    WORKFLOW_UPDATED = "workflow.updated"
    WORKFLOW_DELETED = "workflow.deleted"
    PREFERENCE_UPDATED = "preference.updated"
    ENDPOINT_TEST = "endpoint.test"


EVENT_DESCRIPTIONS = {
    EventType.MESSAGE_SENT: "A message is in the inbox, or its provider has taken it.",
    EventType.MESSAGE_FAILED: "A message was given up: nobody took it, or there was no address to send it to.",
    EventType.MESSAGE_DELIVERED: "The provider reports that a message arrived.",
    EventType.MESSAGE_BOUNCED: "The provider reports that a message could not be delivered.",
    EventType.MESSAGE_COMPLAINED: "The provider reports that the recipient called a message spam.",
    EventType.MESSAGE_OPENED: "A message was opened, as its provider or tracking tells.",
    EventType.MESSAGE_CLICKED: "A link of a message was followed, as its provider or tracking tells.",
    EventType.MESSAGE_REPLIED: "Somebody replied to an e-mail; the event has the reply as `mail`.",
    EventType.MESSAGE_SEEN: "A message was marked as seen.",
    EventType.MESSAGE_READ: "A message was marked as read.",
    EventType.MESSAGE_UNSEEN: "A message was marked as unseen.",
    EventType.MESSAGE_UNREAD: "A message was marked as unread.",
    EventType.MESSAGE_ARCHIVED: "A message was archived.",
    EventType.MESSAGE_UNARCHIVED: "A message was taken out of the archive.",
    EventType.MESSAGE_SNOOZED: "A message was snoozed.",
    EventType.MESSAGE_UNSNOOZED: "A message came back from a snooze, at its moment or because somebody ended it.",
    EventType.MESSAGE_DELETED: "A message was deleted from an inbox; the event has it as it was.",
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
    """A secret of an endpoint; `until` is when it expires, None for the current one."""

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
    """An empty set means all events."""
    secrets: tuple[SigningSecret, ...]
    """The current one first."""
    active: bool
    disabled_reason: str | None = None
    failing_since: Millis | None = None
    created_at: Millis
    updated_at: Millis

    @property
    def takes_callbacks(self) -> bool:
        """Whether it stands for the reply callbacks of steps, whose events have URLs of their own.

        There is one in each environment that needs it, with the id of the environment.
        """
        return self.id == WebhookEndpointId(self.environment_id)

    @property
    def secret(self) -> Secret:
        return Secret(self.secrets[0].text)

    def signing_keys(self, now: Millis) -> list[bytes]:
        return [one.key for one in self.secrets if one.until is None or one.until > now]


class LoggedAttempt(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An attempt as the log of its delivery has it."""

    at: Millis
    """When it ended."""
    milliseconds: int = 0
    status: int | None = None
    error: str | None = None


class Delivery(Struct, frozen=True, kw_only=True):
    """The delivery of an event to one endpoint, with the response to its last attempt."""

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
    attempt_log: str | None = None
    """JSON array of the newest attempts, those before a replay included; None before the first."""
    url: str | None = None
    """Where the event goes instead of the URL of the endpoint."""


class DeliveryAttempt(Struct, frozen=True, kw_only=True):
    """The result of posting an event; no error means that the receiver accepted it."""

    error: str | None = None
    status: int | None = None
    retry_after_seconds: int | None = None
    milliseconds: int = 0
    """How long the receiver took."""

    @property
    def is_success(self) -> bool:
        return self.error is None

    @property
    def is_gone(self) -> bool:
        return self.status == _GONE


def read_log(text: str | None) -> list[LoggedAttempt]:
    return [] if text is None else _decode_log(text)


def append_to_log(text: str | None, attempt: DeliveryAttempt, now: Millis) -> str:
    """Return the log with one more attempt; the oldest are dropped."""
    logged = LoggedAttempt(
        at=now, milliseconds=attempt.milliseconds, status=attempt.status, error=attempt.error and attempt.error[:500]
    )
    return json_text([*read_log(text), logged][-MAX_LOGGED:])


def new_secret() -> SigningSecret:
    return SigningSecret(f"whsec_{base64.b64encode(random_bytes(_SECRET_BYTES)).decode()}")


def rotate_secrets(secrets: Sequence[SigningSecret], now: Millis) -> tuple[SigningSecret, ...]:
    """Return a new secret and the previous one, which still signs for a while; older ones are dropped."""
    return new_secret(), SigningSecret(secrets[0].text, Millis(now + ROTATION_OVERLAP))


def enable(endpoint: Endpoint) -> Endpoint:
    """Return the endpoint active and without its failures."""
    return replace(endpoint, active=True, disabled_reason=None, failing_since=None)


def next_attempt_at(number: int, attempt: DeliveryAttempt, now: Millis) -> Millis | None:
    """Return when to retry after a failed attempt, or None if it was the last.

    The receiver's Retry-After can make the delay longer, never shorter.
    """
    if number >= MAX_ATTEMPTS or attempt.is_gone:
        return None
    # Jitter keeps the retries after one outage from arriving together.
    delay = RETRY_DELAYS[number - 1] * random.uniform(1, 1.2)  # noqa: S311 - not a secret
    return Millis(now + max(int(delay), (attempt.retry_after_seconds or 0) * SECOND))


_decode_log = msgspec.json.Decoder(list[LoggedAttempt]).decode
