"""Fields: the credentials of a provider as a form asks for them, with labels and help, and which of them are secret."""

from collections.abc import Mapping
from enum import StrEnum
from types import UnionType
from typing import Annotated, Any, NamedTuple, get_args, get_origin

from msgspec import Struct
from msgspec.structs import FieldInfo, fields

from clarion.providers.definition.credentials import EMAIL_ADDRESS, JSON_OBJECT, PORT, URL, get_format_rules, is_blank
from clarion.providers.definition.provider import Provider
from clarion.providers.definition.references import is_reference
from clarion.secret import Secret
from clarion.vocabulary import Channel

MASK = "********"
"""Shown instead of a secret. Sent back, it stands for the secret that is stored."""
# Credentials that may be shown and may appear in error texts; all others are secret.
NOT_SECRET = frozenset(
    {
        *("host", "port", "from", "senderName", "user", "domain", "region", "title", "state", "imageUrl", "alertUid"),
        *("externalLink", "idPath", "datePath", "apiKeyRequestHeader", "secretKeyRequestHeader", "ipPoolName"),
        *("authenticationTokenKey", "channelId", "projectName", "contentType", "defaultRegion", "apiVersion"),
        *("tenantId", "businessAccountId"),
    }
)
SERVERS = frozenset(
    {"host", "port", "baseUrl", "apiURL", "domain", "region", "tlsOptions", "requireTls", "ignoreTls", "secure"}
)
"""Credentials that decide which server gets the secrets of the account, and how: none refers to a variable.

Else whoever may change variables, and no integration, could send secrets to a server of their own.
"""
_DESTINATIONS = (*SERVERS, "webhookUrl")


class FieldKind(StrEnum):
    """How a value is typed in."""

    TEXT = "text"
    SECRET = "secret"  # noqa: S105 - a kind of field
    SWITCH = "switch"
    URL = "url"
    EMAIL = "email"
    PORT = "port"
    JSON = "json"


class CredentialField(Struct, frozen=True, kw_only=True, rename="camel"):
    """One credential of a provider."""

    name: str
    label: str
    kind: FieldKind
    required: bool
    secret: bool
    help: str


class FieldText(NamedTuple):
    label: str
    help: str = ""


def list_fields(provider: Provider) -> list[CredentialField]:
    """Return the credentials of a provider, required ones first."""
    return sorted((_describe(provider, one) for one in fields(provider.credentials)), key=lambda one: not one.required)


def _describe(provider: Provider, info: FieldInfo) -> CredentialField:
    text = find_field_text(provider.id, info.encode_name, is_email=provider.channel is Channel.EMAIL)
    return CredentialField(
        name=info.encode_name,
        label=text.label,
        kind=_find_kind(provider, info.encode_name, info.type),
        required=info.required,
        secret=_is_secret_type(info.type),
        help=text.help,
    )


def list_unused(provider: Provider | None, credentials: Mapping[str, Any]) -> list[str]:
    """Return the names of credentials that the provider does not know."""
    if provider is None or provider.channel is Channel.IN_APP:
        return []
    known = {one.encode_name for one in fields(provider.credentials)}
    # A value under the name of the field wins over one in another spelling.
    known |= {old for old, new in provider.credentials.SPELLINGS.items() if is_blank(credentials, new)}
    return sorted(credentials.keys() - known)


def mask_secrets(provider: Provider | None, credentials: Mapping[str, Any]) -> dict[str, Any]:
    """Return the credentials with the mask instead of each secret; a reference to a variable is none."""
    known = _secret_by_name(provider)
    return {
        name: MASK if value and known.get(name, _may_be_secret(name, value)) and not is_reference(value) else value
        for name, value in credentials.items()
    }


def list_secret_names(provider: Provider | None) -> frozenset[str]:
    """The names, in all spellings, of the credentials that the provider keeps as secrets."""
    return frozenset(name for name, is_secret in _secret_by_name(provider).items() if is_secret)


