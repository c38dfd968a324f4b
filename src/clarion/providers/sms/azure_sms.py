"""Azure Communication Services: SMS, and delivery reports through Event Grid."""

import base64
import binascii
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import format_datetime
from hashlib import sha256
from urllib.parse import urlsplit

from clarion.clock import Millis
from clarion.ids import find_id, id_millis
from clarion.jsontext import json_text
from clarion.providers.definition.credentials import SenderCredentials, as_url
from clarion.providers.definition.provider import SmsProvider
from clarion.providers.definition.receipts import Callback, EventReader, ProviderReply, Receipts, by_token, kinds_of
from clarion.providers.definition.request import ProviderCall, ProviderRequest
from clarion.providers.definition.result import FailureKind, SendFailure, codes, json_id, refuse_account
from clarion.providers.signing.signatures import hmac_base64
from clarion.providers.sms.message import Sms
from clarion.secret import Secret

_VERSION = "api-version=2021-03-07"


class AzureSmsCredentials(SenderCredentials):
    access_key: Secret
    """A connection string: `endpoint=https://…;accesskey=…`."""

    def part(self, name: str) -> str:
        """Return a value of the connection string; values may contain `=`, because base64 keys end with it."""
        pairs = (one.partition("=") for one in self.access_key.reveal().split(";"))
        for key, _, value in pairs:
            if key.strip().lower() == name and value.strip():
                return value.strip()
        raise SendFailure(FailureKind.PERMANENT, f"The integration's accessKey is no connection string with {name}")

    def url(self, resource: str) -> str:
        return f"{as_url(self.part('endpoint'))}/{resource}"


def request(account: AzureSmsCredentials, sms: Sms) -> ProviderRequest:
    recipient = {
        "to": sms.to,
        "repeatabilityRequestId": sms.message_id,
        "repeatabilityFirstSent": _first_sent(sms),
    }
    body = {
        "from": sms.sender,
        "smsRecipients": [recipient],
        "message": sms.body,
        "smsSendOptions": {"enableDeliveryReport": True, "tag": sms.message_id},
    }
    return ProviderRequest.json(account.url(f"sms?{_VERSION}"), body)


def _first_sent(sms: Sms) -> str:
    """Return the creation time of the id: Azure recognises repeated sends only if this time is the same."""
    found = find_id(sms.message_id)
    created_at = id_millis(found) if found else sms.at
    return format_datetime(datetime.fromtimestamp(created_at // 1000, UTC), usegmt=True)


def sign(account: AzureSmsCredentials, call: ProviderCall, now: Millis) -> Mapping[str, str]:
    """Return the headers that sign a call; the key is the base64 text of the connection string."""
    parts = urlsplit(call.url)
    path = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    date = format_datetime(datetime.fromtimestamp(now // 1000, UTC), usegmt=True)
    digest = base64.b64encode(sha256(call.content).digest()).decode()
    text = f"{call.method}\n{path}\n{date};{parts.netloc};{digest}"
    signature = hmac_base64(_decode(account.part("accesskey")), text.encode())
    authorization = f"HMAC-SHA256 SignedHeaders=x-ms-date;host;x-ms-content-sha256&Signature={signature}"
    return {"x-ms-date": date, "x-ms-content-sha256": digest, "Authorization": authorization}


def _decode(access_key: str) -> bytes:
    try:
        return base64.b64decode(access_key, validate=True)
    except (binascii.Error, ValueError) as error:
        raise refuse_account("The access key is not base64") from error


def handshake(callback: Callback, account: AzureSmsCredentials) -> ProviderReply | None:
    """Answer the validation of a new subscription, which returns its code."""
    if callback.headers.get("aeg-event-type") != "SubscriptionValidation" or not by_token(callback, account):
        return None
    (event,) = callback.events()
    answer = {"validationResponse": event["data"]["validationCode"]}
    return ProviderReply(body=json_text(answer), content_type="application/json")


RECEIPTS = EventReader(
    kinds=kinds_of(delivered=("Delivered",), bounced=("Failed",)),
    kind="data.deliveryStatus",
    id="data.messageId",
    own_id="data.tag",
    recipient="data.to",
    at="data.receivedTimestamp",
    event_id="id",
    reason="data.deliveryStatusDetails",
    # Recipients who answered STOP.
    is_hard=lambda event: (
        "sender blocked for given recipient" in str(event["data"].get("deliveryStatusDetails")).lower()
    ),
)
PROVIDER = SmsProvider(
    id="azure-sms",
    name="Azure SMS",
    credentials=AzureSmsCredentials,
    request=request,
    sign=sign,
    sent=json_id("value.0.messageId"),
    accepts=lambda answer: answer.values("value.*.successful") == [True],
    failures=(
        codes(
            "value.*.httpStatusCode",
            recipient_invalid=(400,),
            rate_limited=(429,),
            retryable=(408, 500, 502, 503, 504),
        ),
    ),
    check=lambda account: ProviderRequest.get(account.url(f"phoneNumbers?{_VERSION}&top=1")),
    receipts=Receipts(parse=RECEIPTS, handshake=handshake),
    documentation="https://learn.microsoft.com/en-us/rest/api/communication/sms/send",
    idempotency="`repeatabilityRequestId`",
    note="`accessKey` is the connection string. Receipts need an Event Grid subscription to delivery reports.",
)
