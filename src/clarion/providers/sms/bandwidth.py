"""Bandwidth: messaging API version 2."""

from clarion.providers.definition.credentials import SenderCredentials
from clarion.providers.definition.provider import SmsProvider
from clarion.providers.definition.receipts import EventReader, Receipts, kinds_of
from clarion.providers.definition.request import ProviderRequest, basic, path_part
from clarion.providers.definition.result import codes, json_id
from clarion.providers.sms.message import Sms
from clarion.secret import Secret

# Numbers that do not exist, and recipients who opted out.
_HARD = ("4720", "4721", "4775")


class BandwidthCredentials(SenderCredentials):
    user: str
    password: Secret
    account_sid: str
    application_id: str

    def url(self, resource: str) -> str:
        return f"https://messaging.bandwidth.com/api/v2/users/{path_part(self.account_sid)}/{resource}"


def request(account: BandwidthCredentials, sms: Sms) -> ProviderRequest:
    body = {
        "applicationId": account.application_id,
        "to": [sms.to],
        "from": sms.sender,
        "text": sms.body,
        "tag": sms.message_id,
    }
    return ProviderRequest.json(account.url("messages"), body)


RECEIPTS = EventReader(
    kinds=kinds_of(
        sent=("message-sending", "message-sent"), delivered=("message-delivered",), bounced=("message-failed",)
    ),
    kind="type",
    id="message.id",
    own_id="message.tag",
    recipient="to",
    at="time",
    reason="description",
    is_hard=lambda event: str(event.get("errorCode")) in _HARD,
)

PROVIDER = SmsProvider(
    id="bandwidth",
    name="Bandwidth",
    credentials=BandwidthCredentials,
    auth=lambda account: basic(account.user, account.password),
    request=request,
    sent=json_id("id"),
    failures=(codes("fieldErrors.*.fieldName", recipient_invalid=("to",)),),
    check=lambda account: ProviderRequest.get(account.url("media")),
    receipts=Receipts(parse=RECEIPTS),
    documentation="https://dev.bandwidth.com/apis/messaging/",
    note="The address for receipts is set in the application that `applicationId` names.",
)