def unmask_secrets(given: Mapping[str, Any], stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given credentials with the stored ones where they are masked; a mask for nothing stays.

    So do all masks where the credentials would go to another server: whoever may not read secrets must not be able to
    send them to a server of their own.
    """
    if any(given.get(name) != stored.get(name) for name in _DESTINATIONS):
        return dict(given)
    return {name: stored.get(name, value) if value == MASK else value for name, value in given.items()}


def list_masked(credentials: Mapping[str, Any]) -> list[str]:
    """Return the names of credentials that are nothing but the mask."""
    return [name for name, value in credentials.items() if value == MASK]


def _secret_by_name(provider: Provider | None) -> dict[str, bool]:
    if provider is None:
        return {}
    known = {one.name: one.secret for one in list_fields(provider)}
    return known | {old: known[new] for old, new in provider.credentials.SPELLINGS.items()}


def _may_be_secret(name: str, value: Any) -> bool:
    """Whether a credential that the provider does not know is treated as a secret."""
    return isinstance(value, str) and name not in NOT_SECRET


def _is_secret_type(kind: Any) -> bool:
    return kind is Secret or Secret in get_args(kind)


_KINDS = {URL: FieldKind.URL, EMAIL_ADDRESS: FieldKind.EMAIL, PORT: FieldKind.PORT, JSON_OBJECT: FieldKind.JSON}


def _find_kind(provider: Provider, name: str, kind: Any) -> FieldKind:
    if _is_secret_type(kind):
        return FieldKind.SECRET
    plain = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    types = get_args(plain) if isinstance(plain, UnionType) else (plain,)
    if bool in types:
        return FieldKind.SWITCH
    if any(one is dict or getattr(one, "__origin__", None) is dict for one in types):
        return FieldKind.JSON
    rule = get_format_rules(provider.credentials).get(name)
    return FieldKind.TEXT if rule is None else _KINDS.get(rule, FieldKind.TEXT)


DEFAULTS: dict[str, FieldText] = {
    "accessKey": FieldText("Access key"),
    "accountSid": FieldText("Account SID"),
    "alertUid": FieldText("Alert UID", "Alerts with the same one are grouped."),
    "apiKey": FieldText("API key"),
    "apiKeyRequestHeader": FieldText("Header of the API key", "The name of the request header that has the API key."),
    "apiToken": FieldText("API token"),
    "apiVersion": FieldText("API version"),
    "applicationId": FieldText("Application ID"),
    "authenticateByToken": FieldText("Get a token first", "Whether an access token is fetched before each send."),
    "authenticationTokenKey": FieldText("Header of the token", "The request header that has the fetched token."),
    "baseUrl": FieldText("Base URL", "The address of the provider's API; leave it empty for the usual one."),
    "businessAccountId": FieldText("Business account ID"),
    "channelId": FieldText("Channel ID"),
    "clientId": FieldText("Client ID"),
    "contentType": FieldText("Content type", "`unicode` or `plain`; leave it empty to decide for each message."),
    "datePath": FieldText("Path of the date", "Where the response has the date, for example `data.sentAt`."),
    "defaultRegion": FieldText("Default region", "The country, such as GB, of numbers without a country code."),
    "domain": FieldText("Domain"),
    "externalLink": FieldText("Link", "A link that alerts lead to."),
    "from": FieldText("Sender", "The number or name that messages come from."),
    "hmac": FieldText(
        "HMAC", "Whether the inbox, or linking a chat there, needs a hash that proves who the subscriber is."
    ),
    "host": FieldText("Host", "The name of the server."),
    "idPath": FieldText("Path of the id", "Where the response has the id of the message, for example `data.id`."),
    "ignoreTls": FieldText("Never encrypt", "Sends without encryption even where the server offers it."),
    "imageUrl": FieldText("Image URL"),
    "instanceId": FieldText("Instance ID"),
    "ipPoolName": FieldText("IP pool", "The pool of sending addresses, where the account has several."),
    "messageProfileId": FieldText("Messaging profile ID"),
    "password": FieldText("Password"),
    "phoneNumberIdentification": FieldText("Phone number ID"),
    "port": FieldText("Port", "The port of the server, such as 587."),
    "projectName": FieldText("Project name"),
    "redirectUrl": FieldText("Redirect URL", "Where people return to after they have connected."),
    "region": FieldText("Region"),
    "requireTls": FieldText("Always encrypt", "Sends nothing where the server offers no encryption."),
    "secretKey": FieldText("Secret key"),
    "secretKeyRequestHeader": FieldText("Header of the secret key", "The request header that has the secret key."),
    "secure": FieldText("TLS from the start", "Usual on port 465."),
    "senderName": FieldText("Sender name", "The name that is shown beside the address."),
    "serviceAccount": FieldText("Service account", "The whole JSON file of the service account."),
    "signingSecret": FieldText("Signing secret"),
    "state": FieldText("State"),
    "tenantId": FieldText("Tenant ID"),
    "title": FieldText("Title"),
    "tlsOptions": FieldText("TLS options", "A JSON object: `rejectUnauthorized`, `ca`, `servername`, `minVersion`."),
    "token": FieldText("Token"),
    "user": FieldText("User"),
    "webhookUrl": FieldText("Webhook URL", "The address that is called for each message."),
}
_WEBHOOK_KEY = FieldText("Signing key", "Verifies the provider's reports of deliveries.")
_HMAC_KEY = FieldText("Signing key", "The key of the HMAC in the signature header.")
_AWS = {
    "apiKey": FieldText("Access key ID"),
    "secretKey": FieldText("Secret access key"),
    "region": FieldText("Region", "A region of Amazon such as eu-west-1."),
    "token": FieldText("Session token", "Only for temporary credentials."),
}
SPECIAL: dict[str, dict[str, FieldText]] = {
    "africas-talking": {"user": FieldText("Username", "`sandbox` for the sandbox.")},
    "afro-message": {
        "apiKey": FieldText("Token"),
        "from": FieldText("Identifier", "The id of the sending number."),
        "senderName": FieldText("Sender name", "A verified name."),
    },
    "apns": {
        "secretKey": FieldText("Private key", "The text of the .p8 file."),
        "apiKey": FieldText("Key ID"),
        "projectName": FieldText("Team ID"),
        "applicationId": FieldText("Bundle ID"),
        "secure": FieldText("Production", "Off for the sandbox."),
    },
    "azure-sms": {"accessKey": FieldText("Connection string")},
    "bandwidth": {"accountSid": FieldText("Account ID"), "user": FieldText("API user")},
    "braze": {
        "baseUrl": FieldText("REST endpoint", "Of your instance, such as rest.iad-01.braze.com."),
        "applicationId": FieldText("App identifier"),
    },
    "chat-webhook": {"secretKey": _HMAC_KEY},
    "email-webhook": {"secretKey": _HMAC_KEY},
    "expo": {"apiKey": FieldText("Access token")},
    "generic-sms": {
        "domain": FieldText("Token URL", "Where the access token is fetched."),
        "baseUrl": FieldText("URL", "The address that is called for each message."),
    },
    "getstream": {"secretKey": FieldText("API secret"), "user": FieldText("Sender", "The id of the sending user.")},
    "infobip-email": {"baseUrl": FieldText("Base URL", "Of your account, such as xyz.api.infobip.com.")},
    "infobip-sms": {"baseUrl": FieldText("Base URL", "Of your account, such as xyz.api.infobip.com.")},
    "mailersend": {"secretKey": _WEBHOOK_KEY},
    "mailgun": {
        "user": FieldText("User", "Usually `api`."),
        "baseUrl": FieldText("Base URL", "https://api.eu.mailgun.net for domains of the European Union."),
        "secretKey": _WEBHOOK_KEY,
    },
    "mailtrap": {"secretKey": _WEBHOOK_KEY},
    "mandrill": {"secretKey": _WEBHOOK_KEY},
    "messagebird": {"secretKey": _WEBHOOK_KEY},
    "msteams": {
        "secretKey": FieldText("Client secret"),
        "tenantId": FieldText("Tenant ID", "Of the directory that the app is registered in."),
        "applicationId": FieldText("Teams app ID", "The `id` of the app's manifest; by default the client ID."),
        "baseUrl": FieldText("Service URL", "For clouds of governments; leave it empty for the usual one."),
    },
    "nexmo": {"secretKey": FieldText("API secret")},
    "nodemailer": {
        "domain": FieldText("DKIM: domain", "The domain that e-mails are signed for."),
        "accountSid": FieldText("DKIM: selector", "The name of the key in the DNS of the domain."),
        "secretKey": FieldText("DKIM: private key", "In PEM, for RSA or Ed25519."),
    },
    "outlook365": {"from": FieldText("Mailbox", "The address that logs in and sends.")},
    "plivo": {"accountSid": FieldText("Auth ID"), "token": FieldText("Auth token")},
    "postmark": {"apiKey": FieldText("Server token")},
    "push-webhook": {"secretKey": _HMAC_KEY},
    "pusher-beams": {"token": FieldText("Webhook token", "Verifies the provider's reports.")},
    "pushpad": {"apiKey": FieldText("Auth token"), "applicationId": FieldText("Project ID")},
    "resend": {"secretKey": _WEBHOOK_KEY},
    "ring-central": {
        "secretKey": FieldText("Client secret"),
        "token": FieldText("JWT credential"),
        "secure": FieldText("Sandbox"),
    },
    "rocket-chat": {"token": FieldText("Personal access token"), "user": FieldText("User ID")},
    "sendgrid": {"secretKey": _WEBHOOK_KEY},
    "ses": _AWS,
    "slack": {"secretKey": FieldText("Client secret"), "token": FieldText("Bot token")},
    "sms77": {"secretKey": _WEBHOOK_KEY},
    "sns": _AWS,
    "telnyx": {"secretKey": FieldText("Public key", "Verifies the provider's reports of deliveries.")},
    "termii": {"secretKey": _WEBHOOK_KEY},
    "tool-webhook": {"secretKey": _HMAC_KEY},
    "twilio": {
        "token": FieldText("Auth token"),
        "from": FieldText("Sender", "A number, or the SID of a messaging service (MG…)."),
    },
    "line": {"token": FieldText("Channel access token")},
    "webex-messaging": {
        "secretKey": FieldText("Client secret"),
        "token": FieldText("Bot token"),
        "baseUrl": FieldText("API address", "https://api-usgov.webex.com/v1 for Webex for Government."),
    },
    "whatsapp-business": {
        "apiToken": FieldText("Access token"),
        "secretKey": FieldText("App secret", "Verifies the provider's reports of deliveries."),
        "token": FieldText("Verify token", "Asked for when the address for reports is registered."),
    },
}
_EMAIL_SENDER = FieldText("Sender address", "The address that e-mails come from.")


def find_field_text(provider_id: str, name: str, *, is_email: bool) -> FieldText:
    """The label and help of a credential of a provider."""
    special = SPECIAL.get(provider_id, {}).get(name)
    if special is not None:
        return special
    return _EMAIL_SENDER if is_email and name == "from" else DEFAULTS[name]
