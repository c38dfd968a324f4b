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
Weight = Annotated[int, Meta(ge=1, le=1_000)]
RateLimit = Annotated[float, Meta(ge=0.001, le=1_000_000)]


class IntegrationCredentials(Wire, forbid_unknown_fields=True):
    """The account at the provider; each provider needs some of these."""

    api_key: MaybeText = UNSET
    """The API key of the account. Secret."""
    user: MaybeText = UNSET
    """The user name of the account."""
    secret_key: MaybeText = UNSET
    """The second key of the account, or the key that its webhooks are signed with. Secret."""
    domain: MaybeText = UNSET
    """The sending domain; of SMTP that of DKIM, of `generic-sms` the URL of access tokens."""
    password: MaybeText = UNSET
    """The password of the account. Secret."""
    host: MaybeText = UNSET
    """The name of the server."""
    port: MaybeText = UNSET
    """The port of the server."""
    secure: MaybeFlag = UNSET
    """TLS from the start, usual on port 465; of APNs the production server, of RingCentral the sandbox."""
    region: MaybeText = UNSET
    """The region of the account, such as `eu`."""
    account_sid: MaybeText = UNSET
    """The id of the account; of SMTP the DKIM selector."""
    message_profile_id: MaybeText = UNSET
    """Telnyx: the messaging profile."""
    token: MaybeText = UNSET
    """The access token of the account. Secret."""
    sender: MaybeText = field(name="from", default=UNSET)
    """The address or number that messages come from."""
    sender_name: MaybeText = UNSET
    """The name that is shown beside the address of e-mails."""
    project_name: MaybeText = UNSET
    """APNs: the team id."""
    application_id: MaybeText = UNSET
    """The id of the app at the provider."""
    client_id: MaybeText = UNSET
    """The client id of OAuth."""
    require_tls: MaybeFlag = UNSET
    """Whether SMTP sends nothing where the server offers no encryption."""
    ignore_tls: MaybeFlag = UNSET
    """Whether SMTP sends without encryption even where the server offers it."""
    tls_options: dict[str, Any] | CredentialText | UnsetType = UNSET
    """Options of TLS: `rejectUnauthorized`, `ca`, `servername`, `minVersion`; an object or its JSON."""
    base_url: MaybeText = UNSET
    """The URL of the provider's API, if it is another than usual."""
    webhook_url: MaybeText = UNSET
    """The address that is called for each message."""
    redirect_url: MaybeText = UNSET
    """Slack, Teams and Webex: where people return to after they have connected."""
    hmac: MaybeFlag = UNSET
    """In-app: whether sessions of the inbox need a hash that proves who the subscriber is. Slack, Teams, Webex and
    Telegram: whether they need it to connect or link a chat."""
    service_account: MaybeText = UNSET
    """FCM: the whole JSON file of the service account. Secret."""
    ip_pool_name: MaybeText = UNSET
    """The pool of sending addresses, where the account has several."""
    api_key_request_header: MaybeText = UNSET
    """Generic SMS: the request header that has the API key."""
    secret_key_request_header: MaybeText = UNSET
    """Generic SMS: the request header that has the secret key."""
    id_path: MaybeText = UNSET
    """Generic SMS: where the response has the id of the message, for example `data.id`."""
    date_path: MaybeText = UNSET
    """Generic SMS: where the response has the date, for example `data.sentAt`."""
    api_token: MaybeText = UNSET
    """The API token of the account. Secret."""
    authenticate_by_token: MaybeFlag = UNSET
    """Generic SMS: whether an access token is fetched before each send."""
    authentication_token_key: MaybeText = UNSET
    """Generic SMS: the request header that has the fetched token."""
    instance_id: MaybeText = UNSET
    """Pusher Beams: the instance."""
    alert_uid: MaybeText = UNSET
    """Grafana OnCall: alerts with the same text are grouped."""
    title: MaybeText = UNSET
    """Grafana OnCall: the title of alerts."""
    image_url: MaybeText = UNSET
    """Grafana OnCall: the URL of a picture in alerts."""
    state: MaybeText = UNSET
    """Grafana OnCall: the state of alerts, such as `alerting`."""
    external_link: MaybeText = UNSET
    """Grafana OnCall: a link that alerts lead to."""
    channel_id: MaybeText = UNSET
    """Eazy SMS: the channel."""
    phone_number_identification: MaybeText = UNSET
    """WhatsApp: the id of the phone number."""
    access_key: MaybeText = UNSET
    """The access key or connection string of the account. Secret."""
    content_type: MaybeText = UNSET
    """iSend SMS: `unicode` or `plain`; without it, each message decides."""
    default_region: MaybeText = UNSET
    """The country, such as GB, of phone numbers without a country code."""
    api_url: MaybeText = field(name="apiURL", default=UNSET)
    """Braze: another name of `baseUrl`."""
    app_id: MaybeText = field(name="appID", default=UNSET)
    """Braze: another name of `applicationId`."""
    signing_secret: MaybeText = UNSET
    """Slack: the secret that requests are signed with. Secret."""
    tenant_id: MaybeText = UNSET
    """Microsoft Teams: the tenant."""
    business_account_id: MaybeText = UNSET
    """WhatsApp: the business account."""
    api_version: MaybeText = UNSET
    """OneSignal: the version of the API."""


