"""Brevo: transactional SMS."""

from clarion.providers.definition.credentials import SenderCredentials
from clarion.providers.definition.provider import SmsProvider
from clarion.providers.definition.receipts import EventReader, Receipts, kinds_of
from clarion.providers.definition.request import ProviderRequest, drop_empty, key_header
from clarion.providers.definition.result import FailureKind, error_text, json_id, seconds_header
from clarion.providers.sms.message import Sms
from clarion.secret import Secret

_API = "https://api.brevo.com/v3"


class BrevoSmsCredentials(SenderCredentials):
    api_key: Secret


def request(_: BrevoSmsCredentials, sms: Sms) -> ProviderRequest:
    body = {
        "sender": sms.sender_digits,
        "recipient": sms.to_digits,
        "content": sms.body,
        "type": "transactional",
        "unicodeEnabled": sms.is_unicode,
        "tag": sms.message_id,
        "webUrl": sms.receipts_url,
    }
    return ProviderRequest.json(f"{_API}/transactionalSMS/sms", drop_empty(body))


RECEIPTS = EventReader(
    kinds=kinds_of(
        sent=("sent", "accepted"),
        delivered=("delivered",),
        bounced=("soft_bounce", "hard_bounce"),
        failed=("rejected", "skip", "blocked"),
        unsubscribed=("unsubscribe",),
    ),
    kind="msg_status",
    id="messageId",
    own_id="tag",
    recipient="to",
    at="ts_event",
    reason="description",
    is_hard=lambda event: event["msg_status"] == "hard_bounce",
)

PROVIDER = SmsProvider(
    id="brevo-sms",
    name="Brevo SMS",
    credentials=BrevoSmsCredentials,
    auth=lambda account: key_header("api-key", account.api_key),
    request=request,
    sent=json_id("messageId"),
    failures=(error_text(r"telephone|phone number|recipient", FailureKind.RECIPIENT_INVALID, status=400),),
    read_retry_after=seconds_header("x-sib-ratelimit-reset"),
    check=lambda _: ProviderRequest.get(f"{_API}/account"),
    receipts=Receipts(parse=RECEIPTS),
    documentation="https://developers.brevo.com/reference/sendtransacsms",
)
