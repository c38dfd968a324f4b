"""Shapes of integrations."""

from collections.abc import Mapping
from typing import Annotated, Any, Self

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from clarion.clock import iso_text
from clarion.http.wire import DateTimeText, EmailText, IdText, SubscriberKeyText, Wire
from clarion.ids import OrganizationId, id_text
from clarion.integrations.model import Integration
from clarion.providers.definition.fields import list_unused
from clarion.providers.definition.result import FailureKind
from clarion.providers.registry import find_provider
from clarion.subscribers.wire import ChannelCredentials
from clarion.vocabulary import Channel, FilterJoin, FilterOperator, FilterSource, FilterType

IntegrationText = Annotated[str, Meta(min_length=1, max_length=100)]
# Long enough for keys and certificates.
CredentialText = Annotated[str, Meta(max_length=32_768)]
MaybeText = CredentialText | UnsetType
MaybeFlag = bool | UnsetType
_WEIGHT = (
    "Share of the messages of its channel. While every active integration of the channel has the weight 100, the "
    "primary sends all messages and the others are its failover. As soon as one has another weight, each message goes "
    "to one of them in proportion to their weights; give two of them 50 each to share by halves."
)
_RATE_LIMIT = (
    "The most messages per second that all workers together send to the provider. Messages beyond it wait, or go to "
    "another integration of the channel if the wait would be longer than ten seconds. Null is no limit."
)
Weight = Annotated[int, Meta(ge=1, le=1_000, description=_WEIGHT)]
RateLimit = Annotated[float, Meta(ge=0.001, le=1_000_000, description=_RATE_LIMIT)]


class IntegrationCredentials(Wire, forbid_unknown_fields=True):
    """The account at the provider; each provider needs some of these."""

    api_key: MaybeText = UNSET
    user: MaybeText = UNSET
    secret_key: MaybeText = UNSET
    domain: MaybeText = UNSET
    password: MaybeText = UNSET
    host: MaybeText = UNSET
    port: MaybeText = UNSET
    secure: MaybeFlag = UNSET
    region: MaybeText = UNSET
    account_sid: MaybeText = UNSET
    message_profile_id: MaybeText = UNSET
    token: MaybeText = UNSET
    sender: MaybeText = field(name="from", default=UNSET)
    sender_name: MaybeText = UNSET
    project_name: MaybeText = UNSET
    application_id: MaybeText = UNSET
    client_id: MaybeText = UNSET
    require_tls: MaybeFlag = UNSET
    ignore_tls: MaybeFlag = UNSET
    tls_options: dict[str, Any] | CredentialText | UnsetType = UNSET
    base_url: MaybeText = UNSET
    webhook_url: MaybeText = UNSET
    redirect_url: MaybeText = UNSET
    hmac: MaybeFlag = UNSET
    service_account: MaybeText = UNSET
    ip_pool_name: MaybeText = UNSET
    api_key_request_header: MaybeText = UNSET
    secret_key_request_header: MaybeText = UNSET
    id_path: MaybeText = UNSET
    date_path: MaybeText = UNSET
    api_token: MaybeText = UNSET
    authenticate_by_token: MaybeFlag = UNSET
    authentication_token_key: MaybeText = UNSET
    instance_id: MaybeText = UNSET
    alert_uid: MaybeText = UNSET
    title: MaybeText = UNSET
    image_url: MaybeText = UNSET
    state: MaybeText = UNSET
    external_link: MaybeText = UNSET
    channel_id: MaybeText = UNSET
    phone_number_identification: MaybeText = UNSET
    access_key: MaybeText = UNSET
    content_type: MaybeText = UNSET
    default_region: MaybeText = UNSET
    api_url: MaybeText = field(name="apiURL", default=UNSET)
    app_id: MaybeText = field(name="appID", default=UNSET)
    signing_secret: MaybeText = UNSET
    tenant_id: MaybeText = UNSET
    business_account_id: MaybeText = UNSET
    api_version: MaybeText = UNSET


class FieldFilterPart(Wire):
    field: str
    value: str
    operator: FilterOperator
    on: FilterSource


class StepFilter(Wire):
    is_negated: bool = False
    type: FilterType
    value: FilterJoin
    children: list[FieldFilterPart]


