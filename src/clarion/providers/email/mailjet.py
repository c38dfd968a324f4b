"""Mailjet: Send API 3.1 with a status for each e-mail, and unsigned events."""

import re
from email.headerregistry import Address

from clarion.providers.definition.credentials import EmailCredentials
from clarion.providers.definition.overrides import pascal
from clarion.providers.definition.provider import EmailProvider
from clarion.providers.definition.receipts import EventReader, Receipts, kinds_of
from clarion.providers.definition.request import ProviderRequest, basic, drop_empty
from clarion.providers.definition.result import all_equal, codes, json_id
from clarion.providers.email.message import Attachment, Email
from clarion.secret import Secret


class MailjetCredentials(EmailCredentials):
    api_key: str
    secret_key: Secret
    region: str = ""

    @property
    def host(self) -> str:
        return "https://api.us.mailjet.com" if self.region == "us" else "https://api.mailjet.com"


def request(account: MailjetCredentials, email: Email) -> ProviderRequest:
    message = {
        "From": _mailbox(email.sender),
        "To": [_mailbox(one) for one in email.all_to],
        "Cc": [_mailbox(one) for one in email.cc],
        "Bcc": [_mailbox(one) for one in email.bcc],
        "ReplyTo": next(map(_mailbox, email.reply_to), None),
        "Subject": email.subject,
        "TextPart": email.text,
        "HTMLPart": email.html,
        "Attachments": [_file(one) for one in email.attachments if not one.is_inline],
        "InlinedAttachments": [
            {**_file(one), "ContentID": one.content_id} for one in email.attachments if one.is_inline
        ],
        "Headers": email.headers,
        "CustomID": email.message_id,
    }
    return ProviderRequest.json(f"{account.host}/v3.1/send", {"Messages": [drop_empty(message)]})


def to_mailjet_case(name: str) -> str:
    """Convert a name to the casing of Mailjet: HTMLPart, TemplateID, URLTags."""
    return re.sub(r"Html|Url|Id$", lambda found: found.group().upper(), pascal(name))


def _mailbox(address: Address) -> dict[str, str]:
    named = {"Email": address.addr_spec, "Name": address.display_name}
    return named if address.display_name else {"Email": address.addr_spec}


def _file(one: Attachment) -> dict[str, str | None]:
    return {"ContentType": one.type, "Filename": one.name, "Base64Content": one.base64}


RECEIPTS = EventReader(
    kinds=kinds_of(
        # "sent" means that the recipient's server accepted the e-mail.
        delivered=("sent",),
        bounced=("bounce",),
        failed=("blocked",),
        complained=("spam",),
        unsubscribed=("unsub",),
        opened=("open",),
        clicked=("click",),
    ),
    kind="event",
    id="MessageID",
    own_id="CustomID",
    recipient="email",
    at="time",
    reason="error",
    is_hard=lambda event: bool(event.get("hard_bounce")),
)

PROVIDER = EmailProvider(
    id="mailjet",
    name="Mailjet",
    credentials=MailjetCredentials,
    auth=lambda account: basic(account.api_key, account.secret_key),
    request=request,
    sent=json_id("Messages.0.To.0.MessageID"),
    accepts=all_equal("Messages.*.Status", "success"),
    failures=(codes("Messages.*.Errors.*.ErrorRelatedTo.*", recipient_invalid=("To[0].Email",)),),
    check=lambda account: ProviderRequest.get(f"{account.host}/v3/REST/sender", {"Limit": 1}),
    receipts=Receipts(parse=RECEIPTS),
    casing=to_mailjet_case,
    within="Globals",
    documentation="https://dev.mailjet.com/email/guides/send-api-v31/",
    note="`region` is `us` for accounts of the United States. Of several addresses to reply to, the first is used.",
)
