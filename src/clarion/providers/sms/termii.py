"""Termii (Africa): SMS with the API key in the body, and signed reports."""

from clarion.providers.definition.credentials import SenderCredentials
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.provider import SmsProvider
from clarion.providers.definition.receipts import Callback, EventReader, Receipts, kinds_of
from clarion.providers.definition.request import ProviderRequest
from clarion.providers.definition.result import json_id
from clarion.providers.signing.signatures import is_body_signed
from clarion.providers.sms.message import Sms
from clarion.secret import Secret


class TermiiCredentials(SenderCredentials):
    api_key: Secret
    base_url: str = "https://api.ng.termii.com"
    """Newer accounts have their own URL."""
    secret_key: Secret = Secret("")
    """The key that signs reports."""

    def url(self, resource: str) -> str:
        return f"{self.base_url.rstrip('/')}/api/{resource}"


def request(account: TermiiCredentials, sms: Sms) -> ProviderRequest:
    body = {
        "api_key": account.api_key.reveal(),
        "to": sms.to_digits,
        "from": sms.sender_digits,
        "sms": sms.body,
        "type": "unicode" if sms.is_unicode else "plain",
        "channel": "generic",
    }
    return ProviderRequest.json(account.url("sms/send"), body)


def is_genuine(callback: Callback, account: TermiiCredentials) -> bool:
    return is_body_signed(callback, account.secret_key, header="x-termii-signature", algorithm="sha512")


RECEIPTS = EventReader(
    kinds=kinds_of(
        sent=("message sent",),
        delivered=("delivered",),
        bounced=("dnd active on phone number", "expired"),
        failed=("message failed", "rejected"),
    ),
    kind="state",
    id="message_id",
    recipient="receiver",
    reason="status",
    # The status comes in any case, and may be followed by `|` and an explanation.
    events=lambda callback: [
        {**event, "state": str(event["status"]).partition("|")[0].strip().lower()} for event in callback.events()
    ],
)

PROVIDER = SmsProvider(
    id="termii",
    name="Termii",
    credentials=TermiiCredentials,
    request=request,
    sent=json_id("message_id"),
    accepts=lambda answer: answer.value("code") in (None, "ok"),
    check=lambda account: ProviderRequest.get(account.url("get-balance"), {"api_key": account.api_key.reveal()}),
    receipts=Receipts(is_genuine=is_genuine, parse=RECEIPTS, signed_with="signature, key in `secretKey`"),
    casing=snake,
    documentation="https://developer.termii.com/messaging-api",
    note="Messages go by the channel `generic`; accounts with the `dnd` channel name it as `channel` in the overrides. "
    "Which refusals mean a wrong number is not published, so that none is taken for one.",
)
