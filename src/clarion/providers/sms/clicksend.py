"""ClickSend: REST API version 3, which returns errors of single messages with a 200."""

from collections.abc import Mapping

from clarion.providers.definition.credentials import OptionalSenderCredentials
from clarion.providers.definition.provider import SmsProvider
from clarion.providers.definition.receipts import EventReader, Receipts, json_or_form_events, kinds_of
from clarion.providers.definition.request import ProviderRequest, basic, drop_empty
from clarion.providers.definition.result import all_equal, codes, json_id
from clarion.providers.sms.message import Sms
from clarion.secret import Secret

_API = "https://rest.clicksend.com/v3"
# Codes of one message or of the request.
_CODES: Mapping[str, tuple[str, ...]] = {
    "recipient_invalid": ("INVALID_RECIPIENT",),
    "rate_limited": ("THROTTLED",),
    "retryable": ("INTERNAL_ERROR", "SOMETHING_IS_WRONG"),
}


class ClickSendCredentials(OptionalSenderCredentials):
    user: str
    api_key: Secret


def request(_: ClickSendCredentials, sms: Sms) -> ProviderRequest:
    message = {"to": sms.to, "body": sms.body, "from": sms.sender, "custom_string": sms.message_id}
    return ProviderRequest.json(f"{_API}/sms/send", {"messages": [drop_empty(message)]})


RECEIPTS = EventReader(
    kinds=kinds_of(sent=("200",), delivered=("201",), deferred=("300",), bounced=("301",)),
    kind="status_code",
    id="message_id",
    own_id="custom_string",
    at="timestamp",
    reason="error_text",
    events=json_or_form_events,
)

PROVIDER = SmsProvider(
    id="clicksend",
    name="ClickSend",
    credentials=ClickSendCredentials,
    auth=lambda account: basic(account.user, account.api_key),
    request=request,
    sent=json_id("data.messages.0.message_id"),
    accepts=all_equal("data.messages.*.status", "SUCCESS"),
    failures=(codes("data.messages.*.status", **_CODES), codes("response_code", **_CODES)),
    check=lambda _: ProviderRequest.get(f"{_API}/account"),
    receipts=Receipts(parse=RECEIPTS),
    casing=None,
    documentation="https://developers.clicksend.com/docs/messaging/sms",
    note="The address for receipts is a delivery report rule of the dashboard.",
)
