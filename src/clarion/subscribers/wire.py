"""Shapes of subscribers."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

from msgspec import UNSET, Meta, UnsetType, field

from clarion.clock import iso_text
from clarion.http.pages import CursorQuery
from clarion.http.wire import (
    DateTimeText,
    DeviceToken,
    EmailText,
    Locale,
    SecretUrl,
    SubscriberKeyText,
    Timezone,
    Wire,
    given,
)
from clarion.ids import OrganizationId, id_text
from clarion.subscribers.model import MAX_DEVICE_TOKENS, ChannelEntry, Subscriber
from clarion.vocabulary import ChannelProvider

ContactText = Annotated[str, Meta(max_length=2048)]


class SubscriberPatch(Wire):
    """Omitted fields stay as they are, null clears, `data` is replaced whole."""

    first_name: ContactText | UnsetType | None = UNSET
    last_name: ContactText | UnsetType | None = UNSET
    email: EmailText | UnsetType | None = UNSET
    phone: ContactText | UnsetType | None = UNSET
    avatar: ContactText | UnsetType | None = UNSET
    locale: Locale | UnsetType | None = UNSET
    timezone: Timezone | UnsetType | None = UNSET
    data: dict[str, Any] | UnsetType | None = UNSET
    """Your own values of the person, which templates see as `subscriber.data`; replaced whole."""


class SubscriberIn(SubscriberPatch):
    subscriber_id: SubscriberKeyText


class SubscribersIn(Wire):
    subscribers: Annotated[list[SubscriberIn], Meta(min_length=1, max_length=500)]
    """The people to create or change."""


class CreateSubscriberQuery(Wire):
    fail_if_exists: bool = False


class SubscriberQuery(CursorQuery):
    limit: Annotated[int, Meta(ge=1, le=1000)] = 10
    email: str | None = None
    """Only subscribers whose e-mail address contains this text, in any case."""
    name: str | None = None
    """Only subscribers whose first and last name contain this text, case-sensitively."""
    phone: str | None = None
    """Only subscribers whose phone number contains this text."""
    subscriber_id: str | None = None
    """Only the subscriber with exactly this `subscriberId`."""


class OnlineStatusIn(Wire):
    is_online: bool
    """Whether the person is online now."""


_CREDENTIAL = Meta(max_length=4096)
CredentialText = Annotated[str, _CREDENTIAL]


class ChannelCredentials(Wire):
    webhook_url: Annotated[SecretUrl, _CREDENTIAL] | UnsetType = UNSET
    """The incoming webhook that chat messages are posted to."""
    channel: CredentialText | UnsetType = UNSET
    """The name or id of a channel at the chat provider, where the integration has a bot."""
    device_tokens: (
        Annotated[list[Annotated[DeviceToken, _CREDENTIAL]], Meta(max_length=MAX_DEVICE_TOKENS)] | UnsetType
    ) = UNSET
    alert_uid: CredentialText | UnsetType = UNSET
    """Grafana OnCall: alerts with the same text are grouped."""
    title: CredentialText | UnsetType = UNSET
    """Grafana OnCall: the title of the alert."""
    image_url: CredentialText | UnsetType = UNSET
    """Grafana OnCall: the URL of a picture in the alert."""
    state: CredentialText | UnsetType = UNSET
    """Grafana OnCall: the state of the alert, such as `alerting`."""
    external_url: CredentialText | UnsetType = UNSET
    """Grafana OnCall: a link that the alert leads to."""


class CredentialsIn(Wire):
    provider_id: ChannelProvider
    integration_identifier: str | None = None
    """The identifier of the integration; without it, the newest one of the provider."""
    credentials: ChannelCredentials
    """The address of the person at the provider: device tokens of push, a webhook or a channel of chat."""


class SubscriberChannelOut(Wire):
    provider_id: str
    integration_identifier: str
    credentials: dict[str, Any]
    """The address of the person at the provider."""
    integration_id: str = field(name="_integrationId")

    @classmethod
    def of(cls, channel: ChannelEntry) -> Self:
        return cls(
            provider_id=channel.provider_id,
            integration_identifier=channel.integration_identifier,
            credentials=channel.credentials,
            integration_id=id_text(channel.integration_id),
        )


class SubscriberOut(Wire):
    """A subscriber as v2 sends it: every field, null where unset."""

    id: str = field(name="_id")
    subscriber_id: str
    first_name: str | None
    last_name: str | None
    email: str | None
    phone: str | None
    avatar: str | None
    locale: str | None
    timezone: str | None
    data: dict[str, Any] | None
    """Your own values of the person, which templates see as `subscriber.data`."""
    channels: list[SubscriberChannelOut]
    """The credentials of the person for chat and push, one entry for each integration."""
    is_online: bool | None
    last_online_at: DateTimeText | None
    version: int = field(name="__v")
    organization_id: str = field(name="_organizationId")
    environment_id: str = field(name="_environmentId")
    deleted: bool
    """Always false; deleted subscribers are not found."""
    created_at: DateTimeText
    updated_at: DateTimeText

    @classmethod
    def of(cls, subscriber: Subscriber, channels: Sequence[ChannelEntry], organization_id: OrganizationId) -> Self:
        return cls(
            id=id_text(subscriber.id),
            subscriber_id=subscriber.key,
            first_name=subscriber.first_name,
            last_name=subscriber.last_name,
            email=subscriber.email,
            phone=subscriber.phone,
            avatar=subscriber.avatar,
            locale=subscriber.locale,
            timezone=subscriber.timezone,
            data=subscriber.data,
            channels=[SubscriberChannelOut.of(channel) for channel in channels],
            is_online=subscriber.is_online,
            last_online_at=None if subscriber.last_online_at is None else iso_text(subscriber.last_online_at),
            version=subscriber.version,
            organization_id=id_text(organization_id),
            environment_id=id_text(subscriber.environment_id),
            deleted=False,
            created_at=iso_text(subscriber.created_at),
            updated_at=iso_text(subscriber.updated_at),
        )


class SubscriberV1Out(Wire):
    """A subscriber as v1 sends it: unset fields are absent."""

    id: str = field(name="_id")
    subscriber_id: str
    first_name: str | UnsetType = UNSET
    last_name: str | UnsetType = UNSET
    email: str | UnsetType = UNSET
    phone: str | UnsetType = UNSET
    avatar: str | UnsetType = UNSET
    locale: str | UnsetType = UNSET
    timezone: str | UnsetType = UNSET
    data: dict[str, Any] | UnsetType = UNSET
    """Your own values of the person, which templates see as `subscriber.data`."""
    channels: list[SubscriberChannelOut]
    """The credentials of the person for chat and push, one entry for each integration."""
    is_online: bool | UnsetType = UNSET
    last_online_at: DateTimeText | UnsetType = UNSET
    version: int = field(name="__v")
    organization_id: str = field(name="_organizationId")
    environment_id: str = field(name="_environmentId")
    deleted: bool
    """Always false; deleted subscribers are not found."""
    created_at: DateTimeText
    updated_at: DateTimeText

    @classmethod
    def of(cls, subscriber: Subscriber, channels: Sequence[ChannelEntry], organization_id: OrganizationId) -> Self:
        full = SubscriberOut.of(subscriber, channels, organization_id)
        return cls(**{name: given(getattr(full, name)) for name in cls.__struct_fields__})


class SubscriberKeyOut(Wire):
    subscriber_id: str


class FailedSubscriberOut(Wire):
    subscriber_id: str
    message: str
    """Why the subscriber was not stored."""


class BulkSubscribersOut(Wire):
    created: list[SubscriberKeyOut]
    """Those that are new."""
    updated: list[SubscriberKeyOut]
    """Those that existed already."""
    failed: list[FailedSubscriberOut]
    """Those that were not stored; the others were."""


class DeletedOut(Wire):
    acknowledged: bool
    status: Literal["deleted"]
    """Always `deleted`."""
