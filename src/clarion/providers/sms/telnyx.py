"""Telnyx: messages of a messaging profile, and webhooks signed by Ed25519."""

from clarion.providers.definition.answer import json_id, values_at
from clarion.providers.definition.credentials import SenderCredentials
from clarion.providers.definition.failures import codes
from clarion.providers.definition.kinds import Check, SmsProvider
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.receipts import Callback, EventReader, Receipts, kinds_of
from clarion.providers.definition.request import ProviderRequest, bearer, filled
from clarion.providers.signing.public_keys import is_ed25519_signed
from clarion.providers.sms.message import Sms
from clarion.secret import Secret

_HOST = "https://api.telnyx.com/v2"
_NO_SUCH_NUMBER = frozenset({"40001", "40012"})


class TelnyxCredentials(SenderCredentials):
    api_key: Secret
    message_profile_id: str
    secret_key: Secret = Secret("")
    """The public key of the account, which webhooks are checked by."""


def request(account: TelnyxCredentials, sms: Sms) -> ProviderRequest:
    body = {
        "from": sms.sender,
        "to": sms.to,
        "text": sms.body,
        "messaging_profile_id": account.message_profile_id,
        "webhook_url": sms.receipts_url,
    }
    return ProviderRequest.json(f"{_HOST}/messages", filled(body), auth=bearer(account.api_key))


def is_genuine(callback: Callback, account: TelnyxCredentials) -> bool:
    moment = callback.headers.get("telnyx-timestamp", "")
    signature = callback.headers.get("telnyx-signature-ed25519", "")
    signed = f"{moment}|".encode() + callback.body
    return callback.is_recent(moment) and is_ed25519_signed(account.secret_key.reveal(), signature, signed)


RECEIPTS = EventReader(
    # An unconfirmed delivery is not known to have failed, so that it is passed over.
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
    is_hard=lambda event: not _NO_SUCH_NUMBER.isdisjoint(map(str, values_at(event, "data.payload.errors.*.code"))),
)

PROVIDER = SmsProvider(
    id="telnyx",
    name="Telnyx",
    credentials=TelnyxCredentials,
    request=request,
    sent=json_id("data.id"),
    failures=(
        # Numbers are refused by the same codes wherever they are; those of the account are nobody else's fault.
        codes("errors.*.source.pointer", permanent=("/from",)),
        codes(
            "errors.*.code",
            recipient_invalid=(10002, 10016, 40001, 40012, 40300, 40310),
            rate_limited=(10011, 40011),
            retryable=(10007, 10008, 40006),
        ),
    ),
    check=Check(request=lambda account: ProviderRequest.get(f"{_HOST}/balance", auth=bearer(account.api_key))),
    receipts=Receipts(is_genuine=is_genuine, parse=RECEIPTS, signed_with="signature, public key in `secretKey`"),
    casing=snake,
    page="https://developers.telnyx.com/api/messaging/send-message",
)
