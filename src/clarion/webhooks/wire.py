"""Shapes of endpoints, deliveries and events."""

from typing import Annotated, Any, Self

from msgspec import UNSET, Meta, UnsetType, field
from msgspec.structs import replace

from clarion.clock import iso_text
from clarion.db.port import Row
from clarion.http.masking import mask_url
from clarion.http.pages import CursorQuery
from clarion.http.wire import CheckedText, DateTimeText, IdText, MomentText, Wire, given
from clarion.ids import id_text
from clarion.jsontext import json_value
from clarion.providers.builtin import BUILTIN
from clarion.vocabulary import Channel, MessageStatus
from clarion.webhooks.model import Delivery, DeliveryStatus, Endpoint, EventType, LoggedAttempt, read_log


class EndpointUrl(CheckedText):
    __slots__ = ()
    RULE = "must be a URL of at most 2048 characters that begins with https:// or http://"
    FORMAT = "uri"
    EXAMPLE = "https://example.com/hooks/clarion"

    @classmethod
    def accepts(cls, text: str) -> bool:
        return len(text) <= 2048 and text.isprintable() and text.startswith(("https://", "http://"))


class Description(CheckedText):
    __slots__ = ()
    RULE = "must have at most 500 characters and no control characters"
    EXAMPLE = "Billing"

    @classmethod
    def accepts(cls, text: str) -> bool:
        return len(text) <= 500 and text.isprintable()


EventTypes = Annotated[list[EventType], Meta(max_length=100)]


class EndpointIn(Wire):
    url: EndpointUrl
    """Where events are posted to."""
    description: Description | None = None
    """What the endpoint is for."""
    event_types: EventTypes = field(default_factory=list)
    """The events that it gets; an empty list is all."""
    active: bool = True
    """Whether events are sent to it."""


class EndpointPatch(Wire):
    """Omitted fields stay as they are; an empty list of event types means all events."""

    url: EndpointUrl | UnsetType = UNSET
    """Where events are posted to."""
    description: Description | UnsetType | None = UNSET
    """What the endpoint is for; null clears it."""
    event_types: EventTypes | UnsetType = UNSET
    """The events that it gets; an empty list is all."""
    active: bool | UnsetType = UNSET
    """Whether events are sent to it; true also switches on one that was disabled for failing."""


class EndpointOut(Wire):
    id: str = field(name="_id")
    environment_id: str = field(name="_environmentId")
    url: str
    """Where events are posted to; without the scope `webhooks:write` its host alone, as it may have a token.

    Empty for the endpoint of reply callbacks, which has the `_id` of the environment: each of its events has its own.
    """
    description: str | UnsetType = UNSET
    """What the endpoint is for."""
    event_types: list[EventType]
    """The events that it gets; an empty list is all."""
    active: bool
    """Whether events are sent to it."""
    disabled_reason: str | UnsetType = UNSET
    """Why it was switched off by itself."""
    failing_since: DateTimeText | UnsetType = UNSET
    """Since when no delivery to it succeeded; absent while they do."""
    created_at: DateTimeText
    updated_at: DateTimeText

    @classmethod
    def of(cls, endpoint: Endpoint) -> Self:
        return cls(**_endpoint(endpoint))

    def masked(self) -> Self:
        """The endpoint for those who may not change it."""
        return replace(self, url=mask_url(self.url))


class NewEndpointOut(EndpointOut):
    secret: str
    """The secret that events are signed with; shown here and never again."""

    @classmethod
    def of(cls, endpoint: Endpoint) -> Self:
        return cls(**_endpoint(endpoint), secret=endpoint.secret.reveal())


class EndpointSecretOut(Wire):
    secret: str
    """The new secret that events are signed with; shown here and never again."""
    previous_until: DateTimeText
    """When the previous secret stops signing."""


class EventTypeInfoOut(Wire):
    type: EventType
    """The name of the event."""
    description: str
    """When it happens, and what its payload has."""


class DeliveriesQuery(CursorQuery):
    status: DeliveryStatus | None = None


class AttemptOut(Wire):
    """One attempt to deliver an event."""

    at: DateTimeText
    """When it was tried."""
    milliseconds: int
    response_status: int | UnsetType = UNSET
    """Absent if the receiver did not answer."""
    error_text: str | UnsetType = UNSET
    """Absent if the receiver took the event."""

    @classmethod
    def of(cls, attempt: LoggedAttempt) -> Self:
        return cls(
            at=iso_text(attempt.at),
            milliseconds=attempt.milliseconds,
            response_status=given(attempt.status),
            error_text=given(attempt.error),
        )


