"""46elks (Sweden)."""

from clarion.providers.definition.credentials import SenderCredentials
from clarion.providers.definition.provider import SmsProvider
from clarion.providers.definition.receipts import EventReader, Receipts, form_events, kinds_of
from clarion.providers.definition.request import ProviderRequest, basic, drop_empty
from clarion.providers.definition.result import FailureKind, error_text, json_id
from clarion.providers.sms.incoming import FORTY_SIX_ELKS
from clarion.providers.sms.message import Sms
from clarion.secret import Secret

_API = "https://api.46elks.com/a1"


class FortySixElksCredentials(SenderCredentials):
    user: str
    password: Secret


def request(_: FortySixElksCredentials, sms: Sms) -> ProviderRequest:
    fields = {"from": sms.sender, "to": sms.to, "message": sms.body, "whendelivered": sms.receipts_url}
    return ProviderRequest.form(f"{_API}/sms", drop_empty(fields))


RECEIPTS = EventReader(
    kinds=kinds_of(sent=("sent",), delivered=("delivered",), bounced=("failed",)),
    kind="status",
    id="id",
    at="delivered",
    events=form_events,
)

PROVIDER = SmsProvider(
    id="forty-six-elks",
    name="46elks",
    credentials=FortySixElksCredentials,
    auth=lambda account: basic(account.user, account.password),
    request=request,
    sent=json_id("id"),
    failures=(error_text(r"invalid.*\bto\b|\bto\b.*invalid|recipient", FailureKind.RECIPIENT_INVALID, status=400),),
    check=lambda _: ProviderRequest.get(f"{_API}/me"),
    receipts=Receipts(parse=RECEIPTS, inbound=FORTY_SIX_ELKS),
    documentation="https://46elks.com/docs/send-sms",
    note="`user` and `password` are the API's, not those of the dashboard. It refuses in plain sentences that it does "
    "not list: a 400 that calls `to` invalid, or speaks of the recipient, is taken for a number that cannot be, and "
    "any other refusal goes to the next integration.",
)
