"""Addresses that replies go to, and mail that came in."""

import base64
import binascii
import hmac
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from msgspec import Struct

from clarion.clock import Millis
from clarion.content.links import LinkPurpose, LinkSecret
from clarion.ids import MessageId

MAX_TEXT: Final = 200_000
"""Characters of the text, and of the HTML, of a mail that are passed on."""
MAX_ATTACHMENTS: Final = 20
MAX_HEADERS: Final = 200
MAX_PEOPLE: Final = 100

_PREFIX: Final = "reply+"
_ID_BYTES: Final = 16
_SIGNATURE_BYTES: Final = 10
"""The local part of an address has at most 64 characters, in letters of any case."""
_TOKEN: Final = re.compile(r"reply\+([a-z2-7]{42})@", re.IGNORECASE)


class MailAddress(Struct, frozen=True, kw_only=True):
    address: str
    name: str = ""


class MailAttachment(Struct, frozen=True, kw_only=True, rename="camel"):
    """A file of an inbound mail; what it holds is not passed on."""

    file_name: str
    content_type: str
    length: int


class InboundMail(Struct, frozen=True, kw_only=True, rename="camel"):
    """A mail as events and callbacks show it."""

    sender: list[MailAddress]
    to: list[MailAddress] = []
    cc: list[MailAddress] = []
    subject: str = ""
    text: str = ""
    html: str = ""
    headers: Mapping[str, str] = {}
    """By lower-case names; of several with one name, the first."""
    message_id: str = ""
    in_reply_to: str = ""
    references: list[str] = []
    date: str = ""
    dkim: str = ""
    spf: str = ""
    spam_score: float | None = None
    attachments: list[MailAttachment] = []
    is_cut: bool = False
    """Whether text or HTML were longer than what is passed on."""
    envelope_from: str = ""
    envelope_to: list[str] = []
    """The addresses that it was delivered to, as far as the provider tells."""
    received_at: Millis = Millis(0)

    @property
    def is_automatic(self) -> bool:
        """Whether a program answered, such as an out-of-office notice or a report of a failed delivery."""
        submitted = self.headers.get("auto-submitted", "no").strip().lower()
        precedence = self.headers.get("precedence", "").strip().lower()
        return not submitted.startswith("no") or precedence in ("bulk", "junk", "auto_reply")

    def list_recipients(self) -> Iterable[str]:
        """Every address at which the mail may have come in, the surest first."""
        yield from self.envelope_to
        yield self.headers.get("delivered-to", "")
        yield self.headers.get("x-original-to", "")
        yield from (one.address for one in (*self.to, *self.cc))


def make_reply_address(secret: LinkSecret, message_id: MessageId, domain: str) -> str:
    """Return the address at which replies to a message come in."""
    token = base64.b32encode(message_id + _sign(secret, message_id)).rstrip(b"=").decode().lower()
    return f"{_PREFIX}{token}@{domain}"


def read_reply_address(secret: LinkSecret, address: str) -> MessageId | None:
    """Return the message that an address is about, or None if this environment did not make it."""
    match = _TOKEN.search(address)
    if match is None:
        return None
    try:
        content = base64.b32decode(match[1].upper() + "=" * 6)
    except binascii.Error:
        return None
    message_id = MessageId(content[:_ID_BYTES])
    return message_id if hmac.compare_digest(content[_ID_BYTES:], _sign(secret, message_id)) else None


def find_message(secret: LinkSecret, addresses: Iterable[str]) -> MessageId | None:
    """Return the message that a mail to these addresses replies to."""
    found = (read_reply_address(secret, address) for address in addresses)
    return next((one for one in found if one is not None), None)


def describe_mail(mail: InboundMail) -> dict[str, Any]:
    """Return a mail in the form of events and callbacks."""
    return {
        "from": mail.sender,
        "to": mail.to,
        "cc": mail.cc,
        "subject": mail.subject,
        "text": mail.text,
        "html": mail.html,
        "headers": mail.headers,
        "messageId": mail.message_id,
        "inReplyTo": mail.in_reply_to,
        "references": mail.references,
        "date": mail.date,
        "dkim": mail.dkim,
        "spf": mail.spf,
        "spamScore": mail.spam_score,
        "attachments": mail.attachments,
        "isCut": mail.is_cut,
        "isAutomatic": mail.is_automatic,
        "envelopeFrom": mail.envelope_from,
        "envelopeTo": mail.envelope_to,
    }


def _sign(secret: LinkSecret, message_id: MessageId) -> bytes:
    signed = secret.environment_id + bytes((LinkPurpose.REPLY,)) + message_id
    return hmac.digest(secret.key, signed, "sha256")[:_SIGNATURE_BYTES]