class DeliveryOut(Wire):
    id: str = field(name="_id")
    endpoint_id: str = field(name="_endpointId")
    """The `_id` of the endpoint."""
    event_id: str
    """The `webhook-id` that the receiver gets."""
    type: EventType
    """The name of the event."""
    url: str | UnsetType = UNSET
    """Where a reply callback is posted to, masked as that of an endpoint; absent: the URL of the endpoint."""
    payload: dict[str, Any]
    """The event as it is posted; that of a reply callback has a `payload` only for keys with `events:read`."""
    status: DeliveryStatus
    """What has become of the delivery."""
    attempts: int
    """How often it was tried, since the last replay."""
    next_attempt_at: DateTimeText | UnsetType = UNSET
    """When the next attempt is due; absent if none is."""
    response_status: int | UnsetType = UNSET
    """The HTTP status of the last response; absent if the receiver did not answer."""
    error_text: str | UnsetType = UNSET
    """Why the last attempt failed."""
    attempt_log: list[AttemptOut]
    """The newest 30 attempts, the oldest first, with those before a replay."""
    created_at: DateTimeText
    updated_at: DateTimeText

    @classmethod
    def of(cls, delivery: Delivery) -> Self:
        return cls(
            id=id_text(delivery.id),
            endpoint_id=id_text(delivery.endpoint_id),
            event_id=id_text(delivery.event_id),
            type=delivery.type,
            url=given(delivery.url),
            payload=json_value(delivery.payload),
            status=delivery.status,
            attempts=delivery.attempt,
            next_attempt_at=UNSET if delivery.due_at is None else iso_text(delivery.due_at),
            response_status=given(delivery.response_status),
            error_text=given(delivery.error_text),
            attempt_log=[AttemptOut.of(one) for one in read_log(delivery.attempt_log)],
            created_at=iso_text(delivery.created_at),
            updated_at=iso_text(delivery.updated_at),
        )

    def masked(self) -> Self:
        """The delivery for those who may not change endpoints."""
        return self if isinstance(self.url, UnsetType) else replace(self, url=mask_url(self.url))

    def without_trigger(self) -> Self:
        """The delivery for those who may not read events: a reply callback has the payload of the trigger."""
        if isinstance(self.url, UnsetType):
            return self
        return replace(self, payload={name: value for name, value in self.payload.items() if name != "payload"})


class ReplayIn(Wire):
    since: MomentText
    """Replay the deliveries of events from this moment on."""
    after: IdText | None = None
    """Continue after this delivery: the `last` of the previous response."""
    status: DeliveryStatus | None = None
    """Only those that failed, or only those that were delivered."""


class ReplayResultOut(Wire):
    replayed: int
    """How many deliveries are sent again now."""
    has_more: bool
    """Whether there are more; call again with `after`."""
    last: str | UnsetType = UNSET
    """The `_id` of the last delivery, for `after` of the next call."""


class MessageEvent(Wire):
    """A message as events show it: without its content and addresses, which the API has."""

    id: str = field(name="_id")
    notification_id: str = field(name="_notificationId")
    job_id: str = field(name="_jobId")
    template_id: str = field(name="_templateId")
    template_identifier: str
    recipient_id: str = field(name="_subscriberId")
    subscriber_id: str
    transaction_id: str
    channel: Channel
    provider_id: str | UnsetType = UNSET
    status: MessageStatus
    seen: bool
    read: bool
    error_text: str | UnsetType = UNSET
    created_at: DateTimeText
    updated_at: DateTimeText

    @classmethod
    def of(cls, row: Row) -> Self:
        provider_id = row["provider_id"]
        return cls(
            id=id_text(row["id"]),
            notification_id=id_text(row["notification_id"]),
            job_id=id_text(row["job_id"]),
            template_id=id_text(row["workflow_id"]),
            template_identifier=row["workflow_key"],
            recipient_id=id_text(row["subscriber_id"]),
            subscriber_id=row["subscriber_key"],
            transaction_id=row["transaction_key"],
            channel=Channel(row["channel"]),
            # Built-in providers have no name outside of Clarion.
            provider_id=UNSET if provider_id is None or provider_id in BUILTIN else provider_id,
            status=MessageStatus(row["status"]),
            seen=bool(row["seen"]),
            read=bool(row["read"]),
            error_text=given(row["error_text"]),
            created_at=iso_text(row["created_at"]),
            updated_at=iso_text(row["updated_at"]),
        )


def _endpoint(endpoint: Endpoint) -> dict[str, Any]:
    failing_since = endpoint.failing_since
    return {
        "id": id_text(endpoint.id),
        "environment_id": id_text(endpoint.environment_id),
        "url": endpoint.url,
        "description": given(endpoint.description),
        "event_types": [EventType.MESSAGE_REPLIED] if endpoint.takes_callbacks else sorted(endpoint.events),
        "active": endpoint.active,
        "disabled_reason": given(endpoint.disabled_reason),
        "failing_since": UNSET if failing_since is None else iso_text(failing_since),
        "created_at": iso_text(endpoint.created_at),
        "updated_at": iso_text(endpoint.updated_at),
    }
