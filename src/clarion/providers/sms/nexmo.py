"""Vonage (formerly Nexmo): SMS API, which returns errors with a 200."""

from clarion.providers.definition.credentials import SenderCredentials
from clarion.providers.definition.provider import SmsProvider
from clarion.providers.definition.receipts import EventReader, Receipts, json_or_form_events, kinds_of
from clarion.providers.definition.request import ProviderRequest, basic, drop_empty
from clarion.providers.definition.result import all_equal, codes, json_id
from clarion.providers.sms.incoming import VONAGE
from clarion.providers.sms.message import Sms
from clarion.secret import Secret

_HOST = "https://rest.nexmo.com"
_MAX_CALLBACK_LENGTH = 100


class VonageCredentials(SenderCredentials):
    api_key: str
    secret_key: Secret


def request(_: VonageCredentials, sms: Sms) -> ProviderRequest:
    fields = {
        "from": sms.sender_digits,
        "to": sms.to_digits,
        "text": sms.body,
        "type": "unicode" if sms.is_unicode else "text",
        "client-ref": sms.message_id,
        "callback": sms.receipts_url if len(sms.receipts_url or "") <= _MAX_CALLBACK_LENGTH else None,
    }
    return ProviderRequest.form(f"{_HOST}/sms/json", drop_empty(fields))


RECEIPTS = EventReader(
    kinds=kinds_of(
        sent=("accepted",),
        delivered=("delivered",),
        deferred=("buffered",),
        bounced=("expired", "unknown"),
        failed=("failed", "rejected"),
    ),
    kind="status",
    id="messageId",
    own_id="client-ref",
    recipient="msisdn",
    at="message-timestamp",
    reason="err-code",
    events=json_or_form_events,
)

PROVIDER = SmsProvider(
    id="nexmo",
    name="Vonage",
    credentials=VonageCredentials,
    auth=lambda account: basic(account.api_key, account.secret_key),
    request=request,
    sent=json_id("messages.0.message-id"),
    # There is one entry per part of a long text, and all of them must be accepted.
    accepts=all_equal("messages.*.status", "0"),
    failures=(codes("messages.*.status", rate_limited=(1,), retryable=(5, 10), recipient_invalid=(6, 7, 33)),),
    check=lambda _: ProviderRequest.get(f"{_HOST}/account/get-balance"),
    receipts=Receipts(parse=RECEIPTS, inbound=VONAGE),
    documentation="https://developer.vonage.com/en/api/sms",
    note="Addresses for receipts of over 100 characters have to be set in the dashboard.",
)
