"""SendGrid: mail send of version 3, and the event webhook."""

from typing import Any

from clarion.providers.definition.answer import header_id
from clarion.providers.definition.credentials import EmailCredentials
from clarion.providers.definition.failures import reset_header, words
from clarion.providers.definition.kinds import Check, EmailProvider
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.receipts import Callback, EventReader, Receipts, kinds_of
from clarion.providers.definition.request import ProviderRequest, bearer, filled
from clarion.providers.definition.result import FailureKind
from clarion.providers.email.message import Attachment, Email, mailbox, mailboxes
from clarion.providers.signing.public_keys import is_ecdsa_signed
from clarion.secret import Secret


class SendGridCredentials(EmailCredentials):
    api_key: Secret
    region: str = ""
    ip_pool_name: str = ""
    secret_key: Secret = Secret("")
    """The verification key of the signed event webhook."""

    @property
    def host(self) -> str:
        return "https://api.eu.sendgrid.com" if self.region == "eu" else "https://api.sendgrid.com"


def request(account: SendGridCredentials, email: Email) -> ProviderRequest:
    people = {"to": [mailbox(email.to)], "cc": mailboxes(email.cc), "bcc": mailboxes(email.bcc)}
    # The text comes first: the last of several alternatives is the one that is shown.
    contents = {"text/plain": email.text, "text/html": email.html}
    body = {
        "personalizations": [filled(people)],
        "from": mailbox(email.sender),
        "reply_to_list": mailboxes(email.reply_to),
        "subject": email.subject,
        "content": [{"type": kind, "value": value} for kind, value in contents.items() if value],
        "attachments": [_attachment(one) for one in email.attachments],
        "headers": email.headers,
        "custom_args": {"clarion_message_id": email.message_id},
        "ip_pool_name": account.ip_pool_name,
    }
    return ProviderRequest.json(f"{account.host}/v3/mail/send", filled(body), auth=bearer(account.api_key))


def is_genuine(callback: Callback, account: SendGridCredentials) -> bool:
    moment = callback.headers.get("x-twilio-email-event-webhook-timestamp", "")
    signature = callback.headers.get("x-twilio-email-event-webhook-signature", "")
    signed = moment.encode() + callback.body
    return callback.is_recent(moment) and is_ecdsa_signed(account.secret_key.reveal(), signature, signed)


def _attachment(one: Attachment) -> dict[str, Any]:
    how = {"disposition": "inline", "content_id": one.content_id} if one.is_inline else {"disposition": "attachment"}
    return {"content": one.base64, "filename": one.name, "type": one.type, **how}


RECEIPTS = EventReader(
    kinds=kinds_of(
        sent=("processed",),
        delivered=("delivered",),
        deferred=("deferred",),
        bounced=("bounce",),
        failed=("dropped",),
        complained=("spamreport",),
        unsubscribed=("unsubscribe", "group_unsubscribe"),
        opened=("open",),
        clicked=("click",),
    ),
    kind="event",
    id="sg_message_id",
    # The answer to the request holds the part before the first dot.
    tidy_id=lambda text: text.partition(".")[0],
    own_id="clarion_message_id",
    recipient="email",
    at="timestamp",
    event_id="sg_event_id",
    reason="reason",
    # A bounce of the type `blocked` is about this message, not about the address.
    is_hard=lambda event: event.get("type") == "bounce",
)

PROVIDER = EmailProvider(
    id="sendgrid",
    name="SendGrid",
    credentials=SendGridCredentials,
    request=request,
    sent=header_id("X-Message-Id"),
    failures=(words(r'"field":\s*"personalizations[^"]*\.to', FailureKind.RECIPIENT_INVALID, status=400),),
    patience=reset_header("X-RateLimit-Reset"),
    check=Check(request=lambda account: ProviderRequest.get(f"{account.host}/v3/scopes", auth=bearer(account.api_key))),
    receipts=Receipts(is_genuine=is_genuine, parse=RECEIPTS, signed_with="signature, key in `secretKey`"),
    casing=snake,
    page="https://www.twilio.com/docs/sendgrid/api-reference/mail-send/mail-send",
    attachments=True,
)
