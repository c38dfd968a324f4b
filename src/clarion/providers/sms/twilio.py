"""Twilio: programmable messaging, and status callbacks."""

import re

from clarion.providers.definition.credentials import SenderCredentials
from clarion.providers.definition.overrides import pascal
from clarion.providers.definition.provider import SmsProvider
from clarion.providers.definition.receipts import Callback, EventReader, Receipts, form_events, is_same, kinds_of
from clarion.providers.definition.request import ProviderRequest, basic, drop_empty, path_part
from clarion.providers.definition.result import codes, json_id
from clarion.providers.signing.signatures import hmac_base64
from clarion.providers.sms.incoming import TWILIO
from clarion.providers.sms.message import Sms
from clarion.secret import Secret


class TwilioCredentials(SenderCredentials):
    account_sid: str
    token: Secret

    def url(self, resource: str) -> str:
        return f"https://api.twilio.com/2010-04-01/Accounts/{path_part(self.account_sid)}/{resource}.json"


def request(account: TwilioCredentials, sms: Sms) -> ProviderRequest:
    sender = "MessagingServiceSid" if re.fullmatch(r"MG[0-9a-fA-F]{32}", sms.sender) else "From"
    fields = {"To": sms.to, sender: sms.sender, "Body": sms.body, "StatusCallback": sms.receipts_url}
    return ProviderRequest.form(account.url("Messages"), drop_empty(fields))


def is_genuine(callback: Callback, account: TwilioCredentials) -> bool:
    """Verify the signature of the URL and all parameters, sorted by name."""
    text = callback.url + "".join(f"{name}{value}" for name, value in sorted(callback.form().items()))
    return is_same(callback.headers.get("x-twilio-signature", ""), hmac_base64(account.token, text.encode(), "sha1"))


RECEIPTS = EventReader(
    kinds=kinds_of(
        sent=("sent",),
        delivered=("delivered",),
        opened=("read",),
        bounced=("undelivered",),
        failed=("failed", "canceled"),
    ),
    kind="MessageStatus",
    id="MessageSid",
    recipient="To",
    reason="ErrorCode",
    # Unknown numbers and landlines; other errors are temporary.
    is_hard=lambda event: event.get("ErrorCode") in ("30005", "30006"),
    events=form_events,
)

PROVIDER = SmsProvider(
    id="twilio",
    name="Twilio",
    credentials=TwilioCredentials,
    auth=lambda account: basic(account.account_sid, account.token),
    request=request,
    sent=json_id("sid"),
    failures=(codes("code", recipient_invalid=(21211, 21610, 21612, 21614), rate_limited=(20429,)),),
    check=lambda account: ProviderRequest.get(account.url("Balance")),
    receipts=Receipts(is_genuine=is_genuine, parse=RECEIPTS, inbound=TWILIO, signed_with="signature, key in `token`"),
    casing=pascal,
    documentation="https://www.twilio.com/docs/messaging/api/message-resource",
)
