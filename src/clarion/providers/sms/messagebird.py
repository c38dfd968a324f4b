"""MessageBird: the REST API under its old name, and reports with a signed JWT."""

from hashlib import sha256

from clarion.providers.definition.credentials import SenderCredentials
from clarion.providers.definition.provider import SmsProvider
from clarion.providers.definition.receipts import Callback, EventReader, Receipts, form_events, is_same, kinds_of
from clarion.providers.definition.request import ProviderRequest, drop_empty, key_header
from clarion.providers.definition.result import codes, json_id
from clarion.providers.signing.jwt import read_hs256
from clarion.providers.sms.incoming import MESSAGEBIRD
from clarion.providers.sms.message import Sms
from clarion.secret import Secret

_HOST = "https://rest.messagebird.com"
_TOLERANCE_SECONDS = 5


class MessageBirdCredentials(SenderCredentials):
    access_key: Secret
    secret_key: Secret = Secret("")
    """The signing key of the account, which verifies reports."""


def request(_: MessageBirdCredentials, sms: Sms) -> ProviderRequest:
    body = {
        "originator": sms.sender_digits,
        "recipients": [sms.to_digits],
        "body": sms.body,
        "datacoding": "auto",
        # Reports are sent only for messages with a reference.
        "reference": sms.message_id,
        "reportUrl": sms.receipts_url,
    }
    return ProviderRequest.json(f"{_HOST}/messages", drop_empty(body))


def is_genuine(callback: Callback, account: MessageBirdCredentials) -> bool:
    token = callback.headers.get("messagebird-signature-jwt", "")
    claims = read_hs256(account.secret_key, token) if account.secret_key else None
    if claims is None or claims["iss"] != "MessageBird":
        return False
    seconds = callback.received_at / 1000
    is_current = claims["nbf"] - _TOLERANCE_SECONDS <= seconds <= claims["exp"] + _TOLERANCE_SECONDS
    is_of_body = not callback.body or is_same(claims["payload_hash"], sha256(callback.body).hexdigest())
    return is_current and is_of_body and is_same(claims["url_hash"], sha256(callback.url.encode()).hexdigest())


RECEIPTS = EventReader(
    kinds=kinds_of(
        sent=("sent",), delivered=("delivered",), deferred=("buffered",), bounced=("expired", "delivery_failed")
    ),
    kind="status",
    id="id",
    own_id="reference",
    recipient="recipient",
    at="statusDatetime",
    reason="statusReason",
    is_hard=lambda event: event.get("statusReason") == "unknown subscriber",
    events=form_events,
)

PROVIDER = SmsProvider(
    id="messagebird",
    name="MessageBird",
    credentials=MessageBirdCredentials,
    auth=lambda account: key_header("Authorization", account.access_key, scheme="AccessKey"),
    request=request,
    sent=json_id("id"),
    failures=(codes("errors.*.parameter", recipient_invalid=("recipients", "recipient")),),
    check=lambda _: ProviderRequest.get(f"{_HOST}/balance"),
    receipts=Receipts(
        is_genuine=is_genuine, parse=RECEIPTS, inbound=MESSAGEBIRD, signed_with="signature, key in `secretKey`"
    ),
    documentation="https://developers.messagebird.com/api/sms-messaging/",
)
