"""Infobip: e-mails in MIME, the only format with both text and HTML, and delivery reports."""

import base64
from collections.abc import Mapping
from typing import Annotated, Any

from clarion.providers.definition.credentials import URL_OR_HOST, EmailCredentials, as_url
from clarion.providers.definition.provider import EmailProvider
from clarion.providers.definition.receipts import Callback, EventReader, Receipts, kinds_of
from clarion.providers.definition.request import ProviderRequest, drop_empty, key_header
from clarion.providers.definition.result import FailureKind, all_equal, codes, error_text, json_id
from clarion.providers.email.message import Email
from clarion.providers.email.mime import write_mime
from clarion.secret import Secret

# Infobip did not try to send, because the address is on its suppression list.
_SUPPRESSED = (6034, 6035)


class InfobipEmailCredentials(EmailCredentials):
    api_key: Secret
    base_url: Annotated[str, URL_OR_HOST]
    application_id: str = ""

    def url(self, path: str) -> str:
        return f"{as_url(self.base_url)}{path}"


def request(account: InfobipEmailCredentials, email: Email) -> ProviderRequest:
    message = write_mime(email)
    body = {
        "destinations": message.recipients,
        "mimeMessage": base64.b64encode(message.content).decode(),
        "callbackData": email.message_id,
        "notifyUrl": email.receipts_url,
        "notifyContentType": "application/json" if email.receipts_url else None,
        "trackingUrl": email.receipts_url,
        "applicationId": account.application_id,
    }
    return ProviderRequest.json(account.url("/email/4/mime"), drop_empty(body))


def _reports(callback: Callback) -> list[Mapping[str, Any]]:
    """Delivery reports come in lists; opens and clicks come as single objects."""
    found = [report for event in callback.events() for report in event.get("results", [event])]
    return [report | {"kind": _kind(report), "person": report.get("to") or report.get("recipient")} for report in found]


def _kind(report: Mapping[str, Any]) -> str:
    if report.get("error", {}).get("id") in _SUPPRESSED:
        return "SUPPRESSED"
    return str(report.get("notificationType") or report["status"]["groupName"])


RECEIPTS = EventReader(
    kinds=kinds_of(
        sent=("PENDING",),
        delivered=("DELIVERED",),
        bounced=("UNDELIVERABLE", "REJECTED", "EXPIRED"),
        failed=("SUPPRESSED",),
        complained=("COMPLAINED",),
        unsubscribed=("UNSUBSCRIBED",),
        opened=("OPENED",),
        clicked=("CLICKED",),
    ),
    kind="kind",
    id="messageId",
    own_id="callbackData",
    recipient="person",
    at="doneAt",
    reason="error.name",
    is_hard=lambda report: report["kind"] != "EXPIRED" and report.get("error", {}).get("permanent") is True,
    events=_reports,
)

PROVIDER = EmailProvider(
    id="infobip-email",
    name="Infobip",
    credentials=InfobipEmailCredentials,
    auth=lambda account: key_header("Authorization", account.api_key, scheme="App"),
    request=request,
    # The first entry is the recipient; the others are copies.
    sent=json_id("messages.0.messageId"),
    accepts=all_equal("messages.0.status.groupName", "ACCEPTED", "PENDING", "DELIVERED"),
    failures=(
        codes("messages.0.status.id", recipient_invalid=(51, 52), retryable=(21,)),
        error_text(r"destinations?\b[^{}]*\b(invalid|not valid)", FailureKind.RECIPIENT_INVALID, status=400),
    ),
    # A key that can send may lack the permission to read the account.
    check=lambda account: ProviderRequest.get(account.url("/account/1/balance")),
    check_passes=lambda answer: answer.is_success or answer.status == 403,
    receipts=Receipts(parse=RECEIPTS),
    documentation="https://www.infobip.com/docs/api/channels/email/send-mime-email",
)
