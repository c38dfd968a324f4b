"""Plivo: messages as JSON, and signed status callbacks."""

import re

from clarion.providers.definition.credentials import SenderCredentials
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.provider import SmsProvider
from clarion.providers.definition.receipts import Callback, EventReader, Receipts, form_events, is_same, kinds_of
from clarion.providers.definition.request import ProviderRequest, basic, drop_empty, path_part
from clarion.providers.definition.result import FailureKind, error_text, json_id
from clarion.providers.signing.signatures import hmac_base64
from clarion.providers.sms.incoming import PLIVO
from clarion.providers.sms.message import Sms
from clarion.secret import Secret

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


class PlivoCredentials(SenderCredentials):
    account_sid: str
    token: Secret

    @property
    def url(self) -> str:
        return f"https://api.plivo.com/v1/Account/{path_part(self.account_sid)}/"


def request(account: PlivoCredentials, sms: Sms) -> ProviderRequest:
    sender = "powerpack_uuid" if _UUID.fullmatch(sms.sender) else "src"
    body = {sender: sms.sender_digits, "dst": sms.to_digits, "text": sms.body, "url": sms.receipts_url}
    return ProviderRequest.json(f"{account.url}Message/", drop_empty(body))


def is_genuine(callback: Callback, account: PlivoCredentials) -> bool:
    """Verify the signature of the URL without its query, and a nonce."""
    text = callback.url.partition("?")[0] + callback.headers.get("x-plivo-signature-v2-nonce", "")
    return is_same(callback.headers.get("x-plivo-signature-v2", ""), hmac_base64(account.token, text.encode()))


RECEIPTS = EventReader(
    kinds=kinds_of(sent=("sent",), delivered=("delivered",), bounced=("undelivered",), failed=("failed", "rejected")),
    kind="Status",
    id="MessageUUID",
    recipient="To",
    reason="ErrorCode",
    # Unknown number.
    is_hard=lambda event: event.get("ErrorCode") == "50",
    events=form_events,
)

PROVIDER = SmsProvider(
    id="plivo",
    name="Plivo",
    credentials=PlivoCredentials,
    auth=lambda account: basic(account.account_sid, account.token),
    request=request,
    sent=json_id("message_uuid.0"),
    failures=(error_text(r"is not a valid phone number", FailureKind.RECIPIENT_INVALID, status=400),),
    check=lambda account: ProviderRequest.get(account.url),
    receipts=Receipts(is_genuine=is_genuine, parse=RECEIPTS, inbound=PLIVO, signed_with="signature, key in `token`"),
    casing=snake,
    documentation="https://www.plivo.com/docs/messaging/api/message",
    note="A `from` that is a UUID is taken for that of a Powerpack.",
)