class FieldFilterPart(Wire):
    field: str
    """The name of the field, such as `data.plan`."""
    value: str
    """What the field is compared with, as a text; templates are rendered."""
    operator: FilterOperator
    """How the two are compared."""
    on: FilterSource
    """Where the field is: in the subscriber or in the payload."""


class StepFilter(Wire):
    is_negated: bool = False
    """Whether the filter holds if its parts do not."""
    type: FilterType
    """Accepted for compatibility: the operators decide how values are compared."""
    value: FilterJoin
    """Whether all parts have to hold, or one of them."""
    children: list[FieldFilterPart]
    """The comparisons."""


class IntegrationIn(Wire):
    name: IntegrationText | None = None
    """What people call the integration; by default the name of the provider."""
    identifier: IntegrationText | None = None
    """Your own name of the integration, unique in the environment; made up if absent."""
    environment_id: IdText | None = field(name="_environmentId", default=None)
    """The `_id` of the environment; only that of the caller is possible."""
    provider_id: str
    """The provider; `GET /v1/providers` lists them with the credentials that each needs."""
    channel: Channel
    """The channel of the provider."""
    credentials: IntegrationCredentials = IntegrationCredentials()
    """The account at the provider."""
    active: bool = False
    """Whether messages are sent through it."""
    check: bool = False
    """Whether to try the credentials at the provider first, and refuse those that it does not accept."""
    conditions: list[StepFilter] = field(default_factory=list)
    """For which people or payloads it is used; without any, for all. The primary has none."""
    weight: Weight = 100
    rate_limit: RateLimit | None = None


class IntegrationPatch(Wire):
    """Omitted fields stay as they are; credentials and conditions are replaced whole.

    Only `hmac` of the inbox stays as it is if the credentials leave it out: false switches it off.
    """

    name: IntegrationText | UnsetType = UNSET
    """What people call the integration."""
    identifier: IntegrationText | UnsetType = UNSET
    """Your own name of the integration, unique in the environment."""
    environment_id: IdText | None = field(name="_environmentId", default=None)
    """The `_id` of the environment; only that of the caller is possible."""
    credentials: IntegrationCredentials | UnsetType = UNSET
    """The account at the provider; a masked secret, `********`, stays as it is."""
    active: bool | UnsetType = UNSET
    """Whether messages are sent through it."""
    check: bool | UnsetType = UNSET
    """Whether to try the credentials at the provider first, and refuse those that it does not accept."""
    conditions: list[StepFilter] | UnsetType = UNSET
    """For which people or payloads it is used; empty is for all."""
    weight: Weight | UnsetType = UNSET
    rate_limit: RateLimit | UnsetType | None = UNSET


class OrderIn(Wire):
    """All active integrations of a channel, in the order in which they are tried."""

    channel: Channel
    """The channel whose integrations are sorted."""
    integration_ids: Annotated[list[IdText], Meta(min_length=1, max_length=1_000)]
    """The `_id`s of all active integrations of the channel; the first becomes the primary."""


class IntegrationOut(Wire):
    id: str = field(name="_id")
    environment_id: str = field(name="_environmentId")
    organization_id: str = field(name="_organizationId")
    name: str
    """What people call the integration."""
    identifier: str
    """Your own name of the integration."""
    provider_id: str
    channel: Channel
    """The channel of the provider."""
    credentials: IntegrationCredentials
    """The account at the provider; secrets are `********` unless the caller may see them."""
    active: bool
    """Whether messages are sent through it."""
    deleted: bool
    """Whether it was deleted."""
    deleted_at: DateTimeText | UnsetType = UNSET
    """When it was deleted."""
    deleted_by: str | UnsetType = UNSET
    """The `_id` of who deleted it."""
    primary: bool
    """Whether it is the first choice of its channel."""
    priority: int
    """Its place among those of the channel; a greater number is tried earlier, and 0 is inactive."""
    weight: int
    rate_limit: float | UnsetType = UNSET
    conditions: list[StepFilter]
    """For which people or payloads it is used; empty is for all."""
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
    """The address to send to."""
    subscriber_id: SubscriberKeyText | None = None
    """The subscriber whose address is used, as far as `to` does not have it."""
    subject: Annotated[str, Meta(max_length=1_000)] = "Test message"
    """The subject of an e-mail, or the title of a push message."""
    content: Annotated[str, Meta(min_length=1, max_length=10_000)] = (
        "This is a test message. If you can read it, the integration works."
    )
    """The text of the message."""


class TestMessageError(Wire):
    kind: FailureKind
    """Whether a retry may help, and whom the error is about."""
    message: str
    """The error, in the words of the provider if it gave any."""
    retry_after: int | UnsetType = UNSET
    """Seconds to wait, if the provider sent them."""


class TestMessageOut(Wire):
    """The result of a test message."""

    success: bool
    """Whether the provider accepted the message."""
    provider_message_id: str | UnsetType = UNSET
    """The id that the provider gave the message."""
    answer: Any = UNSET
    """The response of the provider, without secrets."""
    error: TestMessageError | UnsetType = UNSET
    """Why it was not accepted."""
    milliseconds: int
    """How long the provider took to answer."""
