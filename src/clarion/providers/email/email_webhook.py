"""E-mail webhook: the e-mail as signed JSON to a URL of the user."""

from typing import Any

from clarion.providers.definition.credentials import EmailCredentials
from clarion.providers.definition.provider import EmailProvider
from clarion.providers.definition.request import ProviderRequest, drop_empty
from clarion.providers.email.addresses import write_address
from clarion.providers.email.message import Attachment, Email
from clarion.providers.signing.signatures import sign_webhook
from clarion.secret import Secret


class EmailWebhookCredentials(EmailCredentials):
    webhook_url: str
    secret_key: Secret


def request(account: EmailWebhookCredentials, email: Email) -> ProviderRequest:
    context = dict(email.context)
    payload = context.pop("payload", None)
    body = {
        "to": [write_address(one) for one in email.all_to],
        "from": email.sender.addr_spec,
        "senderName": email.sender.display_name,
        "subject": email.subject,
        "html": email.html,
        "text": email.text,
        "cc": [write_address(one) for one in email.cc],
        "bcc": [write_address(one) for one in email.bcc],
        "replyTo": ", ".join(map(write_address, email.reply_to)),
        "headers": email.headers,
        "attachments": [_file(one) for one in email.attachments],
        "id": email.message_id,
        "payloadDetails": None if payload is None else _details(email, payload),
        "notificationDetails": context,
    }
    headers = {"Idempotency-Key": email.message_id}
    return ProviderRequest.json(account.webhook_url, drop_empty(body), headers=headers)


def _details(email: Email, payload: Any) -> dict[str, Any]:
    """The message as its step made it, and what it was made from."""
    names = {"senderName": email.sender.display_name, "subject": email.subject}
    content, kind = (email.text, "editor") if email.html is None else (email.html, "customHtml")
    return {**names, "content": content, "contentType": kind, "payload": payload}


def _file(attachment: Attachment) -> dict[str, str]:
    """Use the names of attachments in triggers, so that a receiver can pass it to another trigger."""
    return drop_empty(
        {"name": attachment.name, "mime": attachment.type, "file": attachment.base64, "cid": attachment.content_id}
    )


PROVIDER = EmailProvider(
    id="email-webhook",
    name="Email Webhook",
    credentials=EmailWebhookCredentials,
    request=request,
    takes_trace=True,
    sign=lambda account, call, now: sign_webhook(account.secret_key, call, now),
    custom_data=lambda given: {"customData": given},
    documentation="as its settings say",
    idempotency="`Idempotency-Key`, and `id` in the body",
    note="Any 2xx means taken. `X-Novu-Signature` is the HMAC-SHA256 of the body in hexadecimal, by `secretKey`; files "
    "are in base64. `payloadDetails` has `senderName`, `subject`, `content`, `contentType` and the `payload`.",
)
