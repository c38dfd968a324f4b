"""Mailtrap: the sending API, and signed webhooks in batches."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from clarion.providers.definition.credentials import EmailCredentials
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.provider import EmailProvider
from clarion.providers.definition.receipts import Callback, EventReader, Receipts, kinds_of
from clarion.providers.definition.request import ProviderRequest, drop_empty, key_header
from clarion.providers.definition.result import FailureKind, error_text, json_id
from clarion.providers.email.message import Email, first_mailbox, mailbox, mailboxes
from clarion.providers.signing.signatures import is_body_signed
from clarion.secret import Secret


class MailtrapCredentials(EmailCredentials):
    api_key: Secret
    secret_key: Secret = Secret("")
    """The signature key of the webhook."""


def request(_: MailtrapCredentials, email: Email) -> ProviderRequest:
    body = {
        "from": mailbox(email.sender),
        "to": mailboxes(email.all_to),
        "cc": mailboxes(email.cc),
        "bcc": mailboxes(email.bcc),
        "reply_to": first_mailbox(email.reply_to),
        "subject": email.subject,
        "text": email.text,
        "html": email.html,
        "headers": email.headers,
        "attachments": [
            drop_empty(
                {
                    "filename": attachment.name,
                    "content": attachment.base64,
                    "type": attachment.type,
                    "disposition": "inline" if attachment.is_inline else "attachment",
                    "content_id": attachment.content_id,
                }
            )
            for attachment in email.attachments
        ],
        "custom_variables": {"clarion_message_id": email.message_id},
    }
    return ProviderRequest.json("https://send.api.mailtrap.io/api/send", drop_empty(body))


def _events(callback: Callback) -> list[Mapping[str, Any]]:
    """Return the events of a JSON object or of JSON lines, as the webhook is configured."""
    documents = re.split(rb"\n(?={)", callback.body.strip())
    return [
        event
        for document in documents
        for one in replace(callback, body=document).events()
        for event in one.get("events", [one])
    ]


RECEIPTS = EventReader(
    kinds=kinds_of(
        delivered=("delivery",),
        deferred=("soft bounce", "suspension"),
        bounced=("bounce",),
        failed=("reject",),
        complained=("spam",),
        unsubscribed=("unsubscribe",),
        opened=("open",),
        clicked=("click",),
    ),
    kind="event",
    id="message_id",
    own_id="custom_variables.clarion_message_id",
    recipient="email",
    at="timestamp",
    event_id="event_id",
    reason="response",
    is_hard=lambda _: True,
    events=_events,
)

PROVIDER = EmailProvider(
    id="mailtrap",
    name="Mailtrap",
    credentials=MailtrapCredentials,
    auth=lambda account: key_header("Api-Token", account.api_key),
    request=request,
    sent=json_id("message_ids.0"),
    accepts=lambda answer: answer.value("success") is True,
    failures=(error_text(r"'to'[^\"]*\binvalid|invalid[^\"]*'to'", FailureKind.RECIPIENT_INVALID, status=400),),
    check=lambda _: ProviderRequest.get("https://mailtrap.io/api/accounts"),
    receipts=Receipts(
        is_genuine=lambda callback, account: is_body_signed(callback, account.secret_key, header="mailtrap-signature"),
        parse=RECEIPTS,
        signed_with="signature, key in `secretKey`",
    ),
    casing=snake,
    documentation="https://docs.mailtrap.io/developers/email-sending/transactional",
    note="Of several addresses to reply to, the first is used. Its documentation does not say how it words a recipient "
    "that cannot be: a 400 that calls `to` invalid is taken for one, and any other refusal goes to the next "
    "integration.",
)