class IntegrationIn(Wire):
    name: IntegrationText | None = None
    identifier: IntegrationText | None = None
    environment_id: IdText | None = field(name="_environmentId", default=None)
    provider_id: str
    channel: Channel
    credentials: IntegrationCredentials = IntegrationCredentials()
    active: bool = False
    check: bool = False
    conditions: list[StepFilter] = field(default_factory=list)
    weight: Weight = 100
    rate_limit: RateLimit | None = None


class IntegrationPatch(Wire):
    """Omitted fields stay as they are; credentials and conditions are replaced whole."""

    name: IntegrationText | UnsetType = UNSET
    identifier: IntegrationText | UnsetType = UNSET
    environment_id: IdText | None = field(name="_environmentId", default=None)
    credentials: IntegrationCredentials | UnsetType = UNSET
    active: bool | UnsetType = UNSET
    check: bool | UnsetType = UNSET
    conditions: list[StepFilter] | UnsetType = UNSET
    weight: Weight | UnsetType = UNSET
    rate_limit: RateLimit | UnsetType | None = UNSET


class OrderIn(Wire):
    """All active integrations of a channel, in the order in which they are tried."""

    channel: Channel
    integration_ids: Annotated[list[IdText], Meta(min_length=1, max_length=1_000)]


class IntegrationOut(Wire):
    id: str = field(name="_id")
    environment_id: str = field(name="_environmentId")
    organization_id: str = field(name="_organizationId")
    name: str
    identifier: str
    provider_id: str
    channel: Channel
    credentials: IntegrationCredentials
    active: bool
    deleted: bool
    deleted_at: DateTimeText | UnsetType = UNSET
    deleted_by: str | UnsetType = UNSET
    primary: bool
    priority: int
    weight: int
    rate_limit: float | UnsetType = UNSET
    conditions: list[StepFilter]
    unused_credentials: list[str] | UnsetType = UNSET
    """Credentials that the provider does not know; nothing reads them."""
    created_at: DateTimeText
    updated_at: DateTimeText

    @classmethod
    def of(
        cls,
        integration: Integration,
        organization_id: OrganizationId,
        *,
        provider_id: str,
        credentials: Mapping[str, Any],
    ) -> Self:
        deleted_at, deleted_by = integration.deleted_at, integration.deleted_by
        return cls(
            id=id_text(integration.id),
            environment_id=id_text(integration.environment_id),
            organization_id=id_text(organization_id),
            name=integration.name,
            identifier=integration.identifier,
            provider_id=provider_id,
            channel=integration.channel,
            credentials=msgspec.convert(credentials, IntegrationCredentials),
            active=integration.active,
            deleted=deleted_at is not None,
            deleted_at=UNSET if deleted_at is None else iso_text(deleted_at),
            deleted_by=UNSET if deleted_by is None else id_text(deleted_by),
            primary=integration.is_primary,
            priority=integration.priority,
            weight=integration.weight,
            rate_limit=UNSET if integration.rate_limit is None else integration.rate_limit,
            conditions=msgspec.convert(integration.conditions, list[StepFilter]),
            unused_credentials=list_unused(find_provider(integration.provider_id), credentials) or UNSET,
            created_at=iso_text(integration.created_at),
            updated_at=iso_text(integration.updated_at),
        )


class TestMessageRecipient(ChannelCredentials):
    """The address of a test message; the channel decides which of these is used."""

    email: EmailText | UnsetType = UNSET
    phone: Annotated[str, Meta(max_length=100)] | UnsetType = UNSET


class TestMessageIn(Wire):
    """A test message; its address is given here, taken from a subscriber, or both."""

    to: TestMessageRecipient = TestMessageRecipient()
    subscriber_id: SubscriberKeyText | None = None
    subject: Annotated[str, Meta(max_length=1_000)] = "Test message"
    content: Annotated[str, Meta(min_length=1, max_length=10_000)] = (
        "This is a test message. If you can read it, the integration works."
    )


class TestMessageError(Wire):
    kind: FailureKind
    message: str
    retry_after: int | UnsetType = UNSET
    """Seconds to wait, if the provider sent them."""


class TestMessageOut(Wire):
    """The result of a test message; `answer` is the provider's response, without secrets."""

    success: bool
    provider_message_id: str | UnsetType = UNSET
    answer: Any = UNSET
    error: TestMessageError | UnsetType = UNSET
    milliseconds: int
