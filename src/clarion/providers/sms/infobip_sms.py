"""Infobip: SMS API version 3, which returns errors of single messages with a 200."""

from collections.abc import Mapping
from typing import Annotated, Any

from clarion.providers.definition.credentials import URL_OR_HOST, SenderCredentials, as_url
from clarion.providers.definition.provider import SmsProvider
from clarion.providers.definition.receipts import Callback, EventReader, Receipts, kinds_of
from clarion.providers.definition.request import ProviderRequest, drop_empty, key_header
from clarion.providers.definition.result import FailureKind, all_equal, codes, error_text, json_id
from clarion.providers.sms.incoming import INFOBIP
from clarion.providers.sms.message import Sms
from clarion.secret import Secret


class InfobipSmsCredentials(SenderCredentials):
    api_key: Secret
    base_url: Annotated[str, URL_OR_HOST]

    def url(self, path: str) -> str:
        return f"{as_url(self.base_url)}{path}"


def request(account: InfobipSmsCredentials, sms: Sms) -> ProviderRequest:
    report_to = {"delivery": {"url": sms.receipts_url}, "contentType": "application/json"}
    message = {
        "sender": sms.sender_digits,
        "destinations": [{"to": sms.to_digits, "messageId": sms.message_id}],
        "content": {"text": sms.body},
        "webhooks": report_to if sms.receipts_url else None,
    }
    return ProviderRequest.json(account.url("/sms/3/messages"), {"messages": [drop_empty(message)]})


def _reports(callback: Callback) -> list[Mapping[str, Any]]:
    return [report for event in callback.events() for report in event["results"]]


RECEIPTS = EventReader(
    kinds=kinds_of(sent=("1",), bounced=("2", "4"), delivered=("3",), failed=("5",)),
    kind="status.groupId",
    id="messageId",
    own_id="messageId",
    recipient="to",
    at="doneAt",
    reason="error.name",
    is_hard=lambda report: report.get("error", {}).get("name") == "EC_UNKNOWN_SUBSCRIBER",
    events=_reports,
)

PROVIDER = SmsProvider(
    id="infobip-sms",
    name="Infobip SMS",
    credentials=InfobipSmsCredentials,
    auth=lambda account: key_header("Authorization", account.api_key, scheme="App"),
    request=request,
    sent=json_id("messages.0.messageId"),
    # Accepted, pending and delivered; the other groups are errors.
    accepts=all_equal("messages.*.status.groupId", 0, 1, 3),
    failures=(
        codes(
            "messages.*.status.id",
            recipient_invalid=(8, 10, 14, 18, 51, 52),
            rate_limited=(20,),
            retryable=(21,),
            already_sent=(23,),
        ),
        error_text(r"destinations\[\d+\]\.to\b", FailureKind.RECIPIENT_INVALID, status=400),
    ),
    check=lambda account: ProviderRequest.get(account.url("/account/1/balance")),
    receipts=Receipts(parse=RECEIPTS, inbound=INFOBIP),
    documentation="https://www.infobip.com/docs/api/channels/sms/outbound-sms/send-sms-messages",
    idempotency="`messageId` in the body",
)
