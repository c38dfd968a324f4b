"""Telnyx: messages of a messaging profile, and webhooks signed with Ed25519."""

from clarion.providers.definition.credentials import SenderCredentials
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.provider import SmsProvider
from clarion.providers.definition.receipts import Callback, EventReader, Receipts, kinds_of
from clarion.providers.definition.request import ProviderRequest, bearer, drop_empty
from clarion.providers.definition.result import codes, json_id, values_at
from clarion.providers.signing.signatures import is_ed25519_signed
from clarion.providers.sms.incoming import TELNYX, is_incoming_at_telnyx
from clarion.providers.sms.message import Sms
from clarion.secret import Secret

_HOST = "https://api.telnyx.com/v2"
_UNKNOWN_NUMBER = frozenset({"40001", "40012"})


class TelnyxCredentials(SenderCredentials):
    api_key: Secret
    message_profile_id: str
    secret_key: Secret = Secret("")
    """The public key of the account, which verifies webhooks."""


def request(account: TelnyxCredentials, sms: Sms) -> ProviderRequest:
    body = {
        "from": sms.sender,
        "to": sms.to,
        "text": sms.body,
        "messaging_profile_id": account.message_profile_id,
        "webhook_url": sms.receipts_url,
    }
    return ProviderRequest.json(f"{_HOST}/messages", drop_empty(body))


def is_genuine(callback: Callback, account: TelnyxCredentials) -> bool:
    timestamp = callback.headers.get("telnyx-timestamp", "")
    signature = callback.headers.get("telnyx-signature-ed25519", "")
    signed = f"{timestamp}|".encode() + callback.body
    return callback.is_recent(timestamp) and is_ed25519_signed(account.secret_key.reveal(), signature, signed)


RECEIPTS = EventReader(
    # An unconfirmed delivery may have succeeded, so it is ignored.
    kinds=kinds_of(
        sent=("sent",),
        delivered=("delivered",),
        bounced=("delivery_failed", "expired"),
        failed=("sending_failed",),
    ),
    kind="data.payload.to.0.status",
    id="data.payload.id",
    recipient="data.payload.to.0.phone_number",
    at="data.occurred_at",
    event_id="data.id",
    reason="data.payload.errors.0.title",
    is_hard=lambda event: not _UNKNOWN_NUMBER.isdisjoint(map(str, values_at(event, "data.payload.errors.*.code"))),
    events=lambda callback: [one for one in callback.events() if not is_incoming_at_telnyx(one)],
)

PROVIDER = SmsProvider(
    id="telnyx",
    name="Telnyx",
    credentials=TelnyxCredentials,
    auth=lambda account: bearer(account.api_key),
    request=request,
    sent=json_id("data.id"),
    failures=(
        # The same codes are used for the sender's number, whose errors concern the account.
        codes("errors.*.source.pointer", permanent=("/from",)),
        codes(
            "errors.*.code",
            recipient_invalid=(10002, 10016, 40001, 40012, 40300, 40310),
            rate_limited=(10011, 40011),
            retryable=(10007, 10008, 40006),
        ),
    ),
    check=lambda _: ProviderRequest.get(f"{_HOST}/balance"),
    receipts=Receipts(
        is_genuine=is_genuine, parse=RECEIPTS, inbound=TELNYX, signed_with="signature, public key in `secretKey`"
    ),
    casing=snake,
    documentation="https://developers.telnyx.com/api/messaging/send-message",
)
