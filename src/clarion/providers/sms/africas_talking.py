"""Africa's Talking: bulk messaging, which returns errors with a 201."""

from clarion.providers.definition.credentials import OptionalSenderCredentials
from clarion.providers.definition.provider import SmsProvider
from clarion.providers.definition.receipts import EventReader, Receipts, form_events, kinds_of
from clarion.providers.definition.request import ProviderRequest, drop_empty, key_header
from clarion.providers.definition.result import all_equal, codes, json_id
from clarion.providers.sms.message import Sms
from clarion.secret import Secret

_STATUS = "SMSMessageData.Recipients.*.statusCode"


class AfricasTalkingCredentials(OptionalSenderCredentials):
    api_key: Secret
    user: str

    def url(self, resource: str) -> str:
        host = "api.sandbox.africastalking.com" if self.user == "sandbox" else "api.africastalking.com"
        return f"https://{host}/version1/{resource}"


def request(account: AfricasTalkingCredentials, sms: Sms) -> ProviderRequest:
    fields = {"username": account.user, "to": sms.to, "message": sms.body, "from": sms.sender}
    # Without this header, answers are XML.
    return ProviderRequest.form(account.url("messaging"), drop_empty(fields), headers={"Accept": "application/json"})


RECEIPTS = EventReader(
    kinds=kinds_of(
        sent=("Sent", "Submitted"), delivered=("Success",), deferred=("Buffered",), bounced=("Rejected", "Failed")
    ),
    kind="status",
    id="id",
    recipient="phoneNumber",
    reason="failureReason",
    is_hard=lambda event: event.get("failureReason") in ("UserDoesNotExist", "UserInBlackList"),
    events=form_events,
)

PROVIDER = SmsProvider(
    id="africas-talking",
    name="Africa's Talking",
    credentials=AfricasTalkingCredentials,
    auth=lambda account: key_header("apiKey", account.api_key),
    request=request,
    sent=json_id("SMSMessageData.Recipients.0.messageId"),
    accepts=all_equal(_STATUS, 100, 101, 102),
    failures=(codes(_STATUS, recipient_invalid=(403, 404, 406, 407, 409), retryable=(500, 501)),),
    check=lambda account: ProviderRequest.get(account.url("user"), {"username": account.user}),
    receipts=Receipts(parse=RECEIPTS),
    documentation="https://developers.africastalking.com/docs/sms/sending/bulk",
    note="The user `sandbox` sends to the sandbox. The address for receipts is set in the dashboard.",
)
