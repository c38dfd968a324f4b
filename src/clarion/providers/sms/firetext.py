"""FireText (United Kingdom), which returns errors with a 200."""

from clarion.providers.definition.credentials import SenderCredentials
from clarion.providers.definition.provider import SmsProvider
from clarion.providers.definition.receipts import EventReader, Receipts, form_events, kinds_of
from clarion.providers.definition.request import ProviderRequest, drop_empty
from clarion.providers.definition.result import all_equal, codes, either, header_id, own_id
from clarion.providers.sms.message import Sms
from clarion.secret import Secret

_API = "https://www.firetext.co.uk/api"


class FireTextCredentials(SenderCredentials):
    api_key: Secret


def request(account: FireTextCredentials, sms: Sms) -> ProviderRequest:
    fields = {
        "apiKey": account.api_key.reveal(),
        "to": sms.to_digits,
        "from": sms.sender_digits,
        "message": sms.body,
        "unicode": "1" if sms.is_unicode else None,
        "reference": sms.message_id,
        "receipt": sms.receipts_url,
    }
    return ProviderRequest.form(f"{_API}/sendsms/json", drop_empty(fields))


RECEIPTS = EventReader(
    kinds=kinds_of(delivered=("0",), bounced=("1",), deferred=("2",)),
    kind="status",
    own_id="reference",
    recipient="mobile",
    # The time is not read: it is in British time, without a time zone.
    reason="code",
    # Unknown or invalid number.
    is_hard=lambda event: event.get("code") in ("101", "201"),
    events=form_events,
)

PROVIDER = SmsProvider(
    id="firetext",
    name="FireText",
    credentials=FireTextCredentials,
    request=request,
    sent=either(header_id("X-Message"), own_id),
    accepts=all_equal("code", 0),
    failures=(codes("code", recipient_invalid=(2,), account_refused=(1,)),),
    check=lambda account: ProviderRequest.form(f"{_API}/credit/json", {"apiKey": account.api_key.reveal()}),
    check_passes=all_equal("code", 0),
    receipts=Receipts(parse=RECEIPTS),
    documentation="https://www.firetext.co.uk/docs",
)
