"""Shapes of messages and of the in-app feed."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from msgspec import UNSET, Meta, Struct, UnsetType, field

from clarion.clock import Millis, iso_text
from clarion.contexts.wire import ContextKeysFilter
from clarion.http.pages import PageNumber
from clarion.http.wire import DateTimeText, DeviceToken, SecretUrl, Wire, given, one_of
from clarion.ids import OrganizationId, id_text
from clarion.messages.changes import ChangeState
from clarion.messages.model import Message, MessageOrigin
from clarion.providers.builtin import BuiltinNames
from clarion.providers.definition.receipts import ReceiptKind
from clarion.subscribers.model import Subscriber
from clarion.subscribers.wire import SubscriberV1Out
from clarion.tracking.model import Tracking
from clarion.vocabulary import Channel, MarkAs, MessageStatus, Severity

MAX_MARKED = 1000
OutboxChannel = Literal["email", "sms"]
Base64JsonText = Annotated[
    str,
    Meta(
        description="A JSON object in base64",
        extra_json_schema={"contentEncoding": "base64", "contentMediaType": "application/json"},
    ),
]
# Clients read `cta.action` without checking that it exists.
_NO_ACTION: dict[str, Any] = {"action": {"buttons": []}}


class MessageQuery(Wire):
    channel: Channel | None = None
    """Only messages of this channel."""
    subscriber_id: str | None = None
    transaction_id: tuple[str, ...] = ()
    context_keys: ContextKeysFilter | None = None
    """Only messages of exactly this context, as `type:id` texts in any order; one empty text is for none."""
    page: PageNumber = 0
    limit: Annotated[int, Meta(ge=1, le=1000)] = 10


class OutboxQuery(Wire):
    channel: OutboxChannel | None = None
    """Only e-mails, or only SMS."""
    recipient: Annotated[str, Meta(max_length=320)] | None = None
    """A part of the address or number that it went to, in any case, or a whole subscriberId."""
    page: PageNumber = 0
    limit: Annotated[int, Meta(ge=1, le=1000)] = 10


class DeleteMessagesQuery(Wire):
    channel: Channel | None = None
    """Only the message of this channel; without it, those of all channels."""


class FeedQuery(Wire):
    page: PageNumber = 0
    limit: Annotated[int, Meta(ge=1, le=100)] = 10
    read: bool | None = None
    seen: bool | None = None
    payload: Base64JsonText | None = None
    """Only messages of triggers whose payload has these members."""


class UnseenQuery(Wire):
    seen: bool = False
    """Count the messages that are seen in the place of those that are not."""
    limit: Annotated[int, Meta(ge=1, le=100)] = 100
    """The count stops here."""


class MarkIn(Wire):
    message_id: str | Annotated[list[str], Meta(min_length=1, max_length=MAX_MARKED)]
    """The `_id` of the message, or of several."""
    mark_as: MarkAs
    """What the messages become; `read` implies `seen`."""


class MessageActionIn(Wire):
    """What became of a button of an in-app message."""

    status: Literal["pending", "done"]
    """Whether the button was used: `done` also marks the message as read, `pending` takes the use back."""
    payload: dict[str, Any] | None = None
    """What the application wants to keep of it, at most 16 KB of JSON; shown as `cta.action.result.payload`."""


class MarkAllIn(Wire):
    mark_as: MarkAs
    """What the messages become; `read` implies `seen`."""
    feed_identifier: str | list[str] | None = None
    """A named feed. No message belongs to one, so that nothing changes if it is given."""


class CountOut(Wire):
    count: int


class FeedActorOut(Wire):
    type: Literal["none", "user", "system_icon", "system_custom"]
    """What stands for who caused the message."""
    data: str | None
    """The picture or the name of the icon; null if there is none."""


class FeedSubscriberOut(Wire):
    id: str = field(name="_id")
    subscriber_id: str
    first_name: str | UnsetType = UNSET
    last_name: str | UnsetType = UNSET
    avatar: str | UnsetType = UNSET

    @classmethod
    def of(cls, subscriber: Subscriber) -> Self:
        return cls(
            id=id_text(subscriber.id),
            subscriber_id=subscriber.key,
            first_name=given(subscriber.first_name),
            last_name=given(subscriber.last_name),
            avatar=given(subscriber.avatar),
        )


class MessageView(Struct, frozen=True, kw_only=True):
    """A message with the other data that its response shapes need."""

    message: Message
    origin: MessageOrigin
    organization_id: OrganizationId
    names: BuiltinNames


class _MessageBase(Wire):
    """The fields that a message and a feed item share."""

    id: str = field(name="_id")
    template_id: str = field(name="_templateId")
    environment_id: str = field(name="_environmentId")
    message_template_id: str = field(name="_messageTemplateId")
    """The `_id` of the step."""
    organization_id: str = field(name="_organizationId")
    notification_id: str = field(name="_notificationId")
    subscriber_id: str = field(name="_subscriberId")
    job_id: str = field(name="_jobId")
    feed_id: str | None = field(name="_feedId")
    """Always null; there are no named feeds."""
    template_identifier: str
    """The identifier of the workflow."""
    transaction_id: str
    channel: Channel
    provider_id: str | UnsetType = UNSET
    subject: str | UnsetType = UNSET
    """The subject of an e-mail or in-app message."""
    content: str
    """What the person reads; of an e-mail its HTML."""
    cta: dict[str, Any]
    """The buttons of an in-app message, and where a click leads."""
    device_tokens: list[DeviceToken] | UnsetType = UNSET
    """The tokens of the devices that a push message went to."""
    payload: dict[str, Any]
    overrides: dict[str, Any] | UnsetType = UNSET
    data: dict[str, Any] | UnsetType = UNSET
    """The values that the step added to an in-app message."""
    tags: list[str]
    severity: Severity
    status: MessageStatus
    """Whether it was sent; `warning` if it was not tried, for want of an integration or an address."""
    seen: bool
    read: bool
    archived: bool
    last_seen_date: DateTimeText | UnsetType = UNSET
    """When the person first saw the message."""
    last_read_date: DateTimeText | UnsetType = UNSET
    """When the person read the message."""
    archived_at: DateTimeText | UnsetType = UNSET
    snoozed_until: DateTimeText | UnsetType = UNSET
    delivered_at: list[DateTimeText] | UnsetType = UNSET
    created_at: DateTimeText
    updated_at: DateTimeText


class MessageTrackingOut(Wire):
    """How often people opened an e-mail and followed its links, as they and its provider tell."""

    open_count: int
    """How often it was opened."""
    first_opened_at: DateTimeText | UnsetType = UNSET
    """When it was opened for the first time."""
    click_count: int
    """How often links were followed."""
    first_clicked_at: DateTimeText | UnsetType = UNSET
    """When a link was followed for the first time."""
    machine_count: int
    """Opens and clicks of programs, such as scanners, which are not among the others."""

    @classmethod
    def of(cls, tracking: Tracking) -> Self:
        return cls(
            open_count=tracking.open_count,
            first_opened_at=_time(tracking.first_opened_at),
            click_count=tracking.click_count,
            first_clicked_at=_time(tracking.first_clicked_at),
            machine_count=tracking.machine_count,
        )


class MessageChangeOut(Wire):
    """What became of the last change of a message after it was made."""

    state: Annotated[str, one_of(ChangeState)]
    """Whether it has the new content or is withdrawn, whether that is under way, or that it could not be done."""
    at: DateTimeText
    """When the change was asked for."""
    reason: str | UnsetType = UNSET
    """Why it could not be done."""

    @classmethod
    def of(cls, message: Message) -> Self | UnsetType:
        if message.change is None or message.changed_at is None:
            return UNSET
        return cls(state=message.change, at=iso_text(message.changed_at), reason=given(message.change_reason))


class MessageOut(_MessageBase):
    title: str | UnsetType = UNSET
    """The title of a push message."""
    email: str | UnsetType = UNSET
    """The address that an e-mail went to."""
    phone: str | UnsetType = UNSET
    """The number that an SMS went to."""
    direct_webhook_url: SecretUrl | UnsetType = UNSET
    """The webhook that a chat message went to."""
    delivery: dict[ReceiptKind, DateTimeText] | UnsetType = UNSET
    """When the provider reported what, by the kind of the report; opens and clicks also if they were tracked."""
    tracking: MessageTrackingOut | UnsetType = UNSET
    """Opens and clicks, if they are tracked or were reported."""
    context_keys: list[str]
    """The context that it belongs to, as sorted `type:id` texts; empty without a context."""
    error_id: str | UnsetType = UNSET
    error_text: str | UnsetType = UNSET
    change: MessageChangeOut | UnsetType = UNSET
    """What became of its last change; absent if it was never changed or withdrawn."""
    subscriber: SubscriberV1Out | UnsetType = UNSET

    @classmethod
    def of(cls, view: MessageView, subscriber: Subscriber | None = None) -> Self:
        message = view.message
        return cls(
            **_base_fields(view),
            title=given(message.title),
            email=given(message.email),
            phone=given(message.phone),
            direct_webhook_url=given(message.webhook_url),
            delivery=UNSET if message.delivery is None else _moments(message.delivery),
            tracking=UNSET if message.tracking is None else MessageTrackingOut.of(message.tracking),
            context_keys=message.context_keys or [],
            error_id=given(message.error_id),
            error_text=given(message.error_text),
            change=MessageChangeOut.of(message),
            subscriber=UNSET if subscriber is None else SubscriberV1Out.of(subscriber, (), view.organization_id),
        )


class FeedItemOut(_MessageBase):
    actor: FeedActorOut | UnsetType = UNSET
    """Who caused the message; absent if nobody is stored."""
    subscriber: FeedSubscriberOut

    @classmethod
    def of(cls, view: MessageView, subscriber: Subscriber) -> Self:
        return cls(
            **_base_fields(view),
            subscriber=FeedSubscriberOut.of(subscriber),
        )


def _base_fields(view: MessageView) -> dict[str, Any]:
    message, origin = view.message, view.origin
    return {
        "id": id_text(message.id),
        "template_id": id_text(message.workflow_id),
        "environment_id": id_text(message.environment_id),
        "message_template_id": id_text(message.step_id),
        "organization_id": id_text(view.organization_id),
        "notification_id": id_text(message.notification_id),
        "subscriber_id": id_text(message.subscriber_id),
        "job_id": id_text(message.job_id),
        "feed_id": None,
        "template_identifier": origin.workflow_key,
        "transaction_id": origin.transaction_key,
        "channel": message.channel,
        "provider_id": UNSET if message.provider_id is None else view.names.to_wire(message.provider_id),
        "subject": given(message.subject),
        "content": message.content,
        "cta": _NO_ACTION if message.cta is None else message.cta,
        "device_tokens": given(message.device_tokens),
        "payload": origin.payload,
        "overrides": given(origin.overrides),
        "data": given(message.data),
        "tags": origin.tags,
        "severity": message.severity,
        "status": message.status,
        "seen": message.seen,
        "read": message.read,
        "archived": message.archived,
        "last_seen_date": _time(message.seen_at),
        "last_read_date": _time(message.read_at),
        "archived_at": _time(message.archived_at),
        "snoozed_until": _time(message.snoozed_until),
        "delivered_at": UNSET if message.delivered_at is None else [iso_text(one) for one in message.delivered_at],
        "created_at": iso_text(message.created_at),
        "updated_at": iso_text(message.updated_at),
    }


def _moments(delivery: Mapping[str, Millis]) -> dict[ReceiptKind, str]:
    return {ReceiptKind(kind): iso_text(at) for kind, at in delivery.items()}


def _time(moment: Millis | None) -> str | UnsetType:
    return UNSET if moment is None else iso_text(moment)
