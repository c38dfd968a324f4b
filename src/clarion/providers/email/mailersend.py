"""MailerSend: e-mails in JSON with the id in a response header, and signed webhooks."""

import re
from email.headerregistry import Address
from typing import Any

from clarion.providers.definition.credentials import EmailCredentials
from clarion.providers.definition.overrides import rename_members, snake
from clarion.providers.definition.provider import EmailProvider
from clarion.providers.definition.receipts import EventReader, ProviderReply, Receipts, kinds_of
from clarion.providers.definition.request import ProviderRequest, bearer, drop_empty
from clarion.providers.definition.result import (
    FailureKind,
    ProviderAnswer,
    SendContext,
    SendFailure,
    Sent,
    codes,
    error_text,
    header_id,
)
from clarion.providers.email.message import Email
from clarion.providers.signing.signatures import is_body_signed
from clarion.secret import Secret

_HOST = "https://api.mailersend.com/v1"


class MailerSendCredentials(EmailCredentials):
    api_key: Secret
    secret_key: Secret = Secret("")
    """The signing secret of the webhook."""


def request(_: MailerSendCredentials, email: Email) -> ProviderRequest:
    body = {
        "from": _mailbox(email.sender),
        "to": [_mailbox(one) for one in email.all_to],
        "cc": [_mailbox(one) for one in email.cc],
        "bcc": [_mailbox(one) for one in email.bcc],
        "reply_to": next(map(_mailbox, email.reply_to), None),
        "subject": email.subject,
        "text": email.text,
        "html": email.html,
        "headers": [{"name": name, "value": value} for name, value in email.own_headers.items()],
        "attachments": [
            drop_empty(
                {
                    "filename": attachment.name,
                    "content": attachment.base64,
                    "disposition": "inline" if attachment.is_inline else "attachment",
                    "id": attachment.content_id,
                }
            )
            for attachment in email.attachments
        ],
    }
    return ProviderRequest.json(f"{_HOST}/email", drop_empty(body))


def sent(answer: ProviderAnswer, context: SendContext) -> str | Sent | None:
    """Return the id; raises if only the copies are sent: suppressed addresses are skipped with a warning."""
    skipped = {str(one).lower() for one in answer.values("warnings.*.recipients.*.email")}
    if context.message.to.addr_spec.lower() in skipped:
        raise SendFailure(FailureKind.RECIPIENT_INVALID, "MailerSend holds the address for one that must not be used")
    return header_id("x-message-id")(answer, context)


def _mailbox(address: Address) -> dict[str, Any]:
    """Names must not contain commas and semicolons."""
    return drop_empty({"email": address.addr_spec, "name": " ".join(re.split(r"[\s,;]+", address.display_name))})


RECEIPTS = EventReader(
    kinds=kinds_of(
        sent=("activity.sent",),
        delivered=("activity.delivered",),
        deferred=("activity.deferred",),
        bounced=("activity.hard_bounced", "activity.soft_bounced"),
        complained=("activity.spam_complaint",),
        unsubscribed=("activity.unsubscribed",),
        opened=("activity.opened",),
        clicked=("activity.clicked",),
    ),
    kind="type",
    id="data.email.message.id",
    recipient="data.email.recipient.email",
    at="data.created_at",
    event_id="data.id",
    reason="data.morph.reason",
    is_hard=lambda event: event["type"] == "activity.hard_bounced",
)

PROVIDER = EmailProvider(
    id="mailersend",
    name="MailerSend",
    credentials=MailerSendCredentials,
    auth=lambda account: bearer(account.api_key),
    request=request,
    sent=sent,
    failures=(
        codes("warnings.*.type", recipient_invalid=("ALL_SUPPRESSED",)),
        error_text(r'"to\.0', FailureKind.RECIPIENT_INVALID, status=422),
    ),
    check=lambda _: ProviderRequest.get(f"{_HOST}/api-quota"),
    receipts=Receipts(
        is_genuine=lambda callback, account: is_body_signed(callback, account.secret_key, header="signature"),
        parse=RECEIPTS,
        # The test call is signed with a public key, and the webhook is saved only if it is answered.
        handshake=lambda callback, _: ProviderReply() if callback.json()["type"] == "webhook.test" else None,
        signed_with="signature, key in `secretKey`",
    ),
    casing=snake,
    custom_data=rename_members(templateId="templateId", personalization="personalization"),
    documentation="https://developers.mailersend.com/api/v1/email.html",
    note="Headers of one's own need an Enterprise plan, so that mails do not get those to unsubscribe by themselves. "
    "The type of an attachment is that of its file name.",
)
