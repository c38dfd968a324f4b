"""Brevo (formerly Sendinblue): transactional e-mails, and unsigned webhooks."""

import re
from email.header import Header
from email.headerregistry import Address

from clarion.providers.definition.credentials import EmailCredentials
from clarion.providers.definition.overrides import rename_members
from clarion.providers.definition.provider import EmailProvider
from clarion.providers.definition.receipts import EventReader, Receipts, kinds_of
from clarion.providers.definition.request import ProviderRequest, drop_empty, key_header
from clarion.providers.definition.result import FailureKind, codes, error_text, json_id, seconds_header
from clarion.providers.email.message import Email, first_mailbox, mailbox
from clarion.secret import Secret

_HOST = "https://api.brevo.com/v3"


class BrevoCredentials(EmailCredentials):
    api_key: Secret


def request(_: BrevoCredentials, email: Email) -> ProviderRequest:
    # The first makes repeated sends idempotent, the second is returned in reports.
    ours = {"idempotencyKey": email.message_id, "X-Mailin-custom": email.message_id}
    body = {
        "sender": _mailbox(email.sender),
        "to": [_mailbox(one) for one in email.all_to],
        "cc": [_mailbox(one) for one in email.cc],
        "bcc": [_mailbox(one) for one in email.bcc],
        "replyTo": first_mailbox(email.reply_to),
        "subject": email.subject,
        "htmlContent": email.html,
        "textContent": email.text,
        "headers": {**email.headers, **ours},
        "attachment": [{"name": one.name, "content": one.base64} for one in email.attachments],
    }
    return ProviderRequest.json(f"{_HOST}/smtp/email", drop_empty(body))


def _mailbox(address: Address) -> dict[str, str]:
    """Encode names with both non-ASCII letters and special characters, which Brevo would drop otherwise."""
    name = address.display_name
    is_safe = name.isascii() or not re.search(r'[()<>@,:;".\[\]\\]', name)
    if is_safe:
        return mailbox(address)
    return {"email": address.addr_spec, "name": Header(name, "utf-8").encode(maxlinelen=0)}


RECEIPTS = EventReader(
    kinds=kinds_of(
        sent=("request",),
        delivered=("delivered",),
        deferred=("deferred",),
        bounced=("hard_bounce", "soft_bounce", "invalid_email"),
        failed=("blocked", "error"),
        complained=("spam", "complaint"),
        unsubscribed=("unsubscribed", "unsubscribe"),
        opened=("opened", "unique_opened", "proxy_open", "unique_proxy_open"),
        clicked=("click",),
    ),
    kind="event",
    id="message-id",
    own_id="X-Mailin-custom",
    recipient="email",
    # The other timestamps are in the time zone of the account.
    at="ts_epoch",
    reason="reason",
    is_hard=lambda event: event["event"] != "soft_bounce",
)

PROVIDER = EmailProvider(
    id="sendinblue",
    name="Brevo",
    credentials=BrevoCredentials,
    auth=lambda account: key_header("api-key", account.api_key),
    request=request,
    sent=json_id("messageId"),
    failures=(
        codes("code", already_sent=("duplicate_parameter",)),
        error_text(r"email is (not valid|missing) in to\b", FailureKind.RECIPIENT_INVALID, status=400),
    ),
    read_retry_after=seconds_header("x-sib-ratelimit-reset"),
    check=lambda _: ProviderRequest.get(f"{_HOST}/account"),
    receipts=Receipts(parse=RECEIPTS),
    custom_data=rename_members(templateId="templateId", templateParams="params"),
    documentation="https://developers.brevo.com/reference/sendtransacemail",
    idempotency="`headers.idempotencyKey`, for 30 minutes",
    note="Knows no pictures inside of the HTML: they arrive as attachments. Of several addresses to reply to, "
    "the first is used.",
)
