"""Postmark: one e-mail per call, and one webhook call per event."""

import re
from collections.abc import Mapping
from typing import Any

from clarion.providers.definition.credentials import EmailCredentials
from clarion.providers.definition.overrides import pascal
from clarion.providers.definition.provider import EmailProvider
from clarion.providers.definition.receipts import Callback, EventReader, Receipts, kinds_of
from clarion.providers.definition.request import ProviderRequest, drop_empty, key_header
from clarion.providers.definition.result import (
    FailureKind,
    ProviderAnswer,
    SendContext,
    SendFailure,
    Sent,
    codes,
    error_text,
    json_id,
)
from clarion.providers.email.addresses import write_address
from clarion.providers.email.message import Attachment, Email
from clarion.secret import Secret

_HOST = "https://api.postmarkapp.com"
_TIME_FIELDS = ("DeliveredAt", "BouncedAt", "ReceivedAt", "ChangedAt")


class PostmarkCredentials(EmailCredentials):
    api_key: Secret
    """The token of a server, not of the account."""


def request(_: PostmarkCredentials, email: Email) -> ProviderRequest:
    body = {
        "From": write_address(email.sender),
        "To": ", ".join(map(write_address, email.all_to)),
        "Cc": ", ".join(map(write_address, email.cc)),
        "Bcc": ", ".join(map(write_address, email.bcc)),
        "ReplyTo": ", ".join(map(write_address, email.reply_to)),
        "Subject": email.subject,
        "HtmlBody": email.html,
        "TextBody": email.text,
        "Headers": [{"Name": name, "Value": value} for name, value in email.headers.items()],
        "Attachments": [_attachment(one) for one in email.attachments],
        "Metadata": {"clarion_message_id": email.message_id},
    }
    return ProviderRequest.json(f"{_HOST}/email", drop_empty(body))


def sent(answer: ProviderAnswer, context: SendContext) -> str | Sent | None:
    """Return the id; raises if only the copies are sent: addresses that bounced before are skipped with a 200."""
    text = str(answer.value("Message") or "")
    skipped = re.search(r"inactive addresses:(.*?)\. ?Inactive recipients", text, re.DOTALL)
    if skipped and context.message.to.addr_spec.lower() in skipped.group(1).lower().replace(",", " ").split():
        raise SendFailure(FailureKind.RECIPIENT_INVALID, f"Postmark answered {answer.status}: {text}")
    return json_id("MessageID")(answer, context)


def _attachment(attachment: Attachment) -> dict[str, str]:
    content_id = {"ContentID": f"cid:{attachment.content_id}"} if attachment.is_inline else {}
    return {"Name": attachment.name, "Content": attachment.base64, "ContentType": attachment.type, **content_id}


def _events(callback: Callback) -> list[Mapping[str, Any]]:
    return [
        event
        | {
            "kind": _kind(event),
            "person": event.get("Email") or event.get("Recipient"),
            "at": next((event[name] for name in _TIME_FIELDS if name in event), None),
        }
        for event in map(dict, callback.events())
    ]


def _kind(event: Mapping[str, Any]) -> str:
    """Use the type of a bounce, because some bounces are only automatic replies."""
    record = event.get("RecordType")
    if record == "SubscriptionChange":
        return "Unsubscribe" if event.get("SuppressionReason") == "ManualSuppression" else ""
    return str(event.get("Type") if record == "Bounce" else record)


RECEIPTS = EventReader(
    kinds=kinds_of(
        delivered=("Delivery",),
        deferred=("Transient", "DnsError"),
        bounced=("HardBounce", "BadEmailAddress", "SoftBounce"),
        failed=("Blocked", "DMARCPolicy", "ManuallyDeactivated", "Unconfirmed"),
        complained=("SpamComplaint", "SpamNotification"),
        unsubscribed=("Unsubscribe",),
        opened=("Open",),
        clicked=("Click",),
    ),
    kind="kind",
    id="MessageID",
    own_id="Metadata.clarion_message_id",
    recipient="person",
    at="at",
    reason="Description",
    is_hard=lambda event: event["kind"] != "SoftBounce",
    events=_events,
)

PROVIDER = EmailProvider(
    id="postmark",
    name="Postmark",
    credentials=PostmarkCredentials,
    auth=lambda account: {**key_header("X-Postmark-Server-Token", account.api_key), "Accept": "application/json"},
    request=request,
    sent=sent,
    accepts=lambda answer: answer.value("ErrorCode") in (None, 0),
    failures=(
        codes("ErrorCode", retryable=(100,), recipient_invalid=(406,)),
        error_text(r"(invalid|error parsing) 'to'", FailureKind.RECIPIENT_INVALID, status=422),
    ),
    check=lambda _: ProviderRequest.get(f"{_HOST}/server"),
    receipts=Receipts(parse=RECEIPTS),
    casing=pascal,
    documentation="https://postmarkapp.com/developer/api/email-api",
    note="`apiKey` is the token of a server. `messageStream` in the overrides chooses another stream than `outbound`.",
)
